"""The console script. Stage one of the start: answer `initialize` before anything heavy is imported.

An editor waits for this answer, so only `os`, `sys` and `json` come before it. Private copies of stdin and stdout are
taken first; then fd 1 points at stderr and fd 0 at the null device, so that no stray `print`, no warning and no child
process can touch the protocol. Everything but a valid first `initialize` is handed to stage two as it came.
"""

import gc
import os
import sys
from collections.abc import Callable
from importlib import import_module
from typing import NamedTuple, cast

from claw_acp.acp.handshake import Handshake, initialize
from claw_acp.rpc.errors import RpcError
from claw_acp.rpc.framing import Frame, LineSplitter
from claw_acp.rpc.message import Request, decode, result_line

READ_SIZE = 64 * 1024

COMMAND_LINE = "claw_acp.cli.main:main"
GUIDE = "claw_acp.cli.guide:main"
SERVER = "claw_acp.acp.server:serve"


class Opening(NamedTuple):
    """What stage one leaves to stage two: the descriptors, the stream as far as it was read, the handshake if done."""

    input_fd: int
    output_fd: int
    splitter: LineSplitter
    frames: list[Frame]
    handshake: Handshake | None


def main() -> int:
    """Serve ACP on stdio; with arguments, be the command line; on a terminal, say how this is meant to be used."""
    if len(sys.argv) > 1:
        return cast("Callable[[list[str]], int]", _load(COMMAND_LINE))(sys.argv[1:])
    if os.isatty(0):
        return cast("Callable[[], int]", _load(GUIDE))()
    gc.disable()  # collecting while importing only costs time; stage two turns it on again
    opening = open_stdio()
    return cast("Callable[[Opening], int]", _load(SERVER))(opening)


def open_stdio() -> Opening:
    """Take the descriptors, read the first frame, answer it when it is a valid `initialize`."""
    input_fd, output_fd = os.dup(0), os.dup(1)
    os.set_blocking(input_fd, True)
    null = os.open(os.devnull, os.O_RDWR)
    os.dup2(null, 0)
    os.dup2(null if _same_pipe(1, 2) else 2, 1)
    if _same_pipe(output_fd, 2):
        os.dup2(null, 2)
    os.close(null)
    splitter = LineSplitter()
    frames: list[Frame] = []
    while not frames and (data := os.read(input_fd, READ_SIZE)):
        frames = splitter.feed(data)
    handshake = _answer(frames, output_fd) if frames else None
    return Opening(input_fd, output_fd, splitter, frames[1:] if handshake else frames, handshake)


def _answer(frames: list[Frame], output_fd: int) -> Handshake | None:
    first = decode(frames[0]) if isinstance(frames[0], bytes) else None
    if not isinstance(first, Request) or first.method != "initialize":
        return None
    try:
        handshake = initialize(first.params)
    except RpcError:
        return None  # stage two answers with the error
    line = result_line(first.id, handshake.result)
    while line:
        line = line[os.write(output_fd, line) :]
    return handshake


def _same_pipe(left: int, right: int) -> bool:
    """Whether both lead to one place, as after `2>&1`: then logs would end up between the frames."""
    try:
        return os.path.sameopenfile(left, right)
    except OSError:
        return False


def _load(reference: str) -> object:
    module, _, name = reference.partition(":")
    return getattr(import_module(module), name)
