"""One-shot mode: a process for each request, which gets one line and leaves one line.

Earlier lines of its output are free for whatever it likes to say.
"""

import anyio

from claw_acp.contracts.provider import ChatRequest, ChatResponse
from claw_acp.contracts.provider_setup import Program
from claw_acp.core.errors import ProviderError
from claw_acp.providers.binary.child import Child, start_child
from claw_acp.providers.binary.deadline import Deadline
from claw_acp.providers.binary.failures import Failures
from claw_acp.providers.binary.replies import Reply, Unreadable, read_object, read_reply, read_response
from claw_acp.providers.binary.request import ONLY_ID, chat_params, request_line
from claw_acp.rpc.framing import Frame, LineSplitter, Oversized
from claw_acp.workspace.output_tail import OutputTail

ANSWER_LIMIT = 32 * 1024 * 1024  # bytes of the line that holds the answer
LEAVING_SECONDS = 0.5  # from the end of its output to its own end; past that it is ended
STDOUT_KEPT = 64 * 1024  # bytes; what a failed program printed, where it did not complain on stderr


_PIECE = b'"chat/delta"'


class Printed:
    """What a one-shot program has printed: the last line that is not blank, and for errors the end of it all.

    `streams` says that there were pieces of an answer, as only session plugins write them.
    """

    def __init__(self, *, limit: int = ANSWER_LIMIT) -> None:
        self._splitter = LineSplitter(limit=limit)
        self._tail = OutputTail(limit=STDOUT_KEPT)
        self._last: Frame | None = None
        self.streams = False

    def add(self, data: bytes) -> None:
        """Take what came next."""
        self._tail.add(data)
        for frame in self._splitter.feed(data):
            self._last = frame
            self.streams = self.streams or (isinstance(frame, bytes) and _PIECE in frame)

    def last_line(self) -> Frame | None:
        """The answer, once the output is over; None when there was nothing but blank lines."""
        for frame in self._splitter.finish():
            self._last = frame
        return self._last

    def end(self) -> str:
        """The end of the output, as text."""
        return self._tail.text(ended=True)


async def ask_once(
    program: Program, request: ChatRequest, *, failures: Failures, deadline: Deadline
) -> tuple[ChatResponse, Printed]:
    """Start the program, ask, and hear its answer, which comes with all it printed. What it started is ended with it.

    Raises:
        ProviderError: One of the ten kinds that `Failures` has.
    """
    asked = request_line("chat", chat_params(request, provider=failures.name), request_id=ONLY_ID, failures=failures)
    with deadline.kept():
        child = await start_child(program, failures=failures)
        printed = Printed()
        try:
            child.send(asked)
            child.end_input()
            while not (child.gone or child.silent):
                printed.add(await child.step())
            with anyio.move_on_after(LEAVING_SECONDS):
                while not child.gone:
                    printed.add(await child.step())
            code = child.exit_code
        finally:
            await child.destroy()
        return _answer(printed, code=code, child=child, failures=failures), printed
    raise AssertionError("a deadline that has passed is an error")  # pragma: no cover


def _answer(printed: Printed, *, code: int | None, child: Child, failures: Failures) -> ChatResponse:
    last = printed.last_line()
    reply = _reply(last, failures=failures)
    if isinstance(reply, Reply) and reply.error is not None:
        raise reply.error.to_error(failures)
    if code:
        raise failures.exited(code, said=child.complaints.strip() or printed.end())
    if child.read_error is not None:
        raise failures.process_error(child.read_error) from child.read_error
    if reply is None and child.write_error is not None:
        raise failures.unwritten(child.write_error) from child.write_error
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
    """The response, or why there is none; None when nothing was said."""
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
