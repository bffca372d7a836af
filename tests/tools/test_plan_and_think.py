from claw_acp.core.events import PartContent, PlanEntry
from claw_acp.core.messages import TextPart
from claw_acp.tools.plan import Plan
from claw_acp.tools.think import Think
from tests.support.tool_bench import Bench, said


async def test_a_plan_is_published_whole(bench: Bench) -> None:
    text = await bench.text(
        Plan(),
        entries=[
            {"content": "look", "status": "completed", "priority": "high"},
            {"content": "fix", "status": "in_progress"},
            {"content": "test"},
        ],
    )
    assert bench.plans == [
        (
            PlanEntry(content="look", status="completed", priority="high"),
            PlanEntry(content="fix", status="in_progress"),
            PlanEntry(content="test"),
        )
    ]
    assert text == "The plan has 3 steps, 1 completed."


async def test_an_empty_plan_clears_it(bench: Bench) -> None:
    assert await bench.text(Plan(), entries=[]) == "The plan is cleared."
    assert bench.plans == [()]


async def test_two_steps_at_once_are_published_with_advice(bench: Bench) -> None:
    text = await bench.text(Plan(), entries=[{"content": str(n), "status": "in_progress"} for n in range(2)])
    assert "2 are in_progress; keep it to one" in text
    assert len(bench.plans) == 1


async def test_nothing_is_published_before_the_call_runs(bench: Bench) -> None:
    await bench.prepare(Plan(), entries=[]).preview()
    assert not bench.plans


async def test_a_thought_is_shown_to_the_person_and_acknowledged(bench: Bench) -> None:
    call = bench.prepare(Think(), thought="hm")
    result = await call.run()
    assert (call.view.kind, call.accesses, said(result)) == ("think", (), "Noted.")
    assert result.content == (PartContent(part=TextPart(text="hm")),)
