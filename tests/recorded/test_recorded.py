"""The recorded conversations go offline as they went; `python -m tests.recorded` records them again."""

from pathlib import Path

import pytest

from tests.recorded.conversation import FAMILIES, HELD, KEY, hold

NOWHERE = "http://127.0.0.1:9"


@pytest.mark.parametrize("name", FAMILIES)
async def test_a_recorded_conversation_is_held_again_without_a_network(name: str) -> None:
    file = Path(__file__).with_name(f"{name}.jsonl")
    assert await hold(name, url=NOWHERE + FAMILIES[name].base, file=file, replay=True) == HELD


def test_no_recording_holds_the_key() -> None:
    for file in Path(__file__).parent.glob("*.jsonl"):
        assert KEY not in file.read_text(encoding="utf-8")
