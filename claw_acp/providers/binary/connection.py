"""JSON-RPC with a plugin that stays: many requests under way, their answers in any order, pieces of them before.

There is no task behind it. Whoever waits for an answer reads for everybody, and hands that work on when it has what it
wanted; while nobody waits, the program waits in its pipe. So nothing has to be supervised between two requests, and no
piece of an answer is handed from task to task.
"""

import logging
import re
from collections.abc import Mapping
from itertools import count

import anyio

from claw_acp.contracts.provider import TextChunk, ThoughtChunk
from claw_acp.core.errors import ProviderError
from claw_acp.core.json_value import JsonObject, JsonValue
from claw_acp.providers.binary.child import Child
from claw_acp.providers.binary.failures import Failures, again
from claw_acp.providers.binary.replies import Reply, Unreadable, read_object, read_reply
from claw_acp.providers.binary.request import line, request_line
from claw_acp.providers.transport.surrogates import Pairs
from claw_acp.rpc.framing import Frame, LineSplitter, Oversized

ANSWER_LIMIT = 32 * 1024 * 1024  # bytes of one line, and of all pieces of one answer
REFUSALS_LIMIT = 1024 * 1024  # bytes of unread refusals to a plugin that asks us things; more are dropped
CANCEL_SECONDS = 1.0  # for a plugin to stop work that nobody wants any more
DYING_SECONDS = 0.5  # from the end of its output to its own end; past that it is ended
LAST_LOOKS = 4  # at what it left in its pipe, which holds as much as one look takes
SHUTDOWN_SECONDS = 2.0  # for a plugin to say goodbye and go

METHOD_NOT_FOUND = -32601

_ANSWER = re.compile(rb'\s*\{\s*(?:"jsonrpc"\s*:\s*"2\.0"\s*,\s*)?"id"\s*:\s*(\d{1,18})\s*,\s*"(?:result|error)"')

log = logging.getLogger(__name__)

Piece = TextChunk | ThoughtChunk


class Call:
    """One request to a plugin, and what was said to it so far. A `strict` one fails with the first strange line."""

    def __init__(self, call_id: int, sent: bytes) -> None:
        self.id = call_id
        self.sent = sent
        self.reply: Reply | None = None
        self.raw = b""
        self.failure: ProviderError | None = None
        self.unwanted = False
        self.stubborn = False
        self.strict = False
        self.woken = anyio.Event()
        self.heard = 0  # bytes of pieces
        self._pieces: list[Piece] = []
        self._pairs: Mapping[type[Piece], Pairs] = {TextChunk: Pairs(), ThoughtChunk: Pairs()}

    @property
    def settled(self) -> bool:
        """Whether there is nothing more to wait for."""
        return self.reply is not None or self.failure is not None

    @property
    def has_news(self) -> bool:
        """Whether there is something that was not taken yet."""
        return self.settled or bool(self._pieces)

    def add(self, piece: Piece) -> None:
        """One more piece of the answer; adjacent ones that nobody has taken yet travel together."""
        text = self._pairs[type(piece)].feed(piece.text)
        if text:
            self._pieces.append(piece if text is piece.text else type(piece)(text=text))

    def take(self) -> list[Piece]:
        """The pieces that came since the last time, adjacent ones of a kind as one."""
        pieces, self._pieces = self._pieces, []
        if len(pieces) < 2:
            return pieces
        joined: list[Piece] = []
        texts: list[str] = []
        for piece in pieces:
            if joined and type(piece) is not type(joined[-1]):
                joined[-1] = type(joined[-1])(text="".join(texts))
                texts = []
            if not texts:
                joined.append(piece)
            texts.append(piece.text)
        joined[-1] = type(joined[-1])(text="".join(texts))
        return joined

    def wake(self) -> None:
        """There is news, or reading to be done."""
        self.woken.set()


