"""A small process that outlives us by a moment: when we are gone, however we went, it kills what we were running.

Exit paths of ours kill the process groups themselves; nothing of ours runs after SIGKILL, a crash or the kernel's
choice of a victim. Then the pipe that the watchdog reads comes to its end.
"""

import logging
import os
from subprocess import DEVNULL, SubprocessError, run
from typing import Final

log = logging.getLogger(__name__)

_SCRIPT: Final = """
watch() {
    trap '' HUP INT QUIT TERM ALRM USR1 USR2
    live=' '
    while read -r sign group; do
        case $sign in
            +) live="$live$group " ;;
            -) case $live in *" $group "*) live="${live%%" $group "*} ${live#*" $group "}" ;; esac ;;
        esac
    done
    for group in $live; do kill -KILL "-$group"; done
}
exec 3<&0
watch <&3 3<&- &
"""
"""The first shell ends at once, so that the watchdog is nobody's child: it needs no burial, and whoever kills our
children one by one misses it. Reading from descriptor 3 makes up for the rule that what runs behind `&` has no stdin.
Only words that the shell itself knows are used: nothing is looked up or started.
"""

_STARTING: Final = 5.0
"""Seconds the first shell may take; it takes one or two thousandths."""


class Watchdog:
    """Told of every process group that begins and ends. The process is started with the first one.

    It ignores the signals that are meant for us, and shares neither group nor terminal with us. A group whose leader
    was started in the very moment we were killed, before it could be told of, is missed.

    Args:
        shell: Any POSIX shell.
    """

    def __init__(self, *, shell: str = "/bin/sh") -> None:
        self._shell = shell
        self._pipe: int | None = None
        self._barks = os.name == "posix"

    def began(self, group: int, *, others: frozenset[int]) -> None:
        """Kill this group when we are gone. `others` are those told of before: a new watchdog must know them too."""
        if self._pipe is None or not self._tell(f"+ {group}\n"):
            self._start()
            self._tell("".join(f"+ {each}\n" for each in {group, *others}))

    def ended(self, group: int) -> None:
        """Leave this group alone: its number may soon be somebody else's."""
        self._tell(f"- {group}\n")

    def _tell(self, lines: str) -> bool:
        """Whether there is a watchdog that hears it. One that does not listen (it was stopped) must not stop us."""
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

    def _start(self) -> None:
        if not self._barks:
            return
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
            return
        finally:
            os.close(reader)
        os.set_blocking(writer, False)
        self._pipe = writer
