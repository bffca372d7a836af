"""Skills that work in a conversation of their own (`context: fork`)."""

from pathlib import Path

import pytest

from tests.subagents.test_delegate import AUTO, delegated, shown, works
from tests.support.editors.editor_fixtures import Spawn
from tests.support.script_files import Script, call, expect, say, turn

DEPLOY = (
    "---\nname: deploy\ndescription: Use when it goes live\ncontext: fork\narguments: [place]\n{}---\nPush $place.\n"
)


def put(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


@pytest.mark.parametrize(
    ("typed", "more", "title"),
    [
        ("go", "", "Delegate: the skill deploy"),
        ("/deploy here", "agent: pusher\n", "Delegate to pusher: the skill deploy"),
        ("go", "agent: Explore\nmodel: scripted/other\n", "Delegate to deploy: the skill deploy"),
    ],
)
async def test_a_skill_that_forks_is_done_by_a_subagent_which_gets_its_arguments(
    opened: Spawn, home: Path, typed: str, more: str, title: str
) -> None:
    put(home / ".claude/skills/deploy/SKILL.md", DEPLOY.format(more))
    put(home / ".claude/agents/pusher.md", "---\ndescription: Pushes\n---\nYou push.\n")
    script = Script(
        turn(expect("Call the tool `skill`" if "/" in typed else "go"), call("skill", name="deploy", arguments="here")),
        *works(turn(expect("Push here."), say("It is live."))),
        turn(expect("It is live."), say("done")),
    )
    async with opened(script=script) as editor:
        answer = await editor.prompt(typed)
        assert answer.text == "done"
        assert shown(answer) == (title, "completed", "It is live.")


async def test_where_subagents_end_such_a_skill_is_read_like_any_other(opened: Spawn, home: Path) -> None:
    put(home / ".claude/skills/deploy/SKILL.md", DEPLOY.format(""))
    script = Script(
        delegated(),
        *works(turn(call("skill", name="deploy")), turn(expect("Push $place."), say("I pushed."))),
        turn(expect("I pushed."), say("done")),
    )
    async with opened(script=script, config=f"{AUTO}\n[delegation]\ndepth = 1") as editor:
        assert (await editor.prompt("go")).text == "done"
