"""Private keys in text: whole ones, and fragments such as a read from the middle of a file returns.

Their lines may be numbered, quoted, commented or joined by code. A fragment without its BEGIN and END is recognised by
its lines, which are as wide as tools write them and hold nothing but random letters; a certificate without its frame
looks the same and is removed as well.
"""

import re
from collections.abc import Iterator
from functools import cache

from claw_acp.core.value_shapes import entropy

_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/="
_AFTER = " \t\r\"'`+,;\\).]}|"  # what code writes behind a line of a key
_WIDTHS = frozenset({64, 70})  # of OpenSSL, PGP and PuTTY, and of OpenSSH
_LEAST_WIDTH = min(_WIDTHS)
_LEAST_RUN = 16  # letters of a line inside a frame
_LEAST_ENTROPY = 4.7  # bits a letter in a line without a frame: random ones have 5, paths and words 4
_HEADERS = (",", "Proc-Type: ", "DEK-Info: ", "Comment: ", "Version: ", "Hash: ", "Charset: ")  # before their values
_BEHIND = 2  # lines: the last one of a key, which is shorter, and its mark
_SKIPPED = 8  # lines without a key (headers, blanks) in front of its first one

_MARK = r"-{4,5} ?(BEGIN|END) ([A-Z0-9 ]{0,40})-{4,5}|(Private-Lines): \d|(Private-MAC):"
_BREAK = r"\r?\n|\r|\\{1,4}[nr]"
_NUMBERED = (  # path:12: or 12:, then a comment or a quote
    r"[\s>]{0,40}(?:[^\n]{0,400}?[^\s\d](?:[:-]\d{1,7}[:-])|\d{0,7}[→:|)\t-]?)[\s+\-#*/;>\"'`|:]{0,440}"
)
_INNER = r"[A-Za-z0-9+/]{16,}+=*+"
# The constant beginnings of keys that are written in one line.
_OPENED = (
    r"(?<![A-Za-z0-9+/])(?:MII[A-Za-z0-9+/]{3}IBAAK|MII[A-Za-z0-9+/]{3}IBADANBgkqhkiG9w0BAQEFAASC|MC4CAQAwBQYDK2VwBCIEI"
    r"|M[EHIG][A-Za-z0-9+/]{1,3}AgEAM[BDEHIG][A-Za-z0-9+/]{4}yqGSM49AgEG|MHcCAQEEI|b3BlbnNzaC1rZXktdjEA)"
    r"[A-Za-z0-9+/=]{12,}+"
)


class _Line:
    """One line, or one piece of a string in code that stands for a line."""

    __slots__ = ("before", "end", "run", "start")

    def __init__(self, text: str, start: int, end: int) -> None:
        line = text[start:end]
        core = line.rstrip(_AFTER)
        core = line[: len(core) + _plus_signs(line, len(core))]
        before = core.rstrip(_LETTERS)
        self.before = before
        self.run = core[len(before) :]
        self.start = start + len(before)
        self.end = start + len(core)

    @property
    def bare(self) -> bool:
        """True if only a number, a quote or a comment precedes the letters."""
        return not self.before or _pattern(_NUMBERED).fullmatch(self.before[-440:]) is not None

    @property
    def opens(self) -> bool:
        """True if it may be the rest of a line, or the first one of a string."""
        return self.bare or self.before.endswith(('"', "'"))

    @property
    def full(self) -> bool:
        """True if it looks like a line of a key."""
        run = self.run
        width = len(run) - (run.startswith(("+", "-")) if len(run) - 1 in _WIDTHS else 2 * run.startswith("//"))
        return (len(run) in _WIDTHS or width in _WIDTHS) and self.bare and _is_random(run)

    @property
    def blank(self) -> bool:
        """True if it has no letters, and nothing else that would end a key."""
        return not self.run and self.bare


def private_key_spans(text: str) -> Iterator[tuple[int, int]]:
    """The spans of the letters of private keys, line by line."""
    framed = "PRIVATE KEY" in text or "Private-Lines" in text
    marks = list(_pattern(_MARK).finditer(text)) if framed or "-----" in text else []
    place = 0
    state = "none"
    for mark in marks:
        opens = mark[1] == "BEGIN" or mark[3] is not None
        yield from _between(text, place, mark.start(), state=state, closed=None if opens else _kind(mark))
        state = _kind(mark) if opens else "none"
        place = mark.end()
    yield from _between(text, place, len(text), state=state, closed=None)
    if framed or "MII" in text or "b3BlbnNzaC1rZXktdjEA" in text or "MC4CAQ" in text or "MHcCAQ" in text:
        yield from (found.span() for found in _pattern(_OPENED).finditer(text))


