"""The definition of a vector: a short conversation with a provider program, as language-independent data."""

from collections.abc import Mapping
from typing import Literal, get_args

from claw_acp.core.json_value import JsonObject, JsonValue
from claw_acp.core.value import Value
from claw_acp.verify.rule import Level

Mode = Literal["oneshot", "session"]
MODES: tuple[Mode, ...] = get_args(Mode)
Model = Literal["any", "reference"]


class Vector(Value):
    """One conversation, with a program that was just started.

    Attributes:
        id: `mode.what-holds`.
        level: How binding it is.
        mode: Its mode of the protocol.
        model: `reference`: only a program with the specification's reference model can pass it.
        text: The rule, in one sentence.
        steps: The steps, in order; see `STEPS`.
    """

    id: str
    level: Level
    mode: Mode
    model: Model
    text: str
    steps: tuple[JsonObject, ...]

    def as_json(self) -> JsonObject:
        """The vector in its published form."""
        return {
            "id": self.id,
            "level": self.level,
            "mode": self.mode,
            "model": self.model,
            "text": self.text,
            "steps": list(self.steps),
        }


STEPS: Mapping[str, str] = {
    "send": "Write this message as one line. With `pad`, as many letters `x` are put at the end of the last message.",
    "sendText": "Write this text as it is.",
    "answer": "Read until the request with this id is answered. `result` or `error` is the pattern of the answer.",
    "deltas": "Beside `answer`: the pattern of all its `chat/delta` joined (`text`, `thought`, `calls`); null: there "
    "are none.",
    "closeInput": "Close the program's standard input.",
    "line": "Read to the end of the output; the last non-empty line has this pattern.",
    "exit": "The program ends by itself within so many seconds, with exit code 0.",
}
"""The meaning of each member of a step."""

PATTERNS: Mapping[str, str] = {
    "$any": "anything",
    "$string": "a string",
    "$text": "a string that is not empty",
    "$integer": "an integer",
    "$boolean": "true or false",
    "$array": "an array",
    "$object": "an object",
}
"""Words for any value of a kind. An object's pattern names the members to compare; others are ignored."""

_KINDS: Mapping[str, tuple[type, ...]] = {
    "$string": (str,),
    "$text": (str,),
    "$integer": (int,),
    "$boolean": (bool,),
    "$array": (list,),
    "$object": (dict,),
}


def mismatch(pattern: JsonValue, value: JsonValue, *, place: str = "") -> str | None:
    """The place and kind of the first difference from the pattern; None if `value` matches."""
    where = place or "it"
    if isinstance(pattern, str) and pattern in PATTERNS:
        return _kind_mismatch(pattern, value, where=where)
    if isinstance(pattern, dict):
        if not isinstance(value, dict):
            return f"{where} is no object"
        for key, wanted in pattern.items():
            if key not in value:
                return f"{where} has no {key}"
            if trouble := mismatch(wanted, value[key], place=f"{place}.{key}" if place else key):
                return trouble
        return None
    if isinstance(pattern, list):
        if not isinstance(value, list) or len(value) != len(pattern):
            return f"{where} is no array of {len(pattern)}"
        pairs = enumerate(zip(pattern, value, strict=True))
        troubles = (mismatch(wanted, held, place=f"{place}[{index}]") for index, (wanted, held) in pairs)
        return next((trouble for trouble in troubles if trouble), None)
    same = type(pattern) is type(value) and pattern == value
    return None if same else f"{where} is {_short(value)} and not {_short(pattern)}"


def _kind_mismatch(word: str, value: JsonValue, *, where: str) -> str | None:
    if word == "$any":
        return None
    fits = isinstance(value, _KINDS[word]) and (word == "$boolean") == isinstance(value, bool)
    if not fits or (word == "$text" and not value):
        return f"{where} is {_short(value)} and not {PATTERNS[word]}"
    return None


def _short(value: JsonValue) -> str:
    text = repr(value)
    return text if len(text) <= 80 else text[:79] + "…"
