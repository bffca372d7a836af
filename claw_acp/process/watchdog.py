"""A small process that outlives us by a moment: however we end, it kills the programs that we were running.

Exit paths of ours kill the process groups themselves; nothing of ours runs after SIGKILL, a crash or the kernel's
choice of a victim. Then the pipe that the watchdog reads comes to its end.
"""

import logging
import os
from collections.abc import Iterable, Sequence
from subprocess import DEVNULL, SubprocessError, run
from typing import Final, NamedTuple

log = logging.getLogger(__name__)

_SCRIPT: Final = """
watch() {
    live=' '
    while read -r sign group; do
        case $sign in
            +) case $live in *" $group "*) ;; *) live="$live$group " ;; esac ;;
            -) case $live in *" $group "*) live="${live%%" $group "*} ${live#*" $group "}" ;; esac ;;
        esac
    done
    for group in $live; do kill -KILL "-$group"; done
}
trap '' HUP INT QUIT TERM ALRM USR1 USR2
exec 3<&0
watch <&3 3<&- &
"""
"""The first shell ends at once, so that the watchdog is nobody's child: it needs no burial, and whoever kills our
children one by one misses it. Reading from descriptor 3 makes up for the rule that what runs behind `&` has no stdin.
Only words that the shell itself knows are used: nothing is looked up or started.
"""

_ANNOUNCE: Final = 'echo "+ $$" >&0; exec "$@" </dev/null'
"""A shell line that reports itself to the watchdog, with our end of the pipe as its stdin, then becomes the program."""

_STARTING: Final = 5.0
"""Seconds the first shell may take; it takes one or two thousandths."""


class Announced(NamedTuple):
    """The launch of a program that reports itself: its command line, and a descriptor (or `DEVNULL`) for its stdin."""

    argv: tuple[str, ...]
    stdin: int


class Watchdog:
    """Notified of every process group that begins and ends. Its process is started with the first one.

    It ignores the signals that are meant for us, and shares neither group nor terminal with us.

    Args:
        shell: Any POSIX shell.
    """

    def __init__(self, *, shell: str = "/bin/sh") -> None:
        self._shell = shell
        self._pipe: int | None = None
        self._barks = os.name == "posix"

    def announced(self, argv: Sequence[str], *, names: Iterable[str], others: frozenset[int]) -> Announced:
        """The launch of a program without input that leads a group, reported before the program runs.

        We may be killed at the very moment it starts. So it reports itself to the watchdog; until then it holds the
        pipe open.

        Args:
            argv: The program and its arguments.
            names: Its variables. Shells lose those that they cannot have themselves (functions that bash exports): such
                a program is started directly, and missed if we are killed before `began`.
            others: The groups reported before, for a new watchdog.
        """
        if self._tell("\n") or self._start(others):
            assert self._pipe is not None
            if all(name.isascii() and name.isidentifier() for name in names):
                return Announced(argv=(self._shell, "-c", _ANNOUNCE, "sh", *argv), stdin=self._pipe)
        return Announced(argv=tuple(argv), stdin=DEVNULL)

    def began(self, group: int, *, others: frozenset[int]) -> None:
        """Add a group to kill when we are gone. `others` are those added before: a new watchdog must know them too."""
        if not self._tell(f"+ {group}\n"):
            self._start({group, *others})

    def ended(self, group: int) -> None:
        """Remove a group: its id may soon belong to another one."""
        self._tell(f"- {group}\n")

    def _tell(self, lines: str) -> bool:
        """Write to the watchdog; return whether there is one.

        A watchdog that does not read (it was stopped) must not block us.
        """
        if self._pipe is None:
            return False
        try:
            os.write(self._pipe, lines.encode())
        except BlockingIOError:
            log.warning("the watchdog does not listen", extra={"unheard": lines})
        except OSError:  # it was killed
            os.close(self._pipe)
            self._pipe = None
            return False
        return True

    def _start(self, groups: Iterable[int]) -> bool:
        """Start a watchdog that knows these groups, and return whether there is one."""
        if not self._barks:
            return False
        reader, writer = os.pipe()
        try:
            # A minimal environment: ours holds keys, which any program of the same user could read there.
            run(
                [self._shell, "-c", 'eval "$SCRIPT"', "claw-acp-watchdog"],
                env={"SCRIPT": _SCRIPT},
                stdin=reader,
                stdout=DEVNULL,
                stderr=DEVNULL,
                cwd="/",
                start_new_session=True,
                timeout=_STARTING,
                check=True,
            )
        except (OSError, SubprocessError) as error:
            self._barks = False
            os.close(writer)
            log.warning("commands will outlive a killed agent: no watchdog", extra={"reason": str(error)})
            return False
        finally:
            os.close(reader)
        os.set_blocking(writer, False)
        self._pipe = writer
        return self._tell("".join(f"+ {group}\n" for group in groups) or "\n")
