"""Files of HTTP exchanges with a model service: one JSON object a line, without keys, for inspection and replay.

A line is `{"request": {"method", "path", "body"}, "response": {"status", "headers", "pieces", "end"}}`. The path is the
one below the base URL. A body is `{"json": ...}`, `{"text": ...}` or `{"base64": ...}`; a piece is the data of one
read, as text or as `{"base64": ...}`. `end` is `complete`, `left` (reading was stopped) or the name of the error that
ended the connection; an exchange without an answer has no status.
"""

import json
import logging
import os
import re
import stat
from base64 import b64decode, b64encode
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Final

import anyio
from anyio import to_thread

from claw_acp.core.errors import RequestRejected
from claw_acp.core.json_value import JsonObject, JsonValue
from claw_acp.core.value import Value
from claw_acp.net.redaction import masked, masked_pieces

COMPLETE: Final = "complete"
LEFT: Final = "left"
FILE_LIMIT: Final = 64 * 1024 * 1024  # bytes of a file that is replayed
EXCHANGE_LIMIT: Final = 16 * 1024 * 1024  # bytes of one answer that are recorded; the rest is left out
WRITE_TIMEOUT: Final = 0.5  # seconds for one line; within those that closing a connection may take
SHOWN: Final = 60  # characters of each side of a difference

_HOLD_IT_AGAIN: Final = (
    "Hold the conversation that was recorded, with the same files and tools, or take `replay` out of the configuration."
)
_KEPT_HEADERS: Final = frozenset({"content-type", "retry-after", "retry-after-ms", "request-id", "x-request-id"})
_MOMENT = re.compile(r"<facts>It is [^<.]{1,100}\.")
_FOLDER = re.compile(r"(?:Working folder|Also in reach): (.+?)\\n")  # in JSON, where a line ends so
_PLATFORM = re.compile(r"(?<=\\nPlatform: )\w+(?=\\n)")
_OWN_ID = re.compile(r"\b(ses|msg|call|turn)_[0-9a-hjkmnp-tv-z]{26}\b")

log = logging.getLogger(__name__)


class Exchange(Value):
    """One request and its outcome. `status` is None without an answer; `end`: see the module."""

    method: str
    path: str
    body: bytes = b""
    status: int | None = None
    headers: tuple[tuple[str, str], ...] = ()
    pieces: tuple[bytes, ...] = ()
    end: str = COMPLETE


class Recorder:
    """Appends exchanges to a file, which several sessions and processes may do at once.

    Args:
        path: The file, created with access for its owner only.
        secrets: Texts that must never be in it.
    """

    def __init__(self, path: Path, *, secrets: Sequence[str]) -> None:
        self.trouble = ""  # why the last exchange could not be kept, for people
        self._path = path
        self._secrets = secrets

    async def keep(self, exchange: Exchange) -> None:
        """Write one exchange, in a thread. Errors are logged and kept in `trouble`, never raised."""
        write = partial(_append, self._path, exchange, secrets=self._secrets)
        reason = f"no answer from the disk within {WRITE_TIMEOUT:g} s"
        try:
            with anyio.move_on_after(WRITE_TIMEOUT):
                await to_thread.run_sync(write, abandon_on_cancel=True)
                reason = ""
        except OSError as error:
            reason = error.strerror or str(error)
        finally:
            self._note(reason)

    def _note(self, reason: str) -> None:
        self.trouble = f"The exchange could not be recorded in {self._path}: {reason}." if reason else ""
        if reason:
            log.warning("exchange not recorded", extra={"path": str(self._path), "reason": reason})


