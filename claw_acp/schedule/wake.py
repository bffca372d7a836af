"""Waiting for a moment, or for a change: of the clock, of files, of what this process does. Nothing is polled.

On Linux a timer of the kernel fires at the moment itself, also after the machine slept, and at once when the clock is
set; changes of files are told by the kernel, too. Elsewhere a look is taken every minute.
"""

import ctypes
import os
import struct
import sys
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import ExitStack, asynccontextmanager, suppress
from pathlib import Path
from typing import Final, Protocol

import anyio

from claw_acp.core.clock import Clock

LOOK: Final = 60.0
"""Seconds between looks where the kernel tells nothing."""

_ABSOLUTE_CANCEL_ON_SET: Final = 1 | 2
_REALTIME: Final = 0
_FLAGS: Final = os.O_NONBLOCK | os.O_CLOEXEC
_FAR: Final = 1 << 40  # seconds: a timer that never fires still tells of a clock that is set
_CHANGED: Final = 0x8 | 0x40 | 0x80 | 0x200  # closed after writing, moved from, moved to, deleted
_LOST: Final = 0x4000 | 0x8000  # too many events; the directory is gone
_EVENT: Final = struct.Struct("iIII")


class Wake(Protocol):
    """Waits until there may be something to do."""

    async def wait(self, until: float | None) -> None:
        """Return at `until` (seconds since the epoch), when something changed, or earlier for no reason."""
        ...

    def now(self) -> None:
        """End the wait that goes on, or the next one."""
        ...


class SystemWake:
    """Waits by means of the kernel. Make one with `opened`."""

    def __init__(self, *, clock: Clock, timer: int | None, watch: int | None, files: Sequence[Path]) -> None:
        self._clock = clock
        self._timer = timer
        self._watch = watch
        self._names = {os.fsencode(file.name) for file in files}
        self._told = anyio.Event()
        self._looks = timer is None or watch is None

    @classmethod
    @asynccontextmanager
    async def opened(cls, files: Sequence[Path], *, clock: Clock) -> "AsyncGenerator[SystemWake]":
        """Wait for changes of `files`, too, and of those that they are links to; their directories exist."""
        files = [*files, *(real for file in files if (real := file.resolve()) != file and real.parent.is_dir())]
        with ExitStack() as opened:
            timer, watch = _timer(), _watch([file.parent for file in files])
            for descriptor in (timer, watch):
                if descriptor is not None:
                    opened.callback(os.close, descriptor)
            yield cls(clock=clock, timer=timer, watch=watch, files=files)

    def now(self) -> None:
        """See `Wake`."""
        self._told.set()

    async def wait(self, until: float | None) -> None:
        """See `Wake`."""
        async with anyio.create_task_group() as tasks:

            async def first(wait: Callable[[], Awaitable[object]]) -> None:
                await wait()
                tasks.cancel_scope.cancel()

            tasks.start_soon(first, self._told.wait)
            if self._timer is not None:
                _set(self._timer, until)
                timer = self._timer
                tasks.start_soon(first, lambda: anyio.wait_readable(timer))
            if self._watch is not None:
                tasks.start_soon(first, self._changed)
            if self._looks:
                left = LOOK if until is None else until - self._clock.now()
                tasks.start_soon(first, lambda: anyio.sleep(max(0.0, min(left, LOOK))))
        self._told = anyio.Event()
        if self._timer is not None:
            with suppress(OSError):  # not due, or the clock was set
                os.read(self._timer, 8)

    async def _changed(self) -> None:
        """Wait until one of the files changed."""
        assert self._watch is not None
        while True:
            await anyio.wait_readable(self._watch)
            with suppress(BlockingIOError):
                names, lost = _named(os.read(self._watch, 65_536))
                self._looks = self._looks or lost
                if lost or names & self._names:
                    return


def _named(data: bytes) -> tuple[set[bytes], bool]:
    """The names in events of inotify, and whether there were events without their names."""
    names: set[bytes] = set()
    lost = False
    while len(data) >= _EVENT.size:
        _, mask, _, length = _EVENT.unpack_from(data)
        end = _EVENT.size + length
        names.add(data[_EVENT.size : end].rstrip(b"\0"))
        lost = lost or bool(mask & _LOST)
        data = data[end:]
    return names, lost


class _Time(ctypes.Structure):
    _fields_ = (("seconds", ctypes.c_long), ("nanoseconds", ctypes.c_long))


class _TimerSpec(ctypes.Structure):
    _fields_ = (("interval", _Time), ("value", _Time))


def _timer() -> int | None:
    """A timer of the wall clock; None where the system has none."""
    if sys.platform != "linux":
        return None
    with suppress(OSError, AttributeError):
        descriptor: int = ctypes.CDLL(None).timerfd_create(_REALTIME, _FLAGS)
        return descriptor if descriptor >= 0 else None
    return None


def _set(timer: int, until: float | None) -> None:
    moment = _FAR if until is None else max(until, 0.0)
    seconds, part = divmod(moment, 1)
    value = _Time(seconds=int(seconds), nanoseconds=max(1, int(part * 1_000_000_000)))
    spec = _TimerSpec(value=value)
    ctypes.CDLL(None).timerfd_settime(timer, _ABSOLUTE_CANCEL_ON_SET, ctypes.byref(spec), None)


def _watch(directories: Sequence[Path]) -> int | None:
    """A watch of directories; None where the system has none, or no more of them."""
    if sys.platform != "linux":
        return None
    with suppress(OSError, AttributeError):
        library = ctypes.CDLL(None)
        descriptor: int = library.inotify_init1(_FLAGS)
        if descriptor < 0:
            return None
        for directory in {*directories}:
            if library.inotify_add_watch(descriptor, os.fsencode(directory), _CHANGED) < 0:
                os.close(descriptor)
                return None
        return descriptor
    return None
