"""`python -m tests.core.redaction [FOLDER]`: misses and false alarms of redaction, and its speed.

With a folder of ordinary sources, the lines of it that are changed are counted and shown too.
"""

import sys
import time
from pathlib import Path

from claw_acp.core.redaction import redact
from tests.core.redaction.hostile import HOSTILE
from tests.core.redaction.measure import false_alarms, misses, per_class, sizes

SIZE = 1_000_000  # characters


def main(arguments: list[str]) -> None:
    """Print the figures."""
    secrets, texts = sizes()
    missed, alarmed = misses(redact), false_alarms(redact)
    print(f"secrets {secrets}, missed {len(missed)}: {per_class(missed)}")
    print(f"harmless texts {texts}, changed {len(alarmed)}: {per_class(alarmed)}")
    for kind, text in (*missed, *alarmed):
        print(f"  [{kind}] {text[:150]!r} -> {redact(text)[:150]!r}")
    for folder in arguments:
        _sources(Path(folder))
    for name, piece in HOSTILE.items():
        text = (piece * (SIZE // len(piece) + 1))[:SIZE]
        began = time.process_time()
        redact(text)
        print(f"{name:24} {SIZE / 1e6 / (time.process_time() - began):8.1f} MB/s")


def _sources(folder: Path) -> None:
    size = changed = 0
    for path in sorted(folder.rglob("*")):
        if (
            path.suffix not in {".py", ".md", ".toml", ".json", ".ts", ".js", ".yml", ".c", ".h", ".txt"}
            or not path.is_file()
        ):
            continue
        text = path.read_text("utf-8", "replace")
        size += len(text)
        cleaned = redact(text)
        if cleaned is text:
            continue
        for before, after in zip(text.splitlines(), cleaned.splitlines(), strict=False):
            if before != after:
                changed += 1
                print(f"  {path}: {before.strip()[:110]!r} -> {after.strip()[:110]!r}")
    print(f"{folder}: {size / 1e6:.1f} MB, {changed} lines changed")


if __name__ == "__main__":
    main(sys.argv[1:])
