"""A conversation in lines with a program under check: the frames of both sides, and the bounds of waiting."""

import itertools
import json
import os
from collections.abc import Callable, Mapping, Sequence
from typing import Final, Protocol, cast

import anyio

from claw_acp.core.json_value import JsonValue
from claw_acp.core.value import Value
from claw_acp.verify.frames import Frame
from claw_acp.verify.process import AgentProcess
from claw_acp.verify.rule import Failed

LINE_LIMIT: Final = 64 * 1024 * 1024  # bytes; a program that writes more without a line break is out of order


_numbers = itertools.count(1)


class Settings(Value):
    """The settings of a run.

    Attributes:
        command: The program and its arguments.
        env: Its environment.
        timeout: Seconds for any one answer.
    """

    command: tuple[str, ...]
    env: Mapping[str, str]
    timeout: float


class LineConversation:
    """The frames of one run.

    Args:
        process: The program.
        timeout: Seconds for any one answer.

    Attributes:
        frames: All frames so far.
    """

    def __init__(self, process: AgentProcess, *, timeout: float) -> None:
        self.frames: list[Frame] = []
        self._process = process
        self._timeout = timeout
        self._read = b""
        self._over = False

    async def write(self, data: bytes, *, unread: bool = False) -> None:
        """Send bytes; with `unread` the program may have stopped reading.

        Raises:
            Failed: It does not read them.
        """
        self.frames.append(Frame(way="->", data=data.rstrip(b"\n"), at=self._process.age))
        with anyio.move_on_after(self._timeout) as scope:
            if not await self._process.write(data) and not unread:
                await self._process.fall_silent()
                raise Failed(f"it does not read its input any more{self.words()}", self.frames[-1:])
        if scope.cancelled_caught:
            raise Failed("it does not read its input", self.frames[-1:])

    async def next(self, *, strict: bool = True) -> Frame | None:
        """The next line that is not blank; None at the end. Anything but a JSON object fails if `strict`.

        Raises:
            Failed: Nothing came in time.
        """
        with anyio.move_on_after(self._timeout):
            while (line := await self._line()) is not None:
                if not line.strip():
                    continue
                frame = Frame(way="<-", data=line, at=self._process.age, message=_parsed(line))
                self.frames.append(frame)
                if strict and not isinstance(frame.message, dict):
                    raise Failed("it wrote a line that is no JSON object; logs belong on standard error", [frame])
                return frame
            return None
        raise Failed(f"after {self._timeout:g} s nothing came{self.words()}", self.frames[-2:])

    async def leave(self, seconds: float) -> None:
        """Wait for the end of the program.

        Raises:
            Failed: It goes on, or its exit code is not 0.
        """
        took = await self._process.wait(within=seconds)
        if took is None:
            raise Failed(f"it was still there after {seconds:g} s", self.frames[-2:])
        if self._process.exit_code != 0:
            await self._process.fall_silent()
            raise Failed(f"it ended with exit code {self._process.exit_code}{self.words()}", self.frames[-2:])

    def words(self) -> str:
        """What it wrote last on standard error, as the end of a sentence."""
        return f"; it wrote last: {words}" if (words := self._process.last_words) else ""

    async def _line(self) -> bytes | None:
        while b"\n" not in self._read and not self._over:
            data = await self._process.read()
            self._read += data
            self._over = not data
            if len(self._read) > LINE_LIMIT:
                raise Failed(f"it wrote {len(self._read)} bytes without a line break")
        if not self._read:
            return None
        line, _, self._read = self._read.partition(b"\n")
        return line


def _parsed(line: bytes) -> JsonValue:
    try:
        return cast("JsonValue", json.loads(line.decode()))
    except (ValueError, RecursionError):
        return None


class Playing(Protocol):
    """A conversation that can be played to its end.

    Attributes:
        frames: All frames so far.
    """

    frames: list[Frame]

    async def play(self) -> None:
        """Play it."""
        ...


async def played(settings: Settings, make: Callable[[AgentProcess], Playing]) -> Sequence[Frame]:
    """Start the program, play what `make` returns for it, and end the program; returns all frames.

    Raises:
        CannotStart: The program cannot be started.
        Failed: It broke the rule.
    """
    mark = f"verify-{os.getpid()}-{next(_numbers)}"  # what a program leaves behind is found by it, and ended
    process = await AgentProcess.start(settings.command, env=settings.env, mark=mark)
    conversation = make(process)
    failure: Failed | None = None
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(process.keep_stderr)
        try:
            await conversation.play()
        except Failed as failed:
            failure = Failed(failed.reason, failed.frames or conversation.frames[-2:])
        finally:
            with anyio.CancelScope(shield=True):
                await process.kill()
            tasks.cancel_scope.cancel()
    if failure is not None:
        raise failure
    return conversation.frames
