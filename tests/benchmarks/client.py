"""A client that does nothing but keep the time: it must not be what is being measured.

Reading is a blocking `os.read` on the only thread, each read is stamped as it returns, and of the frames only answers
are parsed. A watchdog ends an agent that hangs, which the reader then sees as the end of its output.
"""

import json
import os
import subprocess
import threading
import time
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

READ_SIZE = 256 * 1024
LIFETIME = 120.0  # seconds before an agent is taken for hung and killed
EXIT_WITHIN = 5.0  # seconds from the end of its input to its end

UPDATE = b'"method":"session/update"'
CHUNK = b'"agent_message_chunk"'
INITIALIZE: Mapping[str, Any] = {
    "protocolVersion": 1,
    "clientCapabilities": {"fs": {"readTextFile": False, "writeTextFile": False}, "terminal": False},
    "clientInfo": {"name": "benchmarks", "version": "1"},
}


class BenchmarkFailed(Exception):
    """The agent did not do what a row needs."""


class Arrivals(NamedTuple):
    """Whole frames that one read completed, and when it returned, in nanoseconds."""

    at: int
    frames: list[bytes]


class Answer(NamedTuple):
    """A request's result, and when it was sent and answered, in nanoseconds."""

    sent: int
    at: int
    result: Any

    @property
    def took(self) -> int:
        """Nanoseconds from the sending of the request to its answer."""
        return self.at - self.sent


class Agent:
    """A spawned agent. Made by `spawned`."""

    def __init__(self, process: "subprocess.Popen[bytes]", *, started: int) -> None:
        assert process.stdin is not None
        assert process.stdout is not None
        self.pid = process.pid
        self.started = started
        self.arrivals: list[Arrivals] = []
        self._input = process.stdin.fileno()
        self._output = process.stdout.fileno()
        self._rest = b""
        self._last_id = 0
        self._sent: dict[int, int] = {}
        self._answers: dict[int, Answer] = {}

    def send(self, method: str, params: Mapping[str, Any]) -> int:
        """Send a request; returns its id."""
        self._last_id += 1
        frame = {"jsonrpc": "2.0", "id": self._last_id, "method": method, "params": params}
        line = json.dumps(frame, separators=(",", ":")).encode() + b"\n"
        self._sent[self._last_id] = time.perf_counter_ns()
        while line:
            line = line[os.write(self._input, line) :]
        return self._last_id

    def answer(self, request: int) -> Answer:
        """Read until this request is answered.

        Raises:
            BenchmarkFailed: It is answered with an error, or never.
        """
        while request not in self._answers:
            data = os.read(self._output, READ_SIZE)
            now = time.perf_counter_ns()
            if not data:
                raise BenchmarkFailed("the agent ended or hung")
            *frames, self._rest = (self._rest + data).split(b"\n")
            self.arrivals.append(Arrivals(now, frames))
            for frame in frames:
                if UPDATE not in frame:
                    self._take(frame, at=now)
        return self._answers.pop(request)

    def call(self, method: str, params: Mapping[str, Any]) -> Answer:
        """Send a request and read until it is answered."""
        return self.answer(self.send(method, params))

    def _take(self, frame: bytes, *, at: int) -> None:
        message: dict[str, Any] = json.loads(frame)
        if "error" in message or ("method" in message and "id" in message):
            raise BenchmarkFailed(f"unexpected frame: {frame.decode()[:300]}")
        if "result" in message:
            self._answers[message["id"]] = Answer(self._sent.pop(message["id"]), at, message["result"])

    # ------------------------------------------------------------------ the protocol, as far as rows need it

    def initialize(self) -> Answer:
        """The handshake."""
        return self.call("initialize", INITIALIZE)

    def new_session(self, cwd: Path) -> Answer:
        """A new session, in `result["sessionId"]`."""
        return self.call("session/new", {"cwd": str(cwd), "mcpServers": []})

    def load_session(self, session: str, cwd: Path) -> Answer:
        """Open a session made earlier; `arrivals` holds what was replayed."""
        return self.call("session/load", {"sessionId": session, "cwd": str(cwd), "mcpServers": []})

    def start_prompt(self, session: str, text: str) -> int:
        """Send a prompt; returns the request's id."""
        return self.send("session/prompt", {"sessionId": session, "prompt": [{"type": "text", "text": text}]})

    def prompt(self, session: str, text: str) -> Answer:
        """Send a prompt and wait for the end of its turn; `arrivals` is what came meanwhile.

        Raises:
            BenchmarkFailed: The turn did not come to its end.
        """
        self.arrivals.clear()
        return ended(self.answer(self.start_prompt(session, text)))

    def chunks(self) -> list[tuple[int, str]]:
        """When each piece of the answer arrived, and its text."""
        return [
            (at, json.loads(frame)["params"]["update"]["content"]["text"])
            for at, frames in self.arrivals
            for frame in frames
            if CHUNK in frame
        ]


def ended(answer: Answer) -> Answer:
    """`answer`, if it says that the turn came to its end.

    Raises:
        BenchmarkFailed: It does not.
    """
    if answer.result["stopReason"] != "end_turn":
        raise BenchmarkFailed(f"the turn ended with {answer.result}")
    return answer


@contextmanager
def spawned(
    command: Sequence[str], *, env: Mapping[str, str], cwd: Path, log: Path, lifetime: float = LIFETIME
) -> Generator[Agent]:
    """Spawn an agent; at the end its input is closed and it leaves.

    Args:
        command: What to run.
        env: Its whole environment.
        cwd: Where it runs.
        log: Receives what it says on stderr.
    """
    with log.open("ab") as stderr:
        started = time.perf_counter_ns()
        process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=stderr, env=dict(env), cwd=cwd, bufsize=0
        )
    watchdog = threading.Timer(lifetime, process.kill)
    watchdog.daemon = True
    watchdog.start()
    try:
        yield Agent(process, started=started)
        process.communicate(timeout=EXIT_WITHIN)  # closes its input
    except subprocess.TimeoutExpired as error:
        raise BenchmarkFailed(f"the agent was still there {EXIT_WITHIN:g} s after the end of its input") from error
    finally:
        watchdog.cancel()
        process.kill()
        process.communicate()
