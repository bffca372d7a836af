"""Untrusted text for display: characters that move the cursor, reorder or hide text are escaped."""

import re
from collections.abc import Mapping, Sequence
from importlib import import_module

from claw_acp.core.json_value import JsonValue

# Python calls these printable, and nothing is drawn: fillers, blanks, joiners, selectors of a variant. U+FE0F stays
# where it belongs, behind a symbol, of which it makes an emoji. (Patterns are texts here: compiling them takes a
# millisecond of every start.)
_UNDRAWN = (
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\ufe00-\ufe0e\uffa0\U00016fe4\U0001d159\U000e0100-\U000e01ef\ufffc]"
    "|(?<![\u2190-\u27ff\u2801-\u3299\U0001f000-\U0001faff])\ufe0f"
)
_STEERS = "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]|\r(?!\n)"
_LONG_GAP = r" {40,}|(?:\n[ \t]*){10,}"  # would push what follows out of sight
_LEFT_TO_RIGHT = "\u200e"
_RIGHT_TO_LEFT = "[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc\U00010800-\U00010fff\U0001e800-\U0001efff]+"
_LONGEST_PILE = 2  # marks above and below one letter; more of them draw over the lines around


def printable(text: str) -> str:
    r"""`text` on one line, with every invisible character written as an escape (`\x1b`)."""
    if not text.isascii():
        text = _without_piles(re.sub(_UNDRAWN, _escape, text))
    if text.isprintable():
        return text
    return "".join(mark if mark.isprintable() else mark.encode("unicode_escape").decode() for mark in text)


def for_terminal(text: str) -> str:
    """`text` with the characters that steer a terminal, reorder text or have no encoding written as escapes."""
    return re.sub(_STEERS, _escape, text)


def plain_lines(text: str) -> str:
    """`text` with its lines; other invisible characters are escaped, and long gaps that hide text are counted."""
    shown = "\n".join(printable(line) for line in text.split("\n"))
    return re.sub(_LONG_GAP, _counted, shown)


def plain_json(value: JsonValue) -> JsonValue:
    """A JSON value with `plain_lines` applied to all its texts, keys included."""
    if isinstance(value, str):
        return plain_lines(value)
    if isinstance(value, Mapping):
        return {plain_lines(key): plain_json(item) for key, item in value.items()}
    if isinstance(value, Sequence):
        return [plain_json(item) for item in value]
    return value


def in_reading_order(text: str) -> str:
    """`text` displayed from left to right, word by word, even with right-to-left words.

    Displays reverse what stands between two such words: `cat X > Y` would look like a write to X. An invisible mark
    (U+200E) behind each of them, and before one that begins a line, keeps the order. Source:
    https://www.unicode.org/reports/tr9/, rules W1 to N2.
    """
    return text if text.isascii() else re.sub(_RIGHT_TO_LEFT, f"{_LEFT_TO_RIGHT}\\g<0>{_LEFT_TO_RIGHT}", text)


def full_sentence(text: str) -> str:
    """`text` with a full stop added unless it already ends like a sentence."""
    return text if text.endswith((".", "!", "?", "…")) else f"{text}."


def _without_piles(text: str) -> str:
    """`text` with excessive combining marks on one letter escaped."""
    unicodedata = import_module("unicodedata")  # a megabyte that few texts need
    if not any(map(unicodedata.combining, text)):
        return text
    shown: list[str] = []
    height = 0
    for letter in text:
        marks = unicodedata.category(letter) in {"Mn", "Me"}
        height = height + 1 if marks else 0
        shown.append(letter.encode("unicode_escape").decode() if height > _LONGEST_PILE else letter)
    return "".join(shown)


def _escape(found: re.Match[str]) -> str:
    return found[0].encode("unicode_escape").decode()


def _counted(found: re.Match[str]) -> str:
    if found[0][0] == " ":
        return f" [{len(found[0])} spaces] "
    return f"\n[{found[0].count(chr(10)) - 1} empty lines]\n"
