"""JSON-RPC for tests: any bytes out, every frame in recorded and judged.

It shares nothing with the product's own peer, so that a fault there cannot hide here.
"""

import json
import signal
from collections.abc import Callable
from contextlib import suppress
from typing import Any, cast

import anyio
from anyio.abc import TaskGroup

from tests.support.editors.exchange import Call, Frame, Json, RpcFailure
from tests.support.judges.official_schema import Breach, Judge
from tests.support.program.agent_process import TIMEOUT, AgentProcess

SHOWN = 30  # frames shown when something fails


class RawClient:
    """One connection to a program under test.

    Attributes:
        transcript: Every frame, both ways, in the order this side saw them.
        stray: Answers without a request of ours (those with a null id).
        incidents_expected: Whether the test makes the program log a traceback.
        over: Whether the program's end was awaited.
    """

    def __init__(self, process: AgentProcess, *, judge: Judge) -> None:
        self.process = process
        self.transcript: list[Frame] = []
        self.stray: list[Json] = []
        self.incidents_expected = False
        self.over = False
        self._judge = judge
        self._calls: dict[tuple[type, object], list[Call]] = {}
        self._last_id = 0
        self._news = anyio.Event()
        self._ended = False

    # ------------------------------------------------------------------ calls

    async def start(self, method: str, params: Any = None, **envelope: Any) -> Call:
        """Send a request and do not wait; `id` may be given."""
        self._last_id += 1
        message: Json = {"jsonrpc": "2.0", "id": envelope.get("id", self._last_id), "method": method}
        if params is not None:
            message["params"] = params
        call = Call(
            id=message["id"],
            method=method,
            params=cast("Json", params) if isinstance(params, dict) else {},
            begin=len(self.transcript),
            transcript=self.transcript,
            wait=self.wait_for,
        )
        self._calls.setdefault(_key(message["id"]), []).append(call)
        await self.send(message)
        return call

    async def request(self, method: str, params: Any = None, **envelope: Any) -> Any:
        """Send a request and wait for its result.

        Raises:
            RpcFailure: It was answered with an error.
        """
        return await (await self.start(method, params, **envelope)).result()

    async def failing(self, method: str, params: Any = None, **envelope: Any) -> RpcFailure:
        """Send a request that must be answered with an error."""
        return await (await self.start(method, params, **envelope)).failure()

    async def notify(self, method: str, params: Any = None) -> None:
        """Send a notification."""
        await self.send({"jsonrpc": "2.0", "method": method} | ({} if params is None else {"params": params}))

    async def send(self, message: Json) -> None:
        """Send one frame."""
        await self.send_bytes(json.dumps(message).encode() + b"\n")

    async def send_bytes(self, data: bytes) -> None:
        """Send any bytes. Complete lines of JSON are recorded."""
        for line in data.split(b"\n"):
            with suppress(ValueError, RecursionError):
                message = json.loads(line.decode("utf-8", "replace").lstrip("\ufeff")) if line.strip() else None
                self._note(message)
        await self.process.write(data)

    def _note(self, message: object) -> None:
        if not isinstance(message, dict):
            return
        frame = cast("Json", message)
        self.transcript.append(Frame("->", frame))
        is_answer = "result" in frame or isinstance(frame.get("error"), dict)
        if "id" in frame and "method" not in frame and not is_answer:
            self.expect_answer(frame["id"], "")  # neither a request nor an answer, and still to be refused by its id
        else:
            self._judge.client_sent(frame)

    def expect_answer(self, request_id: object, method: str, params: Json | None = None) -> None:
        """Announce a request to the judge that is sent in pieces, which only the program can join."""
        self._judge.client_sent({"jsonrpc": "2.0", "id": request_id, "method": method, "params": params or {}})

    # ------------------------------------------------------------------ waiting and looking

    async def wait_for(self, condition: Callable[[], object], what: str) -> None:
        """Wait until a condition holds; it is checked after every frame."""
        with anyio.move_on_after(TIMEOUT):
            while not condition():
                if self._ended:
                    raise AssertionError(f"the agent's output ended before {what}\n{self.report()}")
                await self._news.wait()
            return
        raise AssertionError(f"after {TIMEOUT:g} s there is still not {what}\n{self.report()}")

    def received(self, method: str | None = None) -> list[Json]:
        """Frames of the agent, or only its calls of one method."""
        frames = [frame.message for frame in self.transcript if frame.way == "<-"]
        return frames if method is None else [frame for frame in frames if frame.get("method") == method]

    def updates(self, kind: str | None = None, *, session: str | None = None) -> list[Json]:
        """All updates so far, of one kind and one session if given."""
        found = [frame["params"] for frame in self.received("session/update")]
        updates = [item["update"] for item in found if session is None or item["sessionId"] == session]
        return [update for update in updates if kind is None or update["sessionUpdate"] == kind]

    def report(self) -> str:
        """The transcript, for people."""
        lines = [f"{frame.way} {json.dumps(frame.message)[:600]}" for frame in self.transcript]
        skipped = [f"({len(lines) - SHOWN} frames before)"] if len(lines) > SHOWN else []
        return "\n".join([*skipped, *lines[-SHOWN:], f"stderr:\n{self.process.stderr()[-4000:]}"])

    # ------------------------------------------------------------------ reading

    async def read(self, tasks: TaskGroup) -> None:
        """Handle the program's output until its end; its requests are served in `tasks`."""
        rest = b""
        while data := await self.process.read():
            *lines, rest = (rest + data).split(b"\n")
            for line in lines:
                self._take(line, tasks)
            self._tell()
        if rest and not self.over:
            raise Breach(f"the output ended in the middle of a frame: {rest[:1000]!r}")
        self._ended = True
        self._tell()

    def _tell(self) -> None:
        self._news.set()
        self._news = anyio.Event()

    def _take(self, line: bytes, tasks: TaskGroup) -> None:
        try:
            message = json.loads(line.decode("utf-8"), parse_constant=_refuse)
        except ValueError as error:
            raise Breach(f"stdout carries something that is no JSON ({error}): {line[:1000]!r}") from error
        self._judge.agent_sent(message)
        self.transcript.append(Frame("<-", message))
        if "method" in message:
            if "id" in message:
                tasks.start_soon(self.serve_call, message)
            return
        waiting = self._calls.get(_key(message["id"]))
        if not waiting:
            self.stray.append(message)
            return
        call = waiting.pop(0)
        call.answer, call.end = message, len(self.transcript)

    async def serve_call(self, message: Json) -> None:
        """Handle a request of the agent."""
        raise AssertionError(f"the agent asked for something: {message}")

    # ------------------------------------------------------------------ the end

    async def leave(self) -> None:
        """Close the input; the program must end in time, with code 0, and without remaining processes."""
        self.process.close_stdin()
        await self.gone()

    async def gone(self, *, code: int = 0) -> None:
        """Wait for the end of the program, and check what must hold after any end."""
        ended = await self.process.ended()
        self.over = True
        self.process.resume_reading()
        await self.wait_for(lambda: self._ended, "the end of its output")
        assert ended == code, f"exit code {ended}\n{self.report()}"
        await self.process.childless()
        if not self.incidents_expected:
            assert "Traceback" not in self.process.stderr(), self.process.stderr()

    async def kill(self) -> None:
        """Kill the program at this very moment, as a crash would."""
        self.over = True
        self.process.signal(signal.SIGKILL)
        await self.process.ended()
        await self.wait_for(lambda: self._ended, "the end of its output")


def _key(value: object) -> tuple[type, object]:
    return type(value), value if isinstance(value, str | int | float | None) else json.dumps(value)


def _refuse(name: str) -> float:
    raise ValueError(f"{name} is not JSON")
