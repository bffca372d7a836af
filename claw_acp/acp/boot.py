"""The console script. Stage one of the start: answer `initialize` before anything heavy is imported.

An editor waits for this answer, so only `os`, `sys` and `json` come before it. Private copies of stdin and stdout are
taken first; then fd 1 points at stderr and fd 0 at the null device, so that no stray `print`, no warning and no child
process can touch the protocol. Everything but a valid first `initialize` is handed to stage two unchanged. Unusable
descriptors end the process with one sentence on stderr.
"""

import gc
import os
import sys
from collections.abc import Callable, Mapping
from importlib import import_module
from types import ModuleType
from typing import NamedTuple, cast

from claw_acp.acp.handshake import PROTOCOL_VERSION, Handshake, initialize, requested_version
from claw_acp.config.hub_socket import hub_path
from claw_acp.rpc.framing import Frame, LineSplitter
from claw_acp.rpc.message import Request, decode, result_line

READ_SIZE = 64 * 1024

COMMAND_LINE = "claw_acp.cli.main:main"
GUIDE = "claw_acp.cli.guide:main"
SERVER = "claw_acp.acp.server:serve"
BRIDGE = "claw_acp.acp.bridge.forward:bridge"

UNUSED = ("httpx._main", "httpcore._async.http2", "httpcore._sync.http2")


class Answered(NamedTuple):
    """The handshake of stage one: its result, the frame that came and the line that was sent."""

    handshake: Handshake
    frame: bytes
    answer: bytes


class Opening(NamedTuple):
    """The state stage one leaves to stage two: the descriptors, the stream as far as read, the handshake if done."""

    input_fd: int
    output_fd: int
    splitter: LineSplitter
    frames: list[Frame]
    answered: Answered | None


def main() -> int:
    """Serve ACP on stdio, also with `--trace FILE`; else run the command line, or show a short guide at a terminal."""
    _leave_out_extras()
    if file := _trace_file(sys.argv[1:]):
        os.environ["CLAW_ACP_TRACE"] = file  # commands inherit none of our own variables
    elif len(sys.argv) > 1:
        return cast("Callable[[list[str]], int]", _load(COMMAND_LINE))(sys.argv[1:])
    if os.isatty(0):
        return cast("Callable[[], int]", _load(GUIDE))()
    gc.disable()  # collecting while importing only costs time; stage two turns it on again
    try:
        opening = open_stdio()
    except BrokenPipeError:
        return 0  # the editor left while we answered
    except OSError as error:
        _say(f"claw-acp: cannot talk on stdin and stdout: {error.strerror}; the program that starts it gives it both\n")
        return 1
    if os.environ.get("CLAW_ACP_TRACE") is None and hub_path(os.environ) is not None:
        code = cast("Callable[[Opening], int | None]", _load(BRIDGE))(opening)
        if code is not None:
            return code
    return cast("Callable[[Opening], int]", _load(SERVER))(opening)


def _trace_file(arguments: list[str]) -> str:
    """The file in `--trace FILE`; empty for any other arguments."""
    if len(arguments) == 2 and arguments[0] == "--trace":
        return arguments[1]
    return arguments[0].removeprefix("--trace=") if len(arguments) == 1 and arguments[0].startswith("--trace=") else ""


def open_stdio() -> Opening:
    """Take the descriptors, read the first frame, answer it when it is a valid `initialize`.

    Raises:
        OSError: stdin or stdout is closed, cannot be read or written, or has no reader any more.
    """
    os.fstat(0)
    os.fstat(1)
    null = os.open(os.devnull, os.O_RDWR)
    if null == 2:  # stderr was closed; its number must not go to a descriptor of the protocol
        null = os.dup(null)
    input_fd, output_fd = os.dup(0), os.dup(1)
    os.set_blocking(input_fd, True)
    os.set_blocking(output_fd, True)
    os.dup2(null, 0)
    os.dup2(null if _same_pipe(1, 2) else 2, 1)
    if _same_pipe(output_fd, 2):
        os.dup2(null, 2)
    os.close(null)
    splitter = LineSplitter()
    frames: list[Frame] = []
    while not frames and (data := os.read(input_fd, READ_SIZE)):
        frames = splitter.feed(data)
    answered = _answer(frames[0]) if frames else None
    rest = b"" if answered is None else answered.answer
    while rest:
        rest = rest[os.write(output_fd, rest) :]
    return Opening(input_fd, output_fd, splitter, frames[1:] if answered else frames, answered)


def _answer(frame: Frame) -> Answered | None:
    """The handshake, if it succeeds; stage two answers everything else."""
    if not isinstance(frame, bytes):
        return None
    try:
        first = decode(frame)
        if not isinstance(first, Request) or first.method != "initialize":
            return None
        if not isinstance(first.params, Mapping) or requested_version(first.params) != PROTOCOL_VERSION:
            return None  # whether a newer one is spoken is for the configuration to say
        handshake = initialize(first.params)
        return Answered(handshake, frame, result_line(first.id, handshake.result))
    except Exception:  # noqa: BLE001 - the frame wall: stage two meets the same failure, answers and logs it
        return None


def _leave_out_extras() -> None:
    """Keep libraries from importing what no part of us uses.

    pydantic would look for plugins in the metadata of every installed package; that is set where it was not set before,
    and named in `CLAW_ACP_ADDED`, so that commands do not inherit it. httpx would load its command line, with click,
    rich and pygments, and HTTP/2: 70 ms and 10 MB at the first prompt. It allows those imports to fail, as they do for
    a name that is None in `sys.modules`.
    """
    for unused in UNUSED:
        sys.modules[unused] = cast("ModuleType", None)
    if "PYDANTIC_DISABLE_PLUGINS" not in os.environ:
        os.environ["PYDANTIC_DISABLE_PLUGINS"] = "__all__"
        os.environ["CLAW_ACP_ADDED"] = "PYDANTIC_DISABLE_PLUGINS"


def _say(sentence: str) -> None:
    try:
        os.write(2, sentence.encode())
    except OSError:
        return  # nobody listens on stderr either


def _same_pipe(left: int, right: int) -> bool:
    """Return whether both descriptors lead to one place, as after `2>&1`: then logs would end up between the frames."""
    try:
        return os.path.sameopenfile(left, right)
    except OSError:
        return False


def _load(reference: str) -> object:
    module, _, name = reference.partition(":")
    return getattr(import_module(module), name)
