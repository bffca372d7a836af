"""Long work in threads that ends soon when its task is cancelled."""

from collections.abc import Callable, Sequence
from typing import TypeVar

import anyio
from anyio import to_thread

from claw_acp.core.errors import ToolError
from claw_acp.process.blocking import BlockingChild, Ended

_R = TypeVar("_R")


class Halt:
    """Tells a thread to end. It has to look: see `check`."""

    def __init__(self) -> None:
        self._halted = False
        self._child: BlockingChild | None = None

    def halt(self) -> None:
        """End the work, and the program it waits for."""
        self._halted = True
        if self._child is not None:
            self._child.kill()

    def check(self) -> None:
        """Go on, unless the work was halted.

        Raises:
            ToolError: It was.
        """
        if self._halted:
            raise ToolError("it was cancelled")

    def run(self, argv: Sequence[str], *, within: float) -> Ended:
        """Run a program to its end.

        Raises:
            ToolError: It took too long, or the work was halted.
        """
        self._child = BlockingChild(argv)
        try:
            if self._halted:
                self._child.kill()
            ended = self._child.finish(within=within)
        except TimeoutError as error:
            raise ToolError(f"{argv[0]} took longer than {within:.0f} seconds") from error
        finally:
            self._child = None
        self.check()
        return ended


async def in_thread(work: Callable[[Halt], _R]) -> _R:
    """Run `work` in a thread; when this is cancelled it is halted and waited for."""
    halt = Halt()

    async def halt_when_cancelled() -> None:
        try:
            await anyio.sleep_forever()
        finally:
            halt.halt()

    done: list[Callable[[], _R]] = []
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(halt_when_cancelled)
        done.append(await to_thread.run_sync(_carried_out, work, halt))
        tasks.cancel_scope.cancel()
    return done[0]()


def _carried_out(work: Callable[[Halt], _R], halt: Halt) -> Callable[[], _R]:
    """Do the work; returns what has its result, or its error, which a task group would wrap."""
    try:
        result = work(halt)
    except ToolError as error:
        failure = error

        def fail() -> _R:
            raise failure

        return fail
    return lambda: result
