"""The corpus of calls in text: `calls.txt` and `texts.txt`.

A row begins with `### its title`, then ` | told` if it holds only for a model that was told to call tools in text, or
` | strict` if only for one that was not. The answer follows, then a line `>>> tool {arguments}` for each call, `>>> !
tool` for one that goes back to the model as an error, and `>>> = "text"` for the text that is left. The rows of
`texts.txt` stay text as they are.
"""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Literal, cast

from claw_acp.contracts.provider import ToolSpec
from claw_acp.core.json_value import JsonObject, JsonValue
from claw_acp.core.messages import ToolCall
from claw_acp.core.value import Value
from claw_acp.providers.text_tools.answer_reader import AnswerReader

Mode = Literal["told", "strict"]
MODES: tuple[Mode, ...] = ("told", "strict")
TEXT: JsonObject = {"type": "string"}
NUMBER: JsonObject = {"type": ["integer", "null"], "minimum": 1}


def tool(name: str, *required: str, **properties: JsonValue) -> ToolSpec:
    schema: JsonObject = {
        "type": "object",
        "properties": properties,
        "required": list(required),
        "additionalProperties": False,
    }
    return ToolSpec(name=name, description=name, parameters=schema)


TOOLS = (
    tool("read_file", "path", path=TEXT, line=NUMBER),
    tool("write_file", "path", "content", path=TEXT, content=TEXT),
    tool("shell", "command", command=TEXT, timeout=NUMBER, background={"type": "boolean"}),
    tool("list_files", path=TEXT),
    tool("plan", "entries", entries={"type": "array"}),
)


class Row(Value):
    title: str
    answer: str
    mode: Mode
    calls: tuple[tuple[str, JsonValue], ...]  # with None for an error
    text: str


def read(*pieces: str, mode: Mode = "told") -> tuple[str, list[ToolCall]]:
    """The text and the calls of an answer that arrives in these pieces."""
    numbers = iter(range(100_000))
    reader = AnswerReader(TOOLS, strictly=mode == "strict", new_id=lambda: f"call_{next(numbers)}")
    shown = [reader.feed(piece) for piece in pieces]
    return "".join([*shown, reader.finish()]), reader.calls


def arguments(call: ToolCall) -> JsonValue:
    """The arguments of a call; None for one that cannot be run."""
    if call.problem:
        return None
    try:
        value: JsonValue = json.loads(call.arguments)
    except ValueError:
        return None
    return value if isinstance(value, Mapping) else None


def rows(file: str) -> list[Row]:
    """The rows of a file, one for each mode that a row of it is about."""
    content = (Path(__file__).parent / file).read_text(encoding="utf-8").removesuffix("\n")
    found: list[Row] = []
    for block in content.removeprefix("### ").split("\n\n### "):
        head, _, body = block.partition("\n")
        title, _, only = head.partition(" | ")
        modes = (cast("Mode", only),) if only else MODES
        found += [_row(f"{title}, {mode}", body, mode) for mode in modes]
    return found


def _row(title: str, body: str, mode: Mode) -> Row:
    lines = body.split("\n")
    expected = [line.removeprefix(">>> ") for line in lines if line.startswith(">>> ")]
    answer = "\n".join(line for line in lines if not line.startswith(">>> "))
    left = next((str(json.loads(line[2:])) for line in expected if line.startswith("= ")), "")
    calls = tuple(_calls(expected))
    return Row(title=title, answer=answer, mode=mode, calls=calls, text=left if expected else answer)


def _calls(expected: list[str]) -> Iterator[tuple[str, JsonValue]]:
    for line in expected:
        name, _, written = line.partition(" ")
        if name == "!":
            yield written, None
        elif name != "=":
            yield name, json.loads(written)
