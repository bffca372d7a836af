"""Calls whose arguments stand between tags, as raw text: `<function=N><parameter=k>v</parameter></function>`.

Such a value may hold the tag that ends it. So a closing tag counts only where the form goes on behind it: with the next
argument, or with the end of the call where that may stand. Whole calls within a value (a file that shows some) are
counted as brackets are. What is still ambiguous is found by the reader of the answer: closing tags are left over.
"""

import re
from collections.abc import Callable, Mapping
from functools import lru_cache
from html import unescape
from typing import Final

from claw_acp.core.json_value import JsonValue
from claw_acp.core.value import Value
from claw_acp.providers.text_tools.found_call import (
    LONGEST_WRITTEN,
    MOST_CALLS,
    Argument,
    FoundCall,
    RawText,
    Section,
    cut_off,
    unreadable,
)
from claw_acp.providers.text_tools.json_calls import decoded, skip_blank

Known = Callable[[str, str], bool]
"""True if the tool of that name has that argument, or is not known."""

N: Final = r"[^\s<>\"'=|\\]{1,128}"
GAP: Final = r"(?:\s|\\n)*"  # some servers leave line breaks escaped
_GAP = re.compile(GAP)
LEFT_OVER = re.compile(r"</(?:\uff5cDSML\uff5c ?|antml:)?(?:parameter|function|invoke|arg_value)>|<\|close\|>argument")
"""Closing tags of arguments and calls: behind a call they show that a value held the end of its own."""


class TaggedForm(Value):
    """The tags of a form, as patterns; `%s` in `tail` and `end` is the name of the argument or tool.

    `nested` begins a whole call within a value. `lacking` means that the tag after a value may be missing. `one_call`
    means that the end of the call is also the end of the section.
    """

    head: str
    param: str
    tail: str
    end: str
    nested: str = ""
    lacking: bool = True
    one_call: bool = False


@lru_cache(maxsize=512)
def _compiled(pattern: str) -> "re.Pattern[str]":
    return re.compile(pattern)


def read_tagged(text: str, at: int, *, form: TaggedForm, closers: tuple[str, ...], known: Known) -> Section:
    """The calls of a section, up to a closing marker if there is one."""
    found: list[FoundCall] = []
    position = end = at
    head = _compiled(form.head)
    while len(found) <= MOST_CALLS and (begins := head.match(text, _skip(text, position))) is not None:
        call, position = _TaggedCall(text, begins, form=form, closers=closers, known=known).read()
        found.append(call)
        end = position
        if form.one_call:
            return Section(end=end, calls=tuple(found), raw=True, closers=closers)
    behind = _skip(text, end)
    closing = next((closer for closer in closers if text.startswith(closer, behind)), None)
    if closing is None:
        return Section(end=end, calls=tuple(found), raw=True)
    return Section(end=behind + len(closing), calls=tuple(found), raw=True, closers=closers)