class Connection:
    """A running plugin and the requests to it.

    Attributes:
        lost: Why there will be no more answers; None while there may be.
        crashed: Whether that was the plugin's own doing.
        introduced: Whether it is known to speak the protocol; before that, what it says is hardly strange.
    """

    def __init__(self, child: Child, *, failures: Failures) -> None:
        self.lost: ProviderError | None = None
        self.crashed = False
        self.introduced = False
        self._child = child
        self._failures = failures
        self._splitter = LineSplitter(limit=ANSWER_LIMIT)
        self._ids = count(1)
        self._calls: dict[int, Call] = {}
        self._waiting: dict[int, Call] = {}
        self._reading = False
        self._leaving = False
        self._stray: dict[str, int] = {}

    def check(self) -> bool:
        """Whether it can be asked; one that ended while nobody listened cannot."""
        if self.lost is None and not self._reading:
            self._feed(self._child.poll())
            if self._child.silent or self._child.exit_code is not None:
                self._lose_crashed()
        return self.lost is None and not self._leaving

    # ------------------------------------------------------------------ requests

    def call(self, method: str, params: JsonObject) -> Call:
        """Send a request. It must be waited for, or given up.

        Raises:
            ProviderError: The plugin is lost, or the request cannot be said in JSON.
        """
        if self.lost is not None:
            raise again(self.lost)
        if self._leaving:
            raise self._failures.closed()
        return self._send(method, params)

    def _send(self, method: str, params: JsonObject) -> Call:
        call_id = next(self._ids)
        call = Call(call_id, request_line(method, params, request_id=call_id, failures=self._failures))
        self._calls[call_id] = call
        self._child.send(call.sent)
        return call

    async def wait(self, call: Call) -> None:
        """Wait until a call has news; meanwhile read for all, unless another does."""
        self._waiting[call.id] = call
        try:
            while not call.has_news:
                if self._reading:
                    await call.woken.wait()
                    call.woken = anyio.Event()
                else:
                    await self._read()
        finally:
            del self._waiting[call.id]
            if not self._reading:
                self._wake_reader()

    def _wake_reader(self) -> None:
        """Somebody who waits must read. One cancelled in this very moment wakes the next."""
        for call in self._waiting.values():
            call.wake()
            return

    async def give_up(self, call: Call) -> None:
        """A call that nobody waits for any more: have the plugin stop it. Takes `CANCEL_SECONDS` at most.

        A plugin that does not stop is ended, once nothing else runs on it.
        """
        if call.id in self._calls and not self._child.unsend(call.sent):
            call.unwanted = True
            call.failure = None  # it is still under way there, whatever was wrong with it
            params: JsonObject = {"requestId": call.id}
            self._child.send(request_line("$/cancel_request", params, request_id=None, failures=self._failures))
            with anyio.move_on_after(CANCEL_SECONDS, shield=True):
                while not call.settled:
                    await self.wait(call)
                    call.take()
            call.stubborn = not call.settled
        if not call.stubborn:
            self._calls.pop(call.id, None)
        calls = self._calls.values()
        if calls and all(call.stubborn for call in calls):
            log.warning("provider plugin does not stop, and is ended", extra={"provider": self._failures.name})
            await self.abandon()

    # ------------------------------------------------------------------ reading

    async def _read(self) -> None:
        self._reading = True
        try:
            printed = await self._child.step()
            if self.lost is not None:
                return
            self._feed(printed)
            if self._child.silent or self._child.exit_code is not None:
                await self._bury()
        except anyio.ClosedResourceError:  # it was ended while we read
            pass
        finally:
            self._reading = False

    async def _bury(self) -> None:
        """Hear its last words, then fail what is under way."""
        with anyio.move_on_after(DYING_SECONDS):
            while not self._child.gone:
                self._feed(await self._child.step())
        for _ in range(LAST_LOOKS):  # a busy machine may have left no time for it
            self._feed(self._child.poll())
        for frame in self._splitter.finish():
            self._take(frame)
        if self.lost is None:
            self._lose_crashed()
        await self._child.destroy()

    def _lose_crashed(self) -> None:
        code, said = self._child.exit_code, self._child.complaints
        self.crashed = True
        self._lose(self._failures.hung_up(said=said) if code is None else self._failures.left(code, said=said))

    def _lose(self, error: ProviderError) -> None:
        self.lost = error
        self._child.let_go()
        extra = {
            "provider": self._failures.name,
            "pid": self._child.pid,
            "reason": error.message,
            "stray": sum(self._stray.values()),
        }
        log.info("provider plugin ended", extra=extra)
        for call in [*self._calls.values()]:
            self._fail(call, again(error))
        self._calls.clear()

    def _fail(self, call: Call, error: ProviderError) -> None:
        if not call.settled:
            call.failure = error
        call.wake()

    def _feed(self, printed: bytes) -> None:
        for frame in self._splitter.feed(printed):
            self._take(frame)

    def _take(self, frame: Frame) -> None:
        if isinstance(frame, Oversized):
            self._take_oversized(frame)
            return
        try:
            message = read_object(frame)
        except Unreadable as error:
            self._take_unreadable(frame, why=str(error))
            return
        if "method" not in message:
            self._take_reply(message, frame)
        elif message.get("id") is not None:
            self._refuse(message)
        elif message["method"] == "chat/delta":
            self._take_delta(message.get("params"), frame)

    def _take_unreadable(self, frame: bytes, *, why: str) -> None:
        """An answer that says first whose it is ends its call; everything else is only strange."""
        found = _ANSWER.match(frame)
        call = self._calls.pop(int(found[1]), None) if found else None
        if call is None:
            self._note_stray(why, frame)
        else:
            self._fail(call, self._failures.invalid(why, raw=frame[:4096].decode("utf-8", "replace")))

    def _take_oversized(self, frame: Oversized) -> None:
        call_id = frame.id_json or b""
        call = self._calls.pop(int(call_id), None) if frame.is_response and call_id.isdigit() else None
        if call is None:
            self._note_stray("a line too long", b"")
        else:
            self._fail(call, self._failures.too_long(ANSWER_LIMIT))

    def _take_reply(self, message: JsonObject, frame: bytes) -> None:
        call_id = message.get("id")
        if call_id is None and message.get("error") is not None and len(self._calls) == 1:
            (call_id,) = self._calls  # it could not even read our id, and only one can be meant
        call = self._calls.pop(call_id, None) if type(call_id) is int else None
        if call is None:
            self._note_stray("an answer to nothing", frame)
            return
        call.raw = frame
        try:
            reply = read_reply(message)
        except Unreadable as error:
            self._fail(call, self._failures.invalid(str(error), raw=frame[:4096].decode("utf-8", "replace")))
            return
        if not call.settled:
            call.reply = reply
        call.wake()

    def _take_delta(self, params: JsonValue, frame: bytes) -> None:
        delta = params if isinstance(params, dict) else {}
        call_id, text = delta.get("requestId"), delta.get("text")
        call = self._calls.get(call_id) if type(call_id) is int else None
        if call is None:
            self._note_stray("a piece of no answer", frame)
            return
        kind = _PIECES.get(str(delta.get("type")))
        if kind is None or call.unwanted or not isinstance(text, str) or not text:
            return  # calls of tools are taken from the result, which is whole
        call.heard += len(frame)
        if call.heard > ANSWER_LIMIT:
            self._fail(call, self._failures.too_long(ANSWER_LIMIT))
            return
        call.add(kind(text=text))
        call.wake()

    def _refuse(self, message: JsonObject) -> None:
        error: JsonObject = {"code": METHOD_NOT_FOUND, "message": "this host offers no methods"}
        if self._child.backlog < REFUSALS_LIMIT:
            self._child.send(line({"jsonrpc": "2.0", "id": message["id"], "error": error}))

    def _note_stray(self, what: str, frame: bytes) -> None:
        """Log the first of each kind; whoever writes one such line often writes thousands."""
        self._stray[what] = self._stray.get(what, 0) + 1
        shown = self._failures.clean(frame[:400].decode("utf-8", "replace"), limit=200)
        if self._stray[what] == 1:
            log.log(
                logging.WARNING if self.introduced else logging.INFO,
                "provider plugin said something strange",
                extra={"provider": self._failures.name, "what": what, "line": shown},
            )
        for call in [call for call in self._calls.values() if call.strict]:
            self._fail(call, self._failures.no_session(f"it wrote a line that is no answer ({what}): {shown}"))

    # ------------------------------------------------------------------ the end

    async def abandon(self) -> None:
        """End it at once; what is under way fails."""
        if self.lost is None:
            self._lose(self._failures.closed())
        await self._child.destroy()

    async def aclose(self) -> None:
        """Say goodbye, and end it; what is still under way fails. Cancelled, it is ended at once."""
        if self.lost is not None or self._leaving:
            return
        self._leaving = True
        for call in self._calls.values():
            self._fail(call, self._failures.closed())
        self._calls.clear()
        try:
            with anyio.move_on_after(SHUTDOWN_SECONDS):
                goodbye = self._send("shutdown", {})
                while not goodbye.settled:
                    await self.wait(goodbye)
                self._child.end_input()
                while self._child.exit_code is None and self.lost is None:
                    await self._child.step()
            await self._child.terminate()
        finally:
            self.lost = self.lost or self._failures.closed()
            await self._child.destroy()


_PIECES: dict[str, type[Piece]] = {"text": TextChunk, "thought": ThoughtChunk}
