"""A named agent from a Markdown file: a head in the shape that agents share, and instructions below it."""

import re
from collections.abc import Mapping, Sequence
from typing import Final, cast

from claw_acp.contracts.delegation import AgentFile, AgentScope
from claw_acp.contracts.project_trust import ProjectFile
from claw_acp.core.mode import MODES, Mode
from claw_acp.core.printable import printable
from claw_acp.hooks.foreign_tools import NAMES, own_names
from claw_acp.skills.head import BadHead, split_skill

LONGEST_DESCRIPTION: Final = 1_024  # characters
_NAME: Final = r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}"
_USED: Final = frozenset({"name", "description", "tools", "disallowedTools", "model", "permissionMode", "maxTurns"})
_ABOUT: Final = frozenset({"color", "version", "author", "license", "metadata", "tags", "category"})
"""Keys that change nothing anywhere."""
_INHERITED: Final = frozenset({"inherit", "default", ""})
_MODES: Final[Mapping[str, Mode]] = {"default": "ask", "acceptEdits": "edit", **{mode: mode for mode in MODES[:-1]}}


def parse_agent(text: str, *, name: str, scope: AgentScope, file: ProjectFile | None = None) -> AgentFile:
    """The agent that a file describes; `name` is its own where the text has none.

    Raises:
        BadHead: It describes none; the text says why.
    """
    head, body = split_skill(text)
    called = _text(head, "name") or name
    if not re.fullmatch(_NAME, called):
        raise BadHead(f"its name {printable(called)[:80]} is none: it has letters, digits, hyphens and dots")
    description = printable(" ".join(_text(head, "description").split()))
    if not description:
        raise BadHead("it has no description, so nobody could tell when to use it")
    if not body:
        raise BadHead("it has no text below its head")
    warnings: list[str] = []
    others = [printable(key) for key in head if key not in _USED | _ABOUT]
    if others:
        warnings.append(f"not used here: {', '.join(others)}"[:200])
    mode = _text(head, "permissionMode")
    if mode and mode not in _MODES:
        warnings.append(f"its permissionMode {printable(mode)[:40]} is not used: no agent may do more than its session")
    model = _text(head, "model")
    return AgentFile(
        name=called,
        description=description[:LONGEST_DESCRIPTION],
        scope=scope,
        instructions=body,
        tools=_allowed(head.get("tools")),
        without=frozenset(own for name in _names(head.get("disallowedTools")) for own in own_names(name)),
        model="" if model in _INHERITED else model,
        requests=_count(head.get("maxTurns"), warnings),
        widest_mode=_MODES.get(mode, MODES[-1]),
        file=file,
        warnings=tuple(warnings),
    )


def _allowed(value: object) -> frozenset[str] | None:
    """The tools that are named, and none that does more than those; None: all are meant."""
    names = _names(value)
    if value is None or "*" in names:
        return None
    meant = ((name.removeprefix("mcp__"), own_names(name)) for name in names)
    return frozenset(own for name, owned in meant for own in owned if own in NAMES or own == name)


def _names(value: object) -> Sequence[str]:
    """The names in a list of tools; what stands in brackets behind one is left to the policy."""
    if isinstance(value, str):
        value = re.split(r"[,\s]+(?![^(]*\))", value)
    return [name for text in _texts(value) if (name := text.partition("(")[0].strip())]


def _count(value: object, warnings: list[str]) -> int | None:
    if value is None:
        return None
    text = str(value)
    if re.fullmatch(r"[1-9]\d{0,3}", text):
        return int(text)
    warnings.append("its maxTurns is not used: it is no number above 0")
    return None


def _text(head: Mapping[str, object], key: str) -> str:
    value = head.get(key)
    return value.strip() if isinstance(value, str) else ""


def _texts(value: object) -> Sequence[str]:
    items = cast("Sequence[object]", value) if isinstance(value, list) else ()
    return [item for item in items if isinstance(item, str)]
