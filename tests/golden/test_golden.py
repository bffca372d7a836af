"""The conversations go as they are written down; what was meant to change is written again by `poe golden`."""

from pathlib import Path

import pytest

from tests.golden.conversation import CONVERSATIONS, prepare
from tests.golden.rendering import rendered


@pytest.mark.parametrize("name", CONVERSATIONS)
async def test_a_conversation_goes_as_it_is_written_down(tmp_path: Path, name: str) -> None:
    project, home = prepare(tmp_path)
    text = rendered(await CONVERSATIONS[name](project, home), project=project)
    assert text == Path(__file__).with_name(f"{name}.txt").read_text(encoding="utf-8")