class Player:
    """Answers from a file. A request is recognized by its method, path and body; our own ids in it are ignored.

    Several answers to the same request are given in the order of the file, and the last one from then on.
    """

    def __init__(self, path: Path, *, provider: str, secrets: Sequence[str]) -> None:
        self._path = path
        self._provider = provider
        self._secrets = secrets
        self._exchanges: Sequence[Kept] | None = None
        self._given: Counter[tuple[str, str, str]] = Counter()

    async def answer(self, method: str, path: str, *, body: bytes) -> Exchange:
        """The recorded exchange.

        Raises:
            RequestRejected: There is none, or the file cannot be used.
        """
        if self._exchanges is None:
            self._exchanges = await to_thread.run_sync(self._load, abandon_on_cancel=True)
        path, body = _clean(path, body, secrets=self._secrets)
        wanted = (method, path, canonical(body))
        found = [kept.exchange for kept in self._exchanges if kept.key == wanted]
        if not found:
            raise self._refused(_no_answer(wanted, self._exchanges), advice=_HOLD_IT_AGAIN)
        self._given[wanted] += 1
        return found[min(self._given[wanted], len(found)) - 1]

    def _load(self) -> "Sequence[Kept]":
        try:
            content = _read(self._path)
        except OSError as error:
            raise self._refused(f"it cannot be read ({error.strerror or error})") from error
        if len(content) > FILE_LIMIT:
            raise self._refused(f"it is larger than {FILE_LIMIT // 1024**2} MiB")
        kept: list[Kept] = []
        for number, line in enumerate(content.split(b"\n"), start=1):
            if line.strip():
                try:
                    kept.append(read_line(line, number=number))
                except (ValueError, TypeError, RecursionError) as error:
                    raise self._refused(f"its line {number} is no recorded exchange ({error})") from error
        return kept

    def _refused(
        self, reason: str, *, advice: str = "Mend the file, or name another one in `replay`."
    ) -> RequestRejected:
        return RequestRejected(f"{self._provider} replays {self._path}: {reason}. {advice}", provider=self._provider)


class Kept(Value):
    """An exchange of a file, with its recognition key and its line."""

    exchange: Exchange
    key: tuple[str, str, str]
    number: int


