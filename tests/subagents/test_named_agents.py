"""Agents that people keep as files, as an editor meets them."""

import json
from pathlib import Path
from typing import cast

import pytest

from claw_acp.contracts.delegation import AgentFile
from claw_acp.core.mode import MODES
from claw_acp.skills.head import BadHead
from claw_acp.subagents.agent_file import parse_agent
from claw_acp.subagents.delegate import named_agents
from tests.subagents.test_delegate import AUTO, WRITES, delegated, works
from tests.support.editors.editor_fixtures import Spawn
from tests.support.script_files import Script, expect, say, turn
from tests.support.servers.model_replies import Call
from tests.support.servers.model_server import ModelServer

REVIEWER = (
    "---\nname: reviewer\ndescription: Use when: code changed\ntools: Read, Grep\nmodel: sonnet\ncolor: red\n---\n"
    "You are strict.\n"
)


def put(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


async def test_an_agent_of_the_project_works_with_its_instructions_tools_and_model(
    opened: Spawn, project: Path
) -> None:
    put(project / ".claude/agents/team/reviewer.md", REVIEWER)
    async with ModelServer() as server:
        config = (
            'model = "openai/big"\n[routes]\nsonnet = "openai/small"\n'
            f'[providers.openai]\napi_key = "sk-test-0123456789abcdef"\nbase_url = "{server.openai_url}"\n'
        )
        async with opened(config=config) as editor:
            editor.will_answer("allow_always")
            arguments = json.dumps({"title": "look", "task": "Look.", "agent": "reviewer"})
            server.will_say(calls=[Call(name="delegate", arguments=arguments)])
            server.will_say("It is bad.")
            server.will_say("done")
            outcome = await editor.prompt("review")
            assert outcome.text == "done"
            assert "Delegate to reviewer: look" in [call["title"] for call in outcome.calls]
            asked, delegated_to, _ = (request.json for request in server.requests)
            assert "- reviewer: Use when: code changed" in json.dumps(asked["tools"])
            assert delegated_to["model"] == "small"
            assert "You are strict." in str(delegated_to["messages"])
            assert set(names(delegated_to)) == {"read_file", "grep"}


def names(request: dict[str, object]) -> list[str]:
    tools = cast("list[dict[str, dict[str, str]]]", request["tools"])
    return [tool["function"]["name"] for tool in tools]


async def test_an_agent_of_a_project_that_nobody_trusts_does_nothing(opened: Spawn, project: Path, home: Path) -> None:
    put(project / ".claw/agents/reviewer.md", REVIEWER.replace("reviewer", "evil"))
    put(home / ".claude/agents/mine.md", REVIEWER.replace("reviewer", "mine"))
    script = Script(
        delegated(agent="evil"), turn(expect("no agent evil that the person trusts. There are: mine."), say("no"))
    )
    async with opened(script=script) as editor:
        editor.will_answer("reject_once")
        assert (await editor.prompt("go")).text == "no"
        listed = (await editor.prompt("/agents")).text
        assert "- **mine** (user): Use when: code changed\n" in listed
        assert (
            "- **evil** (project): Use when: code changed (not trusted yet)\n\nIn a terminal, `claw-acp trust`"
            in listed
        )


async def test_an_agent_whose_model_cannot_be_had_works_with_that_of_the_session_and_says_so(
    opened: Spawn, home: Path
) -> None:
    put(home / ".claude/agents/mine.md", REVIEWER.replace("reviewer", "mine"))
    script = Script(
        delegated(agent="mine"), *works(turn(say("ok"))), turn(expect("Its model sonnet cannot be used"), say("done"))
    )
    async with opened(script=script) as editor:
        assert (await editor.prompt("go")).text == "done"


@pytest.mark.parametrize("mode", ["plan", "bypassPermissions", "acceptEdits"])
async def test_an_agent_never_works_in_a_wider_mode_than_its_session(
    opened: Spawn, project: Path, home: Path, mode: str
) -> None:
    put(home / ".claude/agents/mine.md", f"---\ndescription: x\npermissionMode: {mode}\n---\nWrite.\n")
    async with opened(script=Script(delegated(agent="mine"), *WRITES, turn(say("done")))) as editor:
        editor.will_answer("reject_once")
        await editor.prompt("go")
        assert not (project / "made.txt").exists()


async def test_an_agent_that_only_plans_changes_nothing_in_a_session_that_may_do_all(
    opened: Spawn, project: Path, home: Path
) -> None:
    put(home / ".claude/agents/mine.md", "---\ndescription: x\npermissionMode: plan\n---\nWrite.\n")
    async with opened(script=Script(delegated(agent="mine"), *WRITES, turn(say("done"))), config=AUTO) as editor:
        await editor.prompt("go")
        assert not (project / "made.txt").exists()


async def test_a_changed_agent_counts_at_once(opened: Spawn, home: Path) -> None:
    path = home / ".claude/agents/mine.md"
    script = Script(
        delegated(agent="mine"),
        turn(expect("There is no agent mine"), say("none")),
        delegated(agent="mine"),
        *works(turn(say("ok"))),
        turn(expect("ok"), say("one")),
    )
    async with opened(script=script) as editor:
        assert (await editor.prompt("go")).text == "none"
        put(path, "---\ndescription: x\n---\nWrite.\n")
        assert (await editor.prompt("go")).text == "one"


@pytest.mark.parametrize(
    ("head", "differs"),
    [
        ("tools: Bash, Task", {"tools": frozenset({"shell", "shell_output", "shell_kill", "delegate"})}),
        ("tools: [Read, mcp__git__log]", {"tools": frozenset({"read_file", "git__log"})}),
        ("tools: '*'", {}),
        ("tools: Bash(git diff:*, x)", {"tools": frozenset({"shell", "shell_output", "shell_kill"})}),
        ("disallowedTools: Read", {"without": frozenset({"read_file"})}),
        ("tools: Edit", {"tools": frozenset({"edit_file"})}),
        ("model: inherit", {}),
        ("maxTurns: 3", {"requests": 3}),
        ("maxTurns: many", {"warnings": ("its maxTurns is not used: it is no number above 0",)}),
        ("hooks:\n  Stop: []\nmcpServers: [x]\nodd: 1", {"warnings": ("not used here: hooks, mcpServers, odd",)}),
        ("permissionMode: plan", {"widest_mode": MODES[0]}),
    ],
)
def test_heads_in_the_shape_that_agents_share_are_understood(head: str, differs: dict[str, object]) -> None:
    agent = parse_agent(f"---\nname: a\ndescription: d\n{head}\n---\nDo.\n", name="file", scope="user")
    plain = {"tools": None, "without": frozenset[str](), "model": "", "requests": None, "warnings": ()}
    expected = {**plain, "widest_mode": MODES[-1], **differs}
    assert {field: getattr(agent, field) for field in expected} == expected


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("Do.", "does not begin with a head"),
        ("---\nname: a\n---\nDo.", "it has no description"),
        ("---\ndescription: d\n---\n", "no text below its head"),
        ("---\nname: a:b c\ndescription: d\n---\nDo.", "its name a:b c is none"),
    ],
)
def test_a_file_that_is_no_agent_says_why(text: str, fault: str) -> None:
    with pytest.raises(BadHead, match=fault):
        parse_agent(text, name="file", scope="user")


def test_many_agents_take_a_bounded_part_of_the_prompt() -> None:
    agents = [
        AgentFile(name=f"agent-{number}", description="word " * 200, scope="user", instructions="x")
        for number in range(300)
    ]
    assert len(named_agents(agents[:5])) > 1_000
    assert len(named_agents(agents)) < 4_300
