"""Updates that only some clients know."""

import pytest

from claw_acp.acp.handshake import ClientCapabilities, initialize
from claw_acp.acp.v1.updates import render
from claw_acp.core.events import CompactionChanged
from claw_acp.core.json_value import JsonObject
from tests.support.editors.editor_fixtures import Spawn
from tests.support.judges.official_schema import OfficialSchema

MISTAKE = "colour = 'green'\n"
COMPACTION = (
    CompactionChanged(item="cmp_1", status="in_progress"),
    CompactionChanged(item="cmp_1", status="in_progress", delta="So far: "),
    CompactionChanged(item="cmp_1", status="completed", summary="So far: nothing."),
    CompactionChanged(item="cmp_2", status="failed", error="the model did not answer"),
    CompactionChanged(item="cmp_3", status="cancelled"),
)


@pytest.mark.rule("update.notice-gated")
@pytest.mark.parametrize("wants", [{"notices": {}}, {}, {"notices": None}, {"notices": True}], ids=str)
async def test_notices_go_to_clients_that_show_them(opened: Spawn, wants: JsonObject) -> None:
    async with opened(config=MISTAKE, capabilities={"session": wants}) as editor:
        await editor.wait_for(lambda: editor.updates("available_commands_update"), "the commands")
        told = editor.updates("notice")
        assert bool(told) == (wants == {"notices": {}})
        assert any("colour" in notice["title"] for notice in told) == bool(told)


@pytest.mark.rule("update.compaction-gated")
def test_compaction_is_told_to_clients_that_know_it() -> None:
    schema = OfficialSchema.load(1)
    knows = initialize({"protocolVersion": 1, "clientCapabilities": {"session": {"compaction": {}}}}).client
    for event in COMPACTION:
        update = render(event, client=knows, replay=False)
        assert update is not None
        assert schema.problems("SessionUpdate", update) == []
        other = render(event, client=ClientCapabilities(), replay=False)
        assert (other is not None) == (event.status in {"completed", "failed"}), "others get a notice of its end"
        assert other is None or other["sessionUpdate"] == "agent_thought_chunk"
