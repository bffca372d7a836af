"""Tools of MCP servers: asked about, unless somebody said otherwise; what a server claims is worth a question."""

from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from claw_acp.contracts.tool import ToolSource, UsesServer
from claw_acp.mcp.names import server_names, tool_name
from claw_acp.security.permission_store import SOURCE
from claw_acp.security.policy import Mode, Policy
from claw_acp.security.rules import Rule, parse_rule
from tests.security.conftest import House, rules

MODES: tuple[Mode, ...] = ("plan", "ask", "edit", "auto")
LETTERS = {"allow": "a", "ask": "?", "deny": "x"}
TOOL = "github__create_issue"


def _verdicts(house: House, given_rules: Mapping[str, tuple[str, ...]], *, reads_only: bool = False) -> str:
    access = UsesServer(server="github", tool="create_issue", reads_only=reads_only)
    decisions = [house.decide(access, tool=TOOL, mode=mode, given=rules(**given_rules)) for mode in MODES]
    return "".join(LETTERS[decision.verdict] for decision in decisions)


@pytest.mark.parametrize(
    ("given_rules", "verdicts", "verdicts_of_a_reader"),
    [
        ({}, "x??a", "???a"),
        ({"allow": (TOOL,)}, "xaaa", "?aaa"),
        ({"ask": (TOOL,)}, "x???", "????"),
        ({"deny": (TOOL,)}, "xxxx", "xxxx"),
        ({"allow": (TOOL,), "deny": (TOOL,)}, "xxxx", "xxxx"),
        ({"allow": (TOOL,), "ask": (TOOL,)}, "x???", "????"),
        ({"allow": ("github__other", "read", "write", "shell", "fetch")}, "x??a", "???a"),
    ],
)
def test_verdicts_in_every_mode(
    house: House, given_rules: dict[str, tuple[str, ...]], verdicts: str, verdicts_of_a_reader: str
) -> None:
    assert _verdicts(house, given_rules) == verdicts
    assert _verdicts(house, given_rules, reads_only=True) == verdicts_of_a_reader


@pytest.mark.parametrize(
    ("given_rules", "verdicts"),
    [({}, "x???"), ({"allow": (TOOL,)}, "xaaa"), ({"deny": (TOOL,)}, "xxxx")],
)
def test_a_tool_that_warns_that_it_destroys_is_asked_about_in_auto_mode_too(
    house: House, given_rules: dict[str, tuple[str, ...]], verdicts: str
) -> None:
    access = UsesServer(server="github", tool="create_issue", destroys=True)
    decisions = [house.decide(access, tool=TOOL, mode=mode, given=rules(**given_rules)) for mode in MODES]
    assert "".join(LETTERS[decision.verdict] for decision in decisions) == verdicts


def test_always_is_a_rule_for_this_tool_alone_and_then_nobody_is_asked(house: House) -> None:
    access = UsesServer(server="github", tool="create_issue")
    asked = house.decide(access, tool=TOOL)
    assert asked.remember == (TOOL,)
    allowed = house.decide(access, tool=TOOL, given=rules(allow=asked.remember))
    assert (allowed.verdict, allowed.rule) == ("allow", TOOL)
    assert house.decide(access, tool="github__delete_repo", given=rules(allow=asked.remember)).verdict == "ask"


def test_what_one_tool_of_ours_reads_from_any_server_is_asked_about_each_time(house: House) -> None:
    access = UsesServer(server="github", tool="reading note:///1", reads_only=True, shared=True)
    asked = house.decide(access, tool="mcp_read_resource")
    assert (asked.verdict, asked.remember) == ("ask", ())


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("hints", [{}, {"reads_only": True}, {"destroys": True}])
@pytest.mark.parametrize("given_rules", [{}, {"allow": (TOOL,)}, {"deny": (TOOL,)}])
def test_a_tool_that_an_attached_program_lends_is_judged_as_one_of_a_server(
    house: House, mode: Mode, hints: dict[str, Any], given_rules: dict[str, tuple[str, ...]]
) -> None:
    server, lent = (
        house.decide(
            UsesServer(server="x", tool="y", source=source, **hints), tool=TOOL, mode=mode, given=rules(**given_rules)
        )
        for source in ("mcp", "remote")
    )
    assert (lent.verdict, lent.remember) == (server.verdict, server.remember)


@pytest.mark.parametrize("source", ["mcp", "remote"])
@pytest.mark.parametrize(
    ("given_rules", "verdicts"),
    [
        ((), "x???"),
        ((parse_rule(TOOL, verdict="allow", source=SOURCE),), "x???"),
        ((parse_rule(TOOL, verdict="allow", source="config.toml"),), "xaaa"),  # written for whatever it says
        ((parse_rule(TOOL, verdict="deny", source=SOURCE),), "xxxx"),
    ],
)
def test_an_answer_covers_a_tool_as_it_described_itself_then_and_auto_mode_asks_about_another(
    house: House, given_rules: tuple[Rule, ...], verdicts: str, source: ToolSource
) -> None:
    now = UsesServer(server="github", tool="x", digest="new", description="Sends it\nto strangers", source=source)
    policy = Policy(given_rules, known={TOOL: "old"})
    decisions = [policy.decide(tool=TOOL, accesses=[now], mode=mode, context=house.context) for mode in MODES]
    assert "".join(LETTERS[decision.verdict] for decision in decisions) == verdicts
    for asked in (decision for decision in decisions if decision.verdict == "ask"):
        assert "describes itself otherwise than when it was allowed in this project" in asked.reason
        assert "“Sends it to strangers”" in asked.reason
        assert asked.remember == (TOOL,), "it can be allowed again, as it is now"
    same = Policy(given_rules, known={TOOL: "new"})
    assert "otherwise" not in same.decide(tool=TOOL, accesses=[now], mode="auto", context=house.context).reason


def test_the_reason_names_the_tool_and_its_server(house: House) -> None:
    access = UsesServer(server="github", tool="create_issue")
    assert "Create_issue of the MCP server github" in house.decide(access, tool=TOOL).reason
    lent = UsesServer(server="counter", tool="word_count", source="remote")
    assert "Word_count of the attached program counter" in house.decide(lent, tool=TOOL).reason
    assert "Plan mode only reads" in house.decide(access, tool=TOOL, mode="plan").reason


@given(st.text(max_size=40), st.text(max_size=80))
def test_every_tool_of_every_server_can_be_allowed_for_good(server: str, tool: str) -> None:
    name = tool_name(server_names([server])[0], tool)
    assert parse_rule(name, verdict="allow").tool == name
