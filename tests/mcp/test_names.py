"""Names of tools."""

import re

from hypothesis import given
from hypothesis import strategies as st

from claw_acp.mcp.names import command_names, server_names, tool_name

VALID = re.compile(r"[A-Za-z][A-Za-z0-9_-]{0,63}")


@given(st.lists(st.text(max_size=80), max_size=6), st.lists(st.text(max_size=120), unique=True, max_size=8))
def test_every_name_is_valid_and_unique(servers: list[str], tools: list[str]) -> None:
    names = [tool_name(server, tool) for server in server_names(servers) for tool in tools]
    assert all(VALID.fullmatch(name) for name in names)
    assert len(set(names)) == len(names)


@given(st.text(max_size=80), st.text(max_size=120))
def test_a_name_depends_on_nothing_else(server: str, tool: str) -> None:
    assert tool_name(server_names([server])[0], tool) == tool_name(server_names([server, "other"])[0], tool)


def test_ordinary_names_stay_as_they_are() -> None:
    assert tool_name(server_names(["github"])[0], "create_issue") == "github__create_issue"


def test_the_border_between_server_and_tool_is_clear() -> None:
    one, other = server_names(["a__b", "a"])
    assert tool_name(one, "c") != tool_name(other, "b__c")


def test_names_that_cannot_begin_a_tool_get_a_beginning() -> None:
    slugs = [re.sub("_[0-9a-f]{6}$", "", slug) for slug in server_names(["1password", "-x-", "日本"])]
    assert slugs == ["mcp_1password", "x", "server"]


def test_names_that_look_alike_are_told_apart() -> None:
    assert len({tool_name("s", name) for name in ("a b", "a_b", "a.b", "a/b", "ä b")}) == 5
    names = server_names(["fs", "fs", "FS", "f s"])
    assert (names[0], names[2], len(set(names))) == ("fs", "FS", 4)


@given(
    st.lists(
        st.sampled_from(["git hub", "git_hub", "git-hub", "git.hub", "git_hub_2", "x" * 40, "x" * 41, ""]), unique=True
    )
)
def test_a_server_is_called_the_same_whatever_others_there_are(names: list[str]) -> None:
    assert server_names(names) == [server_names([name])[0] for name in names]


@given(st.lists(st.text(max_size=40), max_size=8))
def test_commands_can_be_typed_and_are_unique(prompts: list[str]) -> None:
    names = command_names("s", prompts)
    assert len(set(names)) == len(prompts)
    assert not any(character.isspace() or not character.isprintable() for name in names for character in name)
