"""Patterns of JSON values: what vectors expect of answers."""

from collections.abc import Mapping

from claw_acp.core.json_value import JsonValue

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
