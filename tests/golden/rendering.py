"""Frames as text: ids counted, paths and times named, one thought a line."""

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any, cast

from claw_acp.core.version import VERSION
from tests.support.editors.exchange import Frame, Json

WIDTH = 110
ID = re.compile(r"\b(ses|msg|tht|call|turn|term|task|ntc|plan|inc)_[0-9a-z]{26}\b")
TIME = re.compile(r"\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z\b")
CALLED = {"ses": "session", "msg": "message", "tht": "thought", "term": "terminal", "ntc": "notice", "inc": "incident"}
LEFT_OUT = {"configOptions": "the options", "availableCommands": "the commands"}
"""Lists that other tests look at, and that grow with the product."""


def rendered(frames: Sequence[Frame], *, project: Path) -> str:
    """The whole conversation."""
    names: dict[str, str] = {}

    def named(found: re.Match[str]) -> str:
        kind = CALLED.get(found[1], found[1])
        number = sum(name.startswith(f"<{kind} ") for name in names.values()) + 1
        return names.setdefault(found[0], f"<{kind} {number}>")

    def plain(message: Json) -> Json:
        text = json.dumps(message, ensure_ascii=False)
        for path in (str(project), str(project.resolve())):
            text = text.replace(path, "<project>")
        return json.loads(TIME.sub("<time>", ID.sub(named, text)).replace(f'"{VERSION}"', '"<version>"'))

    return "\n\n".join(_frame(frame.way, plain(frame.message)) for frame in frames) + "\n"


def _frame(way: str, message: Json) -> str:
    if "method" in message:
        head = f"{way} {message['method']}" + (f" #{message['id']}" if "id" in message else "")
        body = message.get("params", {})
    else:
        kind = "result" if "result" in message else "error"
        head, body = f"{way} {kind} #{message['id']}", message[kind]
    return f"{head}\n{_value(_short(body), 1)}"


def _short(value: Any, key: str = "") -> Any:
    if isinstance(value, dict):
        return {name: _short(inner, name) for name, inner in cast("dict[str, Any]", value).items()}
    if isinstance(value, list):
        if key in LEFT_OUT:
            return f"({LEFT_OUT[key]})"
        return [_short(inner) for inner in cast("list[Any]", value)]
    return value


def _value(value: Any, depth: int) -> str:
    """JSON on one line where that fits, else one part a line."""
    indent = "  " * depth
    line = json.dumps(value, ensure_ascii=False)
    if len(indent) + len(line) <= WIDTH or not isinstance(value, dict | list) or not value:
        return indent + line
    if isinstance(value, dict):
        items = cast("dict[str, Any]", value).items()
        parts = [_labelled(json.dumps(key), inner, depth + 1) for key, inner in items]
        return f"{indent}{{\n" + ",\n".join(parts) + f"\n{indent}}}"
    parts = [_value(inner, depth + 1) for inner in cast("list[Any]", value)]
    return f"{indent}[\n" + ",\n".join(parts) + f"\n{indent}]"


def _labelled(label: str, value: Any, depth: int) -> str:
    indent = "  " * depth
    return f"{indent}{label}: {_value(value, depth).removeprefix(indent)}"
