"""A connection to one agent, with full control of the bytes sent and a record of all frames."""

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeVar

import anyio
from anyio.abc import TaskGroup

from claw_acp.core.json_value import JsonObject, JsonValue
from claw_acp.verify.client_stub import ClientStub, PermissionAnswer
from claw_acp.verify.frames import Call, Frame, Key, alike, text_of
from claw_acp.verify.process import AgentProcess, Ending
from claw_acp.verify.reading import Reader
from claw_acp.verify.rule import Failed

EXIT_TIMEOUT = 5.0  # seconds from the end of the input to the end of the process; clients kill after about as long
DRAIN_TIMEOUT = 0.5  # seconds for what is still on its way when an agent ends
GRACE = 0.2  # seconds more, in which we read what came while we ourselves were busy
BYTES_KEPT = 256 * 1024 * 1024  # of one agent's output; past that it is taken for endless

_T = TypeVar("_T")


class AgentConnection:
    """One agent and all frames so far. Created by `AgentPool`, which runs it and waits for its end.

    Args:
        process: The agent.
        name: For people.
        root: The directory in which the agent may use our files.
        timeout: Seconds for any one answer.

    Attributes:
        frames: Both directions, in the order this side saw them.
        calls: Our requests.
        offered: The client capabilities of `initialize`; None before that.
        hello: The answer to `initialize`, once it has arrived.
        protocol: The agreed version; 1 until then.
        unreadable: The number of lines sent without a readable id; each may be answered with a null id.
        ending: The end of the process, once it has ended.
        spoiled: Whether it is in a state that must not be used again.
    """

    def __init__(self, process: AgentProcess, *, name: str, root: Path, timeout: float) -> None:
        self.name = name
        self.process = process
        self.client = ClientStub(root)
        self.timeout = timeout
        self.frames: list[Frame] = []
        self.calls: list[Call] = []
        self.offered: JsonObject | None = None
        self.hello: Frame | None = None
        self.protocol = 1
        self.unreadable = 0
        self.ending: Ending | None = None
        self.questions: list[Frame] = []
        self.output_over = False
        self.spoiled = False
        self._open: dict[Key, list[Call]] = {}
        self._answered: dict[Key, Call] = {}
        self._ids = 0
        self._size = 0
        self._outgoing: list[bytes] = []
        self._work = anyio.Event()
        self._written = anyio.Event()
        self._input_broken = False
        self._news = anyio.Event()
        self._may_read = anyio.Event()
        self._may_read.set()
        self._tasks: TaskGroup | None = None
        self._leaving: anyio.Event | None = None

    @property
    def usable(self) -> bool:
        """True if the agent runs and accepts input."""
        return self.ending is None and not self.spoiled and not self.output_over and self.process.exit_code is None

    async def run(self) -> None:
        """Read and write until the process ends or `end` was called."""
        async with anyio.create_task_group() as self._tasks:
            self._tasks.start_soon(self._read)
            self._tasks.start_soon(self._write)
            self._tasks.start_soon(self.process.keep_stderr)

    # ------------------------------------------------------------------ sending

    def call(self, method: str, params: JsonValue = None, **envelope: JsonValue) -> Call:
        """Send a request; `id` may be given, and other members beside it."""
        self._ids += 1
        message: dict[str, JsonValue] = {"jsonrpc": "2.0", "id": self._ids, "method": method}
        if params is not None:
            message["params"] = params
        message |= envelope
        frame = self._record(json.dumps(message).encode(), message)
        return self._expect(frame)

    def notify(self, method: str, params: JsonValue = None) -> Frame:
        """Send a notification."""
        message: dict[str, JsonValue] = {"jsonrpc": "2.0", "method": method}
        if params is not None:
            message["params"] = params
        return self.say(message)

    def say(self, message: JsonObject) -> Frame:
        """Send a message that needs no answer."""
        frame = self._record(json.dumps(message).encode(), message)
        self.post(frame.data + b"\n")
        return frame

    def send_raw(self, data: bytes, *, unreadable: int = 0) -> Frame:
        """Send raw bytes; `unreadable` lines of them may be answered with a null id."""
        self.unreadable += unreadable
        frame = self._record(data.removesuffix(b"\n"), None)
        self.post(data)
        return frame

    def send_call_raw(self, message: JsonObject) -> Call:
        """Record a request whose bytes the caller sends itself."""
        return self._expect(self._record(json.dumps(message).encode(), message), post=False)

    def post(self, data: bytes) -> None:
        """Queue bytes."""
        self._outgoing.append(data)
        self._work.set()

    def answer(self, question: Frame, how: PermissionAnswer) -> Frame | None:
        """Answer a held permission question."""
        self.questions.remove(question)
        answer = self.client.choose(question, how)
        return None if answer is None else self._reply(question, answer)

    def cancel(self, session: str) -> Frame:
        """Send `session/cancel` and, as a client must, answer every open question of the session with `cancelled`."""
        sent = self.notify("session/cancel", {"sessionId": session})
        for question in [held for held in self.questions if text_of(held.params, "sessionId") == session]:
            self.answer(question, "cancelled")
        return sent

    def _reply(self, question: Frame, answer: JsonObject) -> Frame:
        return self.say({"jsonrpc": "2.0", "id": question.object.get("id"), **answer})

    def _record(self, data: bytes, message: JsonValue) -> Frame:
        frame = Frame(way="->", data=data, at=self.process.age, message=message)
        self.frames.append(frame)
        return frame

    def _expect(self, frame: Frame, *, post: bool = True) -> Call:
        request_id = frame.object.get("id")
        call = Call(frame=frame, id=request_id, method=frame.method, params=frame.params)
        frame.call = call
        self.calls.append(call)
        self._open.setdefault(Key.of(request_id), []).append(call)
        if call.method == "initialize" and self.hello is None:
            said = "capabilities" if frame.params.get("protocolVersion") == 2 else "clientCapabilities"
            capabilities = frame.params.get(said)
            self.offered = capabilities if isinstance(capabilities, dict) else {}
        if post:
            self.post(frame.data + b"\n")
        return call

    # ------------------------------------------------------------------ waiting

    async def until(
        self, condition: Callable[[], _T | None], what: str, *, within: float | None = None, shown: Sequence[Frame] = ()
    ) -> _T:
        """Wait until a condition holds; it is checked after every frame.

        Raises:
            Failed: It did not hold in time, or the agent ended first.
        """
        limit = self.timeout if within is None else within
        for seconds in (limit, GRACE):
            with anyio.move_on_after(seconds):
                while True:
                    found = condition()
                    if found is not None and found is not False:
                        return found
                    if self.output_over:
                        raise Failed(f"the agent ended before {what}{self._obituary()}", shown)
                    await self._news.wait()
        raise Failed(f"after {limit:g} s there is still not {what}", shown)

    async def answered(self, call: Call, *, within: float | None = None) -> Frame:
        """The answer to a request.

        Raises:
            Failed: There is none.
        """
        what = f"the answer to {call.method or 'a request'}"
        return await self.until(lambda: call.answers[0] if call.answers else None, what, within=within,
                                shown=[call.frame])  # fmt: skip

    async def ask(self, method: str, params: JsonValue = None, **envelope: JsonValue) -> Frame:
        """Send a request and wait for its answer."""
        return await self.answered(self.call(method, params, **envelope))

    def _obituary(self) -> str:
        words = self.process.last_words.rpartition("\n")[2]
        return f"; it wrote last: {words}" if words else ""

    # ------------------------------------------------------------------ reading

    def pause_reading(self) -> None:
        """Stop reading the agent's output."""
        self._may_read = anyio.Event()

    def go_on_reading(self) -> None:
        """Read again after a pause."""
        self._may_read.set()

    async def _read(self) -> None:
        reader = Reader()
        while self._size < BYTES_KEPT:
            await self._may_read.wait()
            data = await self.process.read()
            self._size += len(data)
            at = self.process.age
            for frame in reader.feed(data, at=at) if data else reader.finish(at=at):
                self._take(frame)
            if not data:
                break
            self._tell()
        self.output_over = True
        self._tell()

    def _tell(self) -> None:
        self._news.set()
        self._news = anyio.Event()

    def _take(self, frame: Frame) -> None:
        self.frames.append(frame)
        if frame.is_answer:
            self._match(frame)
        elif frame.is_request:
            self._serve(frame)

    def _serve(self, frame: Frame) -> None:
        answer = self.client.answer(frame)
        if answer is None:
            self.questions.append(frame)
        else:
            self._reply(frame, answer)

    def _match(self, frame: Frame) -> None:
        """Match an answer with its request; a second answer belongs to it as well."""
        request_id = frame.object.get("id")
        call = self._take_open(Key.of(request_id))
        if call is None and request_id is not None:
            call = self._answered.get(Key.of(request_id)) or self._nearly(request_id)
            frame.inexact = call is not None and not call.answers
        if call is None:
            return
        frame.call = call
        call.answers.append(frame)
        self._answered[Key.of(call.id)] = call
        if call.method == "initialize" and self.hello is None and frame.error is None:
            self.hello = frame
            self.protocol = 2 if frame.result.get("protocolVersion") == 2 else 1

    def _take_open(self, key: Key) -> Call | None:
        """The oldest unanswered request with this id."""
        waiting = self._open.get(key)
        return waiting.pop(0) if waiting else None

    def _nearly(self, request_id: JsonValue) -> Call | None:
        """The request probably meant by an agent that does not preserve ids."""
        for key in alike(request_id):
            if (call := self._take_open(key)) is not None:
                return call
        for key, waiting in self._open.items():  # a large integer that went through a double
            if waiting and isinstance(key.value, int) and request_id == int(float(key.value)):
                return waiting.pop(0)
        return None

    async def _write(self) -> None:
        while not self._input_broken:
            while not self._outgoing:
                self._work = anyio.Event()
                self._written.set()
                await self._work.wait()
            data = b"".join(self._outgoing)
            self._outgoing.clear()
            self._input_broken = not await self.process.write(data)
        self._written.set()

    async def flushed(self) -> None:
        """Wait until the agent's pipe has taken everything that was sent, or is closed."""
        if not self._input_broken and self._outgoing:
            self._written = anyio.Event()
        with anyio.move_on_after(self.timeout):
            await self._written.wait()

    # ------------------------------------------------------------------ the end

    async def end(self, *, how: str = "its input was closed", within: float = EXIT_TIMEOUT) -> Ending:
        """Close the input and wait for the agent's end; only the first call counts.

        Args:
            how: The request to end that came first, if another one did.
            within: Seconds it may take; the timeout, if that is shorter.
        """
        if self._leaving is None:
            self._leaving = anyio.Event()
            try:
                await self._leave(how, min(self.timeout, within))
            finally:
                self._leaving.set()
        await self._leaving.wait()
        return self.ending or Ending(asked=how, seconds=None, code=self.process.exit_code)

    async def _leave(self, how: str, within: float) -> None:
        with anyio.CancelScope(shield=True), anyio.move_on_after(DRAIN_TIMEOUT):
            if not self.output_over:
                await self.flushed()
            await self.process.close_input()
        self.go_on_reading()
        seconds = await self.process.wait(within=within)
        with anyio.move_on_after(DRAIN_TIMEOUT):
            await self.until(lambda: self.output_over, "the end of its output")
        left = await self.process.left() if seconds is not None else ()
        self.ending = Ending(asked=how, seconds=seconds, code=self.process.exit_code, left=left)
        await self.discard()

    async def discard(self) -> None:
        """Kill the agent at once."""
        with anyio.CancelScope(shield=True), anyio.move_on_after(EXIT_TIMEOUT):
            await self.process.kill()
        if self._tasks is not None:
            self._tasks.cancel_scope.cancel()
