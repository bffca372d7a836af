"""One-shot mode: a process for each request, with one line of input and one line of answer.

Earlier lines of its output are ignored.
"""

from typing import cast

import anyio

from claw_acp.contracts.provider import ChatRequest, ChatResponse
from claw_acp.contracts.provider_setup import ProviderProgram
from claw_acp.core.errors import ProviderError
from claw_acp.process.child_process import ChildProcess
from claw_acp.process.output_tail import OutputTail
from claw_acp.providers.binary.child import DRAIN_SECONDS, STDERR_KEPT, start_plugin
from claw_acp.providers.binary.deadline import Deadline
from claw_acp.providers.binary.failures import Failures
from claw_acp.providers.binary.replies import Reply, Unreadable, read_object, read_reply, read_response
from claw_acp.providers.binary.request import ONLY_ID, chat_params, request_line
from claw_acp.rpc.framing import Frame, LineSplitter, Oversized

ANSWER_LIMIT = 32 * 1024 * 1024  # bytes of the line that holds the answer
LEAVING_SECONDS = 0.5  # from the end of its output to its own end; past that it is ended
STDOUT_KEPT = 64 * 1024  # bytes; what a failed program printed, where it did not complain on stderr


_PIECE = b'"chat/delta"'


class Printed:
    """The output of a one-shot program: the last line that is not blank, and for errors the end of the output.

    `streams` is set if it held pieces of an answer, which only session plugins write.
    """

    def __init__(self, *, limit: int = ANSWER_LIMIT) -> None:
        self._splitter = LineSplitter(limit=limit)
        self._tail = OutputTail(limit=STDOUT_KEPT)
        self._last: Frame | None = None
        self.streams = False

    def add(self, data: bytes) -> None:
        """Add a chunk."""
        self._tail.add(data)
        for frame in self._splitter.feed(data):
            self._last = frame
            self.streams = self.streams or (isinstance(frame, bytes) and _PIECE in frame)

    def last_line(self) -> Frame | None:
        """The answer, once the output is over; None if there were only blank lines."""
        for frame in self._splitter.finish():
            self._last = frame
        return self._last

    def end(self) -> str:
        """The end of the output, as text."""
        return self._tail.text(ended=True)


async def ask_once(
    program: ProviderProgram, request: ChatRequest, *, failures: Failures, deadline: Deadline
) -> tuple[ChatResponse, Printed]:
    """Start the program, send the request, and return its answer and output. Processes it started are ended with it.

    Raises:
        ProviderError: One of the ten kinds that `Failures` has.
    """
    asked = request_line("chat", chat_params(request, provider=failures.name), request_id=ONLY_ID, failures=failures)
    with deadline.kept():
        run = _Run(await start_plugin(program, failures=failures))
        await run.hear(asked)
        return run.answer(failures=failures), run.printed
    raise AssertionError("a deadline that has passed is an error")  # pragma: no cover


class _Run:
    """One run of a program."""

    def __init__(self, child: ChildProcess) -> None:
        self.printed = Printed()
        self._child = child
        self._complaints = OutputTail(limit=STDERR_KEPT)
        self._code: int | None = None
        self._write_error: OSError | None = None
        self._read_error: OSError | None = None
        self._listening = anyio.CancelScope()

    async def hear(self, asked: bytes) -> None:
        """Send the request, read the output to its end, then end what it started."""
        try:
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(self._child.drain_stderr, self._complaints.add)
                tasks.start_soon(self._ask, asked)
                tasks.start_soon(self._stop_listening_after_its_end)
                await self._listen()
                with anyio.move_on_after(LEAVING_SECONDS):
                    await self._child.wait_for_output(within=DRAIN_SECONDS)
                self._code = self._child.exit_code
                tasks.cancel_scope.cancel()
        finally:
            await self._child.end(terminate=0)

    async def _ask(self, asked: bytes) -> None:
        assert self._child.stdin is not None
        try:
            await self._child.stdin.send(asked)
        except anyio.BrokenResourceError as error:  # how it ended, and with which words, is told elsewhere
            self._write_error = cast("OSError", error.__cause__)
        self._child.stdin.close()

    async def _listen(self) -> None:
        assert self._child.stdout is not None
        try:
            with self._listening:
                async for data in self._child.stdout:
                    self.printed.add(data)
        except anyio.BrokenResourceError as error:
            self._read_error = cast("OSError", error.__cause__)

    async def _stop_listening_after_its_end(self) -> None:
        """Stop reading after its end, as a process that it started may hold its output open."""
        await self._child.wait_for_output(within=DRAIN_SECONDS)
        self._listening.cancel()

    def answer(self, *, failures: Failures) -> ChatResponse:
        """The answer in the output.

        Raises:
            ProviderError: There is none.
        """
        last = self.printed.last_line()
        reply = _reply(last, failures=failures)
        if isinstance(reply, Reply) and reply.error is not None:
            raise reply.error.to_error(failures)
        if self._code:
            raise failures.exited(self._code, said=self._complaints.text(ended=True).strip() or self.printed.end())
        if self._read_error is not None:
            raise failures.process_error(self._read_error) from self._read_error
        if reply is None and self._write_error is not None:
            raise failures.unwritten(self._write_error) from self._write_error
        if reply is None:
            raise failures.no_output()
        if isinstance(reply, ProviderError):
            raise reply
        if reply.result is None:
            raise failures.neither()
        try:
            return read_response(reply.result)
        except Unreadable as error:
            raise failures.invalid(str(error), raw=_text(last)) from error


def _reply(last: Frame | None, *, failures: Failures) -> Reply | ProviderError | None:
    """The response, or the reason there is none; None for empty output."""
    match last:
        case None:
            return None
        case Oversized():
            return failures.too_long(ANSWER_LIMIT)
        case frame:
            try:
                return read_reply(read_object(frame))
            except Unreadable as error:
                return failures.invalid(str(error), raw=_text(frame))


def _text(frame: Frame | None) -> str:
    return frame[:4096].decode("utf-8", "replace") if isinstance(frame, bytes) else ""
