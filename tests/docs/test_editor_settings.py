"""The settings for editors: each snippet can be read by its language, and starts claw-acp."""

import json
import re
from collections.abc import Iterator, Sequence
from typing import Any, TypeAlias

import pytest

from tests.docs.pages import ROOT, SETTINGS, Block, blocks, text_of

COMMAND = "/home/you/claw-acp/.venv/bin/claw-acp"
AGENT_KEYWORDS = {"identifier", "mode-line-name", "buffer-name", "shell-prompt", "shell-prompt-regexp", "client-maker"}
CLIENT_KEYWORDS = {"command", "command-params", "environment-variables", "context-buffer"}

_LISP = re.compile(
    r""";[^\n]*|\s+|(?P<string>"(?:\\.|[^"\\])*")|(?P<open>\()|(?P<close>\))|'|(?P<symbol>[^\s()'";]+)"""
)

Form: TypeAlias = "str | list[Form]"
"""Emacs Lisp as it is read: a text, or a list of forms."""


def agents_of(settings: dict[str, Any]) -> dict[str, Any]:
    """The agents in a snippet, whichever editor it is for; none in one about something else."""
    return settings.get("agent_servers") or settings.get("acp.agents") or {}


@pytest.mark.parametrize("snippet", blocks("json", *SETTINGS), ids=str)
def test_json_settings_parse_and_name_the_program(snippet: Block) -> None:
    agents = agents_of(json.loads(snippet.body))
    if not agents:
        assert snippet.page.parent.name == "vscode"  # its further settings
        return
    [(name, agent)] = agents.items()
    assert name == "claw-acp"
    assert agent["command"] == COMMAND
    assert agent["args"] == []
    assert all(isinstance(value, str) for value in agent["env"].values())


def test_every_editor_has_settings_that_start_the_program() -> None:
    for page in SETTINGS:
        snippets = [*blocks("json", page), *blocks("lua", page), *blocks("elisp", page)]
        assert any(COMMAND in snippet.body for snippet in snippets), page
        assert "For-all-of-them".lower() in text_of(page), page  # the advice about the path


@pytest.mark.parametrize("snippet", blocks("lua"), ids=str)
def test_lua_settings_parse(snippet: Block) -> None:
    lua: Any = pytest.importorskip("luaparser.ast", reason="needs the package luaparser")
    lua.parse(snippet.body)


@pytest.mark.parametrize("snippet", blocks("lua"), ids=str)
def test_lua_settings_set_up_one_plugin_with_the_program(snippet: Block) -> None:
    assert re.match(r'require\("(codecompanion|avante|agentic)"\)\.setup\(\{\n', snippet.body)
    assert snippet.body.count(COMMAND) == 1
    assert snippet.body.endswith("})\n")


@pytest.mark.parametrize("snippet", blocks("elisp"), ids=str)
def test_emacs_lisp_can_be_read(snippet: Block) -> None:
    assert list(forms(snippet.body))


def test_the_emacs_settings_use_arguments_that_agent_shell_has() -> None:
    code = list(forms(next(block.body for block in blocks("elisp") if COMMAND in block.body)))
    assert keywords_of("agent-shell-make-agent-config", code) == AGENT_KEYWORDS
    assert keywords_of("acp-make-client", code) == CLIENT_KEYWORDS


def test_the_guide_on_a_terminal_and_the_page_for_zed_agree() -> None:
    guide = (ROOT / "claw_acp" / "cli" / "guide.py").read_text(encoding="utf-8")
    zed = agents_of(json.loads(blocks("json", SETTINGS[0])[0].body))["claw-acp"]
    assert f'"type": "{zed["type"]}"' in guide


def forms(code: str) -> Iterator[Form]:
    """The forms of Emacs Lisp code: lists of lists and texts."""
    stack: list[list[Form]] = [[]]
    at = 0
    while at < len(code):
        found = _LISP.match(code, at)
        assert found, f"cannot be read: {code[at : at + 40]!r}"
        at = found.end()
        if found["open"]:
            stack.append([])
        elif found["close"]:
            assert len(stack) > 1, "a bracket closes that was never opened"
            form = stack.pop()
            stack[-1].append(form)
        elif word := found["string"] or found["symbol"]:
            stack[-1].append(word)
    assert len(stack) == 1, "a bracket is never closed"
    yield from stack[0]


def keywords_of(function: str, code: Sequence[Form]) -> set[str]:
    """The keywords with which a function is called, wherever the call stands."""
    found: set[str] = set()
    for form in code:
        if isinstance(form, list):
            if form and form[0] == function:
                found |= {word[1:] for word in form if isinstance(word, str) and word.startswith(":")}
            found |= keywords_of(function, form)
    return found
