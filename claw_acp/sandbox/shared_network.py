"""A network that several confined programs of a session share, so that a server in the background can be reached.

A process keeps it: a network namespace of its own, with nothing in it but the loopback device. Programs join it before
they are confined; no other process of this machine is in it.
"""

from typing import Final

import anyio

from claw_acp.process.child_process import ChildProcess, start_child
from claw_acp.process.outer_path import system_program

STARTING: Final = 5.0
"""Seconds for the process to start."""

_KEEPS: Final = "echo $$; exec cat > /dev/null"  # until its input ends


class SharedNetwork:
    """A network and the process that keeps it. Made by `opened`.

    Attributes:
        process: The id of the process, for profiles.
    """

    def __init__(self, child: ChildProcess, process: int) -> None:
        self._child = child
        self.process = process

    @property
    def is_there(self) -> bool:
        """True as long as the process runs."""
        return self._child.exit_code is None

    @classmethod
    async def opened(cls) -> "SharedNetwork | None":
        """Open one; None where that is not possible: it takes bubblewrap and nsenter."""
        bubblewrap = system_program("bwrap")
        if bubblewrap is None or system_program("nsenter") is None:
            return None
        argv = [bubblewrap, "--unshare-user", "--unshare-net", "--ro-bind", "/", "/", "--dev", "/dev"]
        argv += ["--die-with-parent", "--cap-drop", "ALL", "--", "/bin/sh", "-c", _KEEPS]
        try:
            child = await start_child(argv, env={}, cwd="/", stdin="pipe", stderr="null")
        except OSError:
            return None
        assert child.stdout is not None
        said = b""
        with anyio.move_on_after(STARTING):
            async for data in child.stdout:
                said += data
                if said.endswith(b"\n"):
                    return cls(child, int(said))
        await child.end(terminate=0)
        return None

    async def aclose(self) -> None:
        """End it with the process."""
        await self._child.end(terminate=0)


def joining(process: int | None) -> tuple[str, ...]:
    """The words before a command line that make it join the network of a process; none without one."""
    if process is None:
        return ()
    nsenter = system_program("nsenter") or "nsenter"
    return (nsenter, "--preserve-credentials", "--user", "--net", "--target", str(process), "--")
