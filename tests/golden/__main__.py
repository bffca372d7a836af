"""`python -m tests.golden`: write the golden conversations again. Look at the diff before keeping it."""

import tempfile
from pathlib import Path

import anyio

from tests.golden.conversation import CONVERSATIONS, prepare
from tests.golden.rendering import rendered

HERE = Path(__file__).parent


async def main() -> None:
    """Hold each conversation and write it down."""
    for name, converse in CONVERSATIONS.items():
        with tempfile.TemporaryDirectory() as folder:
            project, home = prepare(Path(folder))
            text = rendered(await converse(project, home), project=project)
        (HERE / f"{name}.txt").write_text(text, encoding="utf-8")
        print(f"{name}.txt: {text.count(chr(10))} lines")


anyio.run(main)