class _TaggedCall:
    def __init__(
        self, text: str, head: "re.Match[str]", *, form: TaggedForm, closers: tuple[str, ...], known: Known
    ) -> None:
        self._text = text
        self._head = head
        self._name = unescape(head["name"])
        self._form = form
        self._closers = closers
        self._known = known
        self._end = _compiled(_filled(form.end, head["name"]))
        self._arguments: dict[str, Argument] = {}
        self._first = self._last = head.end()  # where the first value begins, and the last one ends

    def read(self) -> tuple[FoundCall, int]:
        """The call, and the position after it."""
        position = _skip(self._text, self._head.end())
        if self._text.startswith("{", position):
            return self._read_object(position)
        while (end := self._end.match(self._text, position)) is None:
            param = _compiled(self._form.param).match(self._text, position)
            if param is None:
                return self._broken("there is something else than arguments in it", at=position)
            stop = self._value_end(param)
            if stop is None:
                return self._cut()
            key = unescape(param["key"])
            if key in self._arguments:
                return self._broken(f"`{key}` is there twice", at=stop[1])
            value, position = self._text[param.end() : stop[0]], stop[1]
            self._first, self._last = self._first if self._arguments else param.end(), stop[0]
            self._arguments[key] = _value(param, value if position > stop[0] else value.removesuffix("\n"))
            position = _skip(self._text, position)
        return self._found(self._arguments), end.end()

    def _found(self, arguments: Mapping[str, Argument]) -> FoundCall:
        start = self._head.start()
        written = self._text[start : min(self._last, start + LONGEST_WRITTEN)]
        return FoundCall(name=self._name, arguments=arguments, written=written, opening=self._text[start : self._first])

    def _read_object(self, at: int) -> tuple[FoundCall, int]:
        try:
            value, position = decoded(self._text, at)
        except (ValueError, RecursionError) as error:
            return self._broken(f"its JSON is not valid: {error}", at=at)
        end = self._end.match(self._text, _skip(self._text, position))
        if end is None or not isinstance(value, dict):
            return self._broken("there is something else than arguments in it", at=position)
        self._last = position
        return self._found(value), end.end()  # pyright: ignore[reportUnknownArgumentType]

    def _value_end(self, param: "re.Match[str]") -> tuple[int, int] | None:
        """The end of a value, and the position after its closing tag; None when there is none."""
        tail = _filled(self._form.tail, param["key"])
        depth = 0
        for token in _tokens(self._form, tail, self._end.pattern).finditer(self._text, param.end()):
            if token["nested"] is not None:
                depth += 1
            elif token["end"] is not None and depth:
                depth -= 1
            elif not depth and self._counts(token):
                return token.start(), token.end() if token["tail"] is not None else token.start()
        return None

    def _counts(self, token: "re.Match[str]") -> bool:
        """True if the form goes on behind a closing tag."""
        if token["tail"] is None:
            return self._form.lacking and self._closes(token)
        behind = _skip(self._text, token.end())
        end = self._end.match(self._text, behind)
        return self._closes(end) if end else _compiled(self._form.param).match(self._text, behind) is not None

    def _closes(self, token: "re.Match[str]") -> bool:
        """True if the end of a call stands where one may stand; elsewhere it belongs to a value."""
        if token.lastgroup == "param":
            key = unescape(token["key"])
            first = self._text[token.start() - 1] == "\n"
            return first and key not in self._arguments and self._known(self._name, key)
        behind = _skip(self._text, token.end())
        if not self._closers or self._form.one_call or behind >= len(self._text):
            return True
        return self._text.startswith(self._closers, behind) or bool(
            _compiled(self._form.head).match(self._text, behind)
        )

    def _broken(self, problem: str, *, at: int) -> tuple[FoundCall, int]:
        """A call that cannot be read, up to its end tag. What was read up to `at` is never read again."""
        end = self._end.search(self._text, at)
        if end is None:
            return self._cut()
        told = f"This call of {self._name} cannot be read ({problem}), so nothing was done. Send it again."
        return unreadable(self._name, self._text[self._head.start() : end.end()], problem=told), end.end()

    def _cut(self) -> tuple[FoundCall, int]:
        return cut_off(self._name, self._text[self._head.start() :]), len(self._text)


@lru_cache(maxsize=512)
def _tokens(form: TaggedForm, tail: str, end: str) -> "re.Pattern[str]":
    nested = form.nested or f"{_unnamed(form.head)}(?={GAP}(?:{_unnamed(form.param)}|\\{{|{end}))"
    param = f"(?P<param>{form.param})"
    return re.compile(f"(?P<nested>{nested})|(?P<tail>{tail})|(?P<end>{end})|{param}")


def _unnamed(pattern: str) -> str:
    return pattern.replace("?P<name>", "?:").replace("?P<key>", "?:").replace("?P<kind>", "?:")


def _filled(pattern: str, name: str) -> str:
    return pattern % re.escape(name) if "%s" in pattern else pattern


def _skip(text: str, at: int) -> int:
    gap = _GAP.match(text, at)
    return gap.end() if gap else at


def _value(param: "re.Match[str]", written: str) -> Argument:
    """The value of an argument. One that stands on lines of its own does so without the line breaks around it."""
    text = written.removeprefix("\n").removesuffix("\n") if written.startswith("\n") else written
    match param.groupdict().get("kind"):
        case "true" | "string":
            return text
        case None:
            return RawText(text=text)
        case _:
            return _json(text)


def _json(text: str) -> Argument:
    try:
        value: JsonValue
        value, end = decoded(text, skip_blank(text, 0))
    except (ValueError, RecursionError):
        return RawText(text=text)
    return value if skip_blank(text, end) == len(text) else RawText(text=text)