def canonical(body: bytes) -> str:
    """A body for comparison: JSON with sorted keys, our own ids numbered in order of appearance, times removed.

    Folders that the instructions name are numbered wherever they occur.
    """
    try:
        text = json.dumps(json.loads(body), ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    except (ValueError, RecursionError):
        text = body.decode("utf-8", "backslashreplace")
    text = _PLATFORM.sub("", _MOMENT.sub("<facts>", text))
    for number, folder in enumerate(dict.fromkeys(_FOLDER.findall(text))):
        in_arguments = json.dumps(folder, ensure_ascii=False)[1:-1]  # of calls, which are JSON within JSON
        spelled = f"{re.escape(in_arguments)}|{re.escape(folder)}"
        text = re.sub(rf"(?:{spelled})(?![\w.-])", f"<folder {number}>", text)
    numbers: dict[str, int] = {}
    return _OWN_ID.sub(lambda found: f"{found[1]}_{numbers.setdefault(found[0], len(numbers) + 1)}", text)


# ------------------------------------------------------------------ what did not match


def _no_answer(wanted: tuple[str, str, str], kept: Sequence[Kept]) -> str:
    method, path, body = wanted
    same = [other for other in kept if other.key[:2] == (method, path)]
    if not same:
        there = sorted({f"{other.exchange.method} {other.exchange.path}" for other in kept})
        return f"it has no answer to {method} {path}, only to {', '.join(there[:8]) or 'nothing at all'}"
    nearest = max(same, key=lambda other: _common(body, other.key[2]))
    at = _common(body, nearest.key[2])
    recorded, asked = (_around(text, at) for text in (nearest.key[2], body))
    return (
        f"none of its {len(same)} answers to {method} {path} is to this request; the nearest, in line "
        f"{nearest.number}, differs where it has {recorded} and the request has {asked}"
    )


def _common(one: str, other: str) -> int:
    """The length of the common beginning."""
    return len(os.path.commonprefix([one, other]))  # noqa: RUF071 - characters are what is compared


def _around(text: str, at: int) -> str:
    start, end = max(0, at - SHOWN // 2), at + SHOWN
    return f"{'…' if start else ''}{text[start:end]}{'…' if end < len(text) else ''}"


# ------------------------------------------------------------------ lines


def _append(path: Path, exchange: Exchange, *, secrets: Sequence[str]) -> None:
    line = _line(exchange, secrets=secrets)
    flags = os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC | os.O_NONBLOCK
    descriptor = os.open(path, flags, 0o600)
    try:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            raise OSError(0, "it is not an ordinary file")
        if status.st_mode & 0o077:
            os.fchmod(descriptor, 0o600)
        # A line that somebody was killed in the middle of must not swallow ours.
        broken = status.st_size and os.pread(descriptor, 1, status.st_size - 1) != b"\n"
        content = memoryview(b"\n" + line if broken else line)
        while content:  # one write, unless the disk is full
            content = content[os.write(descriptor, content) :]
    finally:
        os.close(descriptor)


def _line(exchange: Exchange, *, secrets: Sequence[str]) -> bytes:
    path, body = _clean(exchange.path, exchange.body, secrets=secrets)
    request: dict[str, JsonValue] = {"method": exchange.method, "path": path}
    if body:
        request["body"] = _body(body)
    response: dict[str, JsonValue] = {"end": exchange.end}
    if exchange.status is not None:
        headers = {name: masked(value, secrets=secrets) for name, value in exchange.headers}
        pieces = [_piece(piece) for piece in masked_pieces(exchange.pieces, secrets=secrets)]
        response = {"status": exchange.status, "headers": headers, "pieces": pieces, **response}
    return json.dumps({"request": request, "response": response}, ensure_ascii=False).encode("utf-8", "replace") + b"\n"


def _clean(path: str, body: bytes, *, secrets: Sequence[str]) -> tuple[str, bytes]:
    """Path and body without secrets, each by itself."""
    [clean] = masked_pieces([path.encode()], secrets=secrets)
    return clean.decode("utf-8", "replace"), masked_pieces([body], secrets=secrets)[0]


def _body(body: bytes) -> JsonObject:
    try:
        return {"json": json.loads(body)}
    except (ValueError, RecursionError):
        piece = _piece(body)
        return {"text": piece} if isinstance(piece, str) else piece


def _piece(piece: bytes) -> str | JsonObject:
    try:
        return piece.decode()
    except UnicodeDecodeError:
        return {"base64": b64encode(piece).decode()}


def _read(path: Path) -> bytes:
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except ValueError as error:
        raise OSError(0, "the path holds a NUL") from error
    with os.fdopen(descriptor, "rb") as file:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise OSError(0, "it is not an ordinary file")
        return file.read(FILE_LIMIT + 1)


def read_line(line: bytes, *, number: int) -> Kept:
    """One recorded exchange.

    Raises:
        ValueError, TypeError, RecursionError: The line was not written by a recorder.
    """
    value: JsonValue = json.loads(line)
    match value:
        case {"request": {"method": str(method), "path": str(path), **rest}, "response": {"end": str(end), **answer}}:
            body = _read_body(rest.get("body"))  # pyright: ignore[reportArgumentType]
        case _:
            raise ValueError("`request` or `response` is missing")
    exchange = Exchange(method=method, path=path, body=body, end=end)
    match answer:
        case {"status": int(status), "headers": dict(headers), "pieces": list(pieces)}:
            exchange = Exchange(
                method=method, path=path, body=body, end=end, status=_status(status),
                headers=tuple(_header(name, text) for name, text in headers.items()),
                pieces=tuple(_bytes(piece) for piece in pieces),
            )  # fmt: skip
        case _ if answer:
            raise ValueError("`response` lacks its status, headers or pieces")
        case _:
            pass
    return Kept(exchange=exchange, key=(method, path, canonical(body)), number=number)


def _status(status: int) -> int:
    if not 200 <= status < 600:
        raise ValueError(f"the status {status}")
    return status


def _header(name: object, text: object) -> tuple[str, str]:
    if not isinstance(name, str) or not isinstance(text, str) or not _plain(f"{name}{text}"):
        raise ValueError("a header that is no plain text")
    return name, text


def _plain(text: str) -> bool:
    return text.isascii() and text.isprintable()


def _read_body(value: JsonValue) -> bytes:
    match value:
        case None:
            return b""
        case {"json": found}:
            return json.dumps(found, ensure_ascii=False).encode("utf-8", "replace")
        case {"text": str(text)}:
            return text.encode("utf-8", "replace")
        case _:
            return _bytes(value)


def _bytes(value: object) -> bytes:
    match value:
        case str(text):
            return text.encode("utf-8", "replace")
        case {"base64": str(text)}:
            return b64decode(text, validate=True)
        case _:
            raise ValueError("a piece that is neither text nor base64")


def headers_of(headers: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    """The headers to store."""
    kept = ((name.lower(), value) for name, value in headers.items() if name.lower() in _KEPT_HEADERS)
    return tuple((name, value) for name, value in kept if _plain(value))
