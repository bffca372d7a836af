"""A program on a terminal of its own, with a person's view of it."""

import os
import pty
import select
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from pathlib import Path

from tests.support.program.processes import PROGRAM, Child, start_process

AGAIN = 1.0  # seconds until a key is pressed again
TIMEOUT = 20.0  # seconds any single wait may take; only a hang takes that long


class Terminal:
    """The output so far, and a keyboard. Created by `at_terminal`."""

    def __init__(self, child: Child, master: int) -> None:
        self.printed = ""
        self._child = child
        self._master = master
        self._seen = 0

    def wait_for(self, text: str) -> None:
        """Wait until `text` is printed, after the previous match."""
        while (found := self.printed.find(text, self._seen)) < 0:
            if not self._read():
                raise AssertionError(f"the program ended before it printed {text!r}:\n{self.printed}")
        self._seen = found + len(text)

    def type(self, text: str) -> None:
        """Press keys; a line is ended by `\\n`."""
        os.write(self._master, text.encode())

    def press(self, key: str, *, until: str) -> None:
        """Press a key repeatedly, as people do, until a text is printed.

        A Ctrl-C just before a program begins to wait for input is noticed only with the next one.
        """
        while until not in self.printed:
            self.type(key)
            while until not in self.printed and select.select([self._master], [], [], AGAIN)[0]:
                if not self._read():
                    raise AssertionError(f"the program ended before it printed {until!r}:\n{self.printed}")

    def ended(self) -> int:
        """Wait for the end; returns the exit code."""
        while self._read():
            continue
        return self._child.wait(TIMEOUT)

    def _read(self) -> bool:
        if not select.select([self._master], [], [], TIMEOUT)[0]:
            raise AssertionError(f"nothing happens any more:\n{self.printed}")
        try:
            data = os.read(self._master, 64 * 1024)
        except OSError:  # Linux says so when nobody holds the other side any more
            return False
        self.printed += data.decode("utf-8", "replace")
        return bool(data)


@contextmanager
def at_terminal(*arguments: str, environ: Mapping[str, str], cwd: Path) -> Generator[Terminal]:
    """`claw-acp ARGUMENTS` on a terminal, with exactly this environment."""
    master, slave = pty.openpty()
    env = {"TERM": "xterm", **environ}
    child = start_process([*PROGRAM, *arguments], cwd=cwd, env=env, stdin=slave, stdout=slave, stderr=slave)
    os.close(slave)
    try:
        yield Terminal(child, master)
    finally:
        child.kill()
        child.wait(TIMEOUT)
        os.close(master)
