"""Forwarding between an editor and an agent's process, in both directions at once, until the editor leaves."""

import json
import os
import select
import stat
import time
from collections.abc import Mapping
from typing import Final

from claw_acp.acp.boot import Opening
from claw_acp.acp.bridge.agent import Agent, next_agent, running_hub
from claw_acp.acp.bridge.traffic import ENDING, Traffic
from claw_acp.rpc.framing import Frame, Oversized
from claw_acp.rpc.message import INVALID_REQUEST, error_line

READ_SIZE: Final = 256 * 1024
FULL: Final = 1024 * 1024  # bytes that one side has not taken before nothing more is read for it
DRAIN_TIMEOUT: Final = 2.5  # seconds for the agent's last frames after the editor has left; it needs two at most
STARTS: Final = 5  # agents in a row that end without a frame before the bridge gives up


def bridge(opening: Opening) -> int | None:
    """Serve the editor through the running hub, until it leaves. Returns the exit code; None if there is no hub."""
    agent = running_hub(os.environ)
    return None if agent is None else Bridge(opening, agent, environ=os.environ).run()


class _Output:
    """Output to a descriptor, which never waits for its reader."""

    def __init__(self, fd: int) -> None:
        self.fd = fd
        self.waiting = bytearray()
        mode = os.fstat(fd).st_mode
        if stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode):
            os.set_blocking(fd, False)

    def write(self, data: bytes) -> None:
        """Write what can be written now; the rest waits.

        Raises:
            OSError: Nobody reads any more.
        """
        self.waiting += data
        while self.waiting:
            try:
                del self.waiting[: os.write(self.fd, self.waiting)]
            except BlockingIOError:
                return


class Bridge:
    """One editor and the agent's process that serves it now.

    Args:
        opening: The editor's stream as far as it was read, and the handshake if it was answered.
        agent: The agent's process.
        environ: The environment, for the next one.
    """

    def __init__(self, opening: Opening, agent: Agent, *, environ: Mapping[str, str]) -> None:
        self._environ = environ
        self._input_fd = opening.input_fd
        self._splitter = opening.splitter
        self._early = opening.frames
        self._traffic = Traffic(None if opening.answered is None else opening.answered.frame)
        self._editor = _Output(opening.output_fd)
        self._editor_left = False
        self._silent = 0
        self._connect(agent)

    def run(self) -> int:
        """Forward until the editor leaves; returns the exit code."""
        try:
            until = float("inf")
            while time.monotonic() < until:
                events = self._events()
                if self._agent.input_fd in events and not self._read_agent():
                    break
                if self._input_fd in events and self._may_read_editor():  # behind the end of an agent, for the next
                    self._read_editor()
                if self._editor.waiting:
                    self._editor.write(b"")
                if self._agent_output.waiting:
                    self._write_agent(b"")
                if self._editor_left and until == float("inf"):
                    until = time.monotonic() + DRAIN_TIMEOUT
        except BrokenPipeError:
            pass  # the editor does not read any more
        self._agent.close()
        return 0

    def _connect(self, agent: Agent) -> None:
        self._agent = agent
        self._agent_output = _Output(agent.output_fd)
        self._heard = False
        self._partial: list[bytes] = []
        self._held, self._reopened = True, False
        os.set_blocking(agent.input_fd, False)
        self._write_agent(self._traffic.initializing())
        self._go_on()

    def _go_on(self) -> None:
        """Take the next step after a connection: open the sessions, then send what had to wait."""
        if not self._held or not self._traffic.ready:
            return
        if not self._reopened:
            self._reopened = True
            self._write_agent(self._traffic.reopening())
            self._go_on()
            return
        self._held = False
        self._write_agent(self._traffic.again())
        early, self._early = self._early, []
        self._to_agent(early)

    def _events(self) -> set[int]:
        """Wait until something can be read or written; the descriptors that can be read."""
        poll = select.poll()
        interests: dict[int, int] = {}

        def want(fd: int, event: int, wanted: bool) -> None:  # noqa: FBT001 - one line each below
            if wanted:
                interests[fd] = interests.get(fd, 0) | event

        want(self._input_fd, select.POLLIN, self._may_read_editor())
        want(self._agent.input_fd, select.POLLIN, len(self._editor.waiting) < FULL)
        want(self._editor.fd, select.POLLOUT, bool(self._editor.waiting))
        want(self._agent_output.fd, select.POLLOUT, bool(self._agent_output.waiting))
        for fd, events in interests.items():
            poll.register(fd, events)
        readable = select.POLLIN | select.POLLHUP | select.POLLERR
        found = poll.poll(DRAIN_TIMEOUT * 1000 if self._editor_left else None)
        return {fd for fd, event in found if event & readable and interests[fd] & select.POLLIN}

    # ------------------------------------------------------------------ the editor

    def _may_read_editor(self) -> bool:
        return not (self._held or self._editor_left) and len(self._agent_output.waiting) < FULL

    def _read_editor(self) -> None:
        try:
            data = os.read(self._input_fd, READ_SIZE)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        if data:
            self._to_agent(self._splitter.feed(data))
            return
        self._to_agent(self._splitter.finish())
        self._editor_left = True
        if not self._agent_output.waiting:
            self._agent.end_output()

    def _to_agent(self, frames: list[Frame]) -> None:
        lines: list[bytes] = []
        for frame in frames:
            if not isinstance(frame, Oversized):
                lines.append(self._traffic.to_agent(frame))
            elif not frame.is_response:
                request_id = None if frame.id_json is None else json.loads(frame.id_json)
                reason = f"Invalid request: {frame.size} bytes are too many"
                self._editor.write(error_line(request_id, INVALID_REQUEST, reason))
        self._write_agent(b"".join(lines))

    # ------------------------------------------------------------------ the agent

    def _write_agent(self, data: bytes) -> None:
        try:
            self._agent_output.write(data)
        except OSError:
            self._agent_output.waiting.clear()  # reading tells that it has ended
        if self._editor_left and not self._agent_output.waiting:
            self._agent.end_output()

    def _read_agent(self) -> bool:
        """Forward its frames. False at the end of everything."""
        try:
            data = os.read(self._agent.input_fd, READ_SIZE)
        except BlockingIOError:
            return True
        except OSError:
            data = b""
        if not data:
            return self._replace_agent()
        self._heard = True
        whole, newline, rest = data.rpartition(b"\n")
        if not newline:
            self._partial.append(data)
        else:
            lines = [line + b"\n" for line in b"".join((*self._partial, whole)).split(b"\n")]
            self._partial = [rest]
            ends = ENDING in lines
            if ends:
                del lines[lines.index(ENDING) :]
            self._editor.write(b"".join(map(self._traffic.to_editor, lines)))
            if ends:
                return self._replace_agent()
            self._go_on()
        return True

    def _replace_agent(self) -> bool:
        """Answer what the agent that ended was asked, and connect to another one. False if that is of no use."""
        if self._editor_left:
            return False
        self._agent.close()
        self._editor.write(self._traffic.lost())
        self._silent = 0 if self._heard else self._silent + 1
        if self._silent > STARTS:
            self._editor.write(self._traffic.over())
            os.write(2, b"claw-acp: its processes end as soon as they start; the log says why\n")
            return False
        self._connect(next_agent(self._environ, hub=self._heard))
        return True
