"""The guard against turns that loop: it marks repeated calls, then refuses them, then ends the turn.

| pattern                                                  | noted    | refused      |
|----------------------------------------------------------|----------|--------------|
| one call with one result, or several that take turns,    | 3rd time | from the 4th |
| within the last 20 calls                                 |          |              |
| answers whose calls bring nothing that the turn has not  | 5th      | from the 8th |
| seen, one after the other                                |          |              |

The third answer with a refused call, of 20 without a new change, ends the turn. Calls of one answer count once. What
makes sense never counts: a result that changes (a background task that prints), a call that waited, and a repetition
after a change, such as the tests after an edit.
"""

import json
from collections import deque
from contextlib import suppress
from hashlib import blake2b
from itertools import takewhile
from typing import Final

from claw_acp.contracts.tool import ToolResult
from claw_acp.core.json_value import JsonValue
from claw_acp.core.messages import TextPart
from claw_acp.core.value import Value, replace

WINDOW: Final = 20  # calls, or answers
REPEATS_NOTED: Final = 3
REPEATS_ALLOWED: Final = 3
STALE_NOTED: Final = 5  # answers
STALE_ALLOWED: Final = 7
REFUSED_ANSWERS: Final = 3
MOST_WORDS: Final = 20  # arguments that are looked for in a result
WAITED: Final = 5.0  # seconds; a call that takes longer waits for something

_REPEATED: Final = (
    "{tool} gave exactly this result {count} times with these arguments, and nothing was changed since. Use what it "
    "said, or find another way"
)
_STALE: Final = "The calls of the last {count} answers brought nothing new. Use what is known, or find another way"


class _Made(Value):
    """A call with its result, and the answer that made it."""

    call: bytes
    result: bytes
    answer: int


class RepetitionGuard:
    """Watches the calls of one turn."""

    def __init__(self) -> None:
        self._answer = 0
        self._made: deque[_Made] = deque(maxlen=WINDOW)
        self._changes: set[bytes] = set()  # calls that changed something
        self._seen: set[tuple[str, bytes]] = set()  # tools and their results, whatever was asked
        self._news = self._old = False  # whether this answer's calls brought something new, or something known
        self._stale = 0  # answers in a row without anything new
        self._stale_tools: set[str] = set()
        self._refused: deque[str] = deque(maxlen=WINDOW)  # of each answer the tool whose call was refused, or nothing
        self._refused_now = ""

    def next_answer(self) -> None:
        """Count the results of the last answer's calls; those of another answer follow."""
        if self._news:
            self._forget_stale()
        elif self._old:
            self._stale += 1
        self._refused.append(self._refused_now)
        self._answer += 1
        self._news, self._old, self._refused_now = False, False, ""

    def forgive(self) -> None:
        """Start over, since the person said something."""
        self._made.clear()
        self._refused.clear()
        self._forget_stale()

    def refusal(self, tool: str, arguments: str) -> str | None:
        """The reason to refuse a call before it runs, or None."""
        count = self._repeats(_call(tool, arguments))
        if count >= REPEATS_ALLOWED:
            reason = _REPEATED.format(tool=tool, count=count)
        elif self._stale >= STALE_ALLOWED and tool in self._stale_tools:
            reason = _STALE.format(count=self._stale)
        else:
            return None
        self._refused_now = tool
        return f"Not run. {reason}, or tell the user what stops you. If this goes on, the turn is ended."

    def watched(
        self, tool: str, arguments: str, result: ToolResult, *, changes: bool = False, seconds: float = 0
    ) -> ToolResult:
        """Record a call that ran; returns its result, with a note for the model if it is a repetition.

        Args:
            tool: The tool.
            arguments: Its arguments, as the model wrote them.
            result: The result.
            changes: Whether it may have changed something.
            seconds: The time it took.
        """
        call, text = _call(tool, arguments), _text_of(result)
        if changes and call not in self._changes:
            self._changes.add(call)
            self._made.clear()
            self._refused.clear()
            self._news = True
        if seconds >= WAITED:
            return result
        made = _Made(call=call, result=_digest(str(result.failed), text), answer=self._answer)
        known = tool, _digest(str(result.failed), _without(arguments, text))
        self._made.append(made)
        if known not in self._seen:
            self._seen.add(known)
            self._news = True
        else:
            self._old = True
            self._stale_tools.add(tool)
        note = self._note(tool, self._repeats(call))
        return replace(result, parts=(*result.parts, TextPart(text=f"\n\n[{note}.]"))) if note else result

    @property
    def explanation(self) -> str | None:
        """The text for the person if the turn has to end; None while it may go on."""
        refused = [*filter(None, self._refused), self._refused_now]
        if len(refused) < REFUSED_ANSWERS or not self._refused_now:
            return None
        names = " and ".join(f"`{name}`" for name in dict.fromkeys(refused))
        return (
            f"The turn was stopped because it went round in circles: the model kept calling {names} though that "
            "brought nothing new, also after it was told so. Give it a hint or a smaller step, or choose another model."
        )

    def _note(self, tool: str, repeats: int) -> str:
        if repeats >= REPEATS_NOTED:
            return f"{_REPEATED.format(tool=tool, count=repeats)}; the same call will not be run again"
        if self._old and not self._news and self._stale + 1 >= STALE_NOTED:
            return _STALE.format(count=self._stale + 1)
        return ""

    def _repeats(self, call: bytes) -> int:
        """The number of answers that made this call and got its last result, one after the other."""
        same = [made for made in reversed(self._made) if made.call == call]
        return len({made.answer for made in takewhile(lambda made: made.result == same[0].result, same)})

    def _forget_stale(self) -> None:
        self._stale = 0
        self._stale_tools.clear()


def _call(tool: str, arguments: str) -> bytes:
    """The digest of a call, independent of the spelling of its arguments."""
    with suppress(ValueError, RecursionError):
        arguments = json.dumps(json.loads(arguments), sort_keys=True)
    return _digest(tool, arguments)


def _digest(first: str, second: str) -> bytes:
    return blake2b(f"{first}\0{second}".encode("utf-8", "surrogatepass"), digest_size=16).digest()


def _text_of(result: ToolResult) -> str:
    return "".join(part.text if isinstance(part, TextPart) else repr(part) for part in result.parts)


def _without(arguments: str, text: str) -> str:
    """A result without the arguments of its call: "nothing matches a" and "nothing matches b" are the same news."""
    try:
        given: JsonValue = json.loads(arguments)
    except (ValueError, RecursionError):
        return text
    if isinstance(given, dict):
        words = sorted((value for value in given.values() if isinstance(value, str) and value), key=len, reverse=True)
        for word in words[:MOST_WORDS]:
            text = text.replace(word, "")
    return text