def _between(text: str, start: int, end: int, *, state: str, closed: str | None) -> Iterator[tuple[int, int]]:
    """The letters of keys between two marks: `state` is the kind of the one before, `closed` of the one after."""
    if start >= end or state == "public":
        return
    if state != "private":
        for first, last in _regions(text, start, end):
            yield from _unframed(text, first, last, closed=closed if last == end else None)
    elif closed == "private" and _has_random_run(text, start, end):
        yield from _framed(text, start, end)
    else:
        yield from _opened(text, start, end)


def _regions(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Stretches of lines that may belong to a key, each with one line before and two after it.

    Every text passes through this, so it must be quick: a line that is long enough is checked near its end.
    """
    inside = _pattern(r"[A-Za-z0-9+/]{40}")
    first: int | None = None
    before = at = start
    behind = 0
    for line in text[start:end].split("\n"):
        length = len(line)
        if length >= _LEAST_WIDTH and (
            inside.match(line, length - 50) or (length > 2 * _LEAST_WIDTH and "\\n" in line)
        ):
            first, behind = before if first is None else first, 0
        elif first is not None and (behind := behind + 1) == _BEHIND:
            yield first, at + length
            first = None
        before, at = at, at + length + 1
    if first is not None:
        yield first, end


def _framed(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Every long run between both marks, whatever stands around it, and what ends a line."""
    yield from (found.span() for found in _pattern(_INNER).finditer(text, start, end))
    for line in _lines(text, start, end):
        if line.run and (line.bare or line.run.endswith("=")):
            yield line.start, line.end


def _opened(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """The lines of a key that follow its first mark."""
    skipped, taken = 0, False
    for line in _lines(text, start, end):
        if line.blank and taken:
            continue
        if (
            len(line.run) >= _LEAST_RUN
            and not line.before.endswith(_HEADERS)
            and (taken or any(letter in _LETTERS[:26] for letter in line.run))
        ):
            yield line.start, line.end
            taken = True
        elif taken:
            if line.run and line.bare and len(line.run) % 4 == 0:
                yield line.start, line.end
            return
        else:
            skipped += 1
            if skipped > _SKIPPED or not (line.bare or ":" in line.before):
                return


def _unframed(text: str, start: int, end: int, *, closed: str | None) -> Iterator[tuple[int, int]]:
    """Lines of the right width and randomness, with the partial ones before and after them.

    Lines followed by the END of something public are no private key; those followed by the END of a private one are.
    """
    block: list[tuple[int, int]] = []
    previous: _Line | None = None
    among = False
    for line in _lines(text, start, end):
        if line.blank:
            continue
        if line.full:
            if not block and previous is not None and len(previous.run) >= 8 and previous.opens:
                block.append((previous.start, previous.end))
            block.append((line.start, line.end))
            among = True
        elif among and line.run and line.bare and (line.run.endswith("=") or _is_tail(line.run)):
            block.append((line.start, line.end))
            among = False
        elif line.end < end or closed is None:
            yield from block
            block, among = [], False
            if closed == "private" and len(line.run) >= 8 and line.bare:
                block.append((line.start, line.end))
        previous = line
    if closed != "public":
        yield from block


def _lines(text: str, start: int, end: int) -> Iterator[_Line]:
    for found in _pattern(_BREAK).finditer(text, start, end):
        yield _Line(text, start, found.start())
        start = found.end()
    yield _Line(text, start, end)


def _kind(mark: re.Match[str]) -> str:
    named = mark[2] or ""
    return "private" if "PRIVATE" in named or mark[3] or mark[4] else "public"


def _plus_signs(line: str, at: int) -> int:
    """The number of letters of a key that were taken for string concatenation signs."""
    return len(line[at:]) - len(line[at:].lstrip("+"))


def _has_random_run(text: str, start: int, end: int) -> bool:
    return any(
        any(letter.isupper() for letter in found[0]) and len(set(found[0])) >= 10
        for found in _pattern(_INNER).finditer(text, start, end)
    )


def _is_random(run: str) -> bool:
    return _is_mixed(run) and entropy(run) >= _LEAST_ENTROPY


def _is_mixed(run: str) -> bool:
    return any(letter.isdigit() for letter in run) and run.upper() != run and run.lower() != run


def _is_tail(run: str) -> bool:
    if len(run) >= 2 * _LEAST_RUN and _is_mixed(run):
        return True  # one that goes on
    return len(run) % 4 == 0 and (len(run) >= 8 or not run.isalpha()) and not run.islower()


@cache
def _pattern(expression: str) -> re.Pattern[str]:
    return re.compile(expression)
