"""The proof that a sandbox works on this machine: a small program tries to get out of it."""

import os
import socket
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from claw_acp.contracts.sandbox import SandboxProfile
from claw_acp.process.blocking import BlockingChild
from claw_acp.sandbox.attacks import program
from claw_acp.sandbox.backend import Guarantee, SandboxBackend

WITHIN: Final = 10.0  # seconds; it takes a hundredth of one

_TRIES: Final = """
status=$(cat /proc/self/status)
has() { case $status in *"$1"*) ;; *) echo "$2" ;; esac; }
has "NoNewPrivs:	1" system_calls
has "Seccomp:	2" system_calls
has "CapEff:	0000000000000000" system_calls
case $(cat "$1/secret") in secret) echo unreadable ;; esac
echo changed > "$1/outside"
echo changed > "$2/guarded" && echo read_only
echo changed > "$2/missing" && echo read_only
mv "$2/folder" "$2/moved" && echo read_only
echo made > "$2/made" || echo unusable
[ -e "/proc/$3/environ" ] && cat "/proc/$3/environ" > /dev/null && echo processes
kill -0 "$3" && echo processes
echo ended
"""

_INTERFACES: Final = """
while read -r name _; do
    case $name in lo:* | Inter-* | face) ;; *) echo network ;; esac
done < /proc/net/dev
"""
"""The network of a sandbox without a Python, which has to have one of its own: with nothing but loopback."""


class NotConfined(Exception):
    """A sandbox does not do here what it has to; the text says what."""


def prove(backend: SandboxBackend, *, directory: Path) -> None:
    """Try to get out of a sandbox.

    Args:
        backend: The sandbox.
        directory: An existing directory for files of the attempt.

    Raises:
        NotConfined: It does not start, or does not hold what it claims.
    """
    with TemporaryDirectory(prefix="probe-", dir=directory) as folder:
        outside = Path(folder).resolve()
        inside = outside / "project"
        (inside / "folder").mkdir(parents=True)
        (outside / "secret").write_text("secret", encoding="utf-8")
        for path in (outside / "outside", inside / "guarded", inside / "folder" / "guarded"):
            path.write_text("before", encoding="utf-8")
        profile = SandboxProfile(
            writable=(inside,),
            read_only=(inside / "guarded", inside / "missing", inside / "folder" / "guarded"),
            unreadable=(outside / "secret",),
        )
        argv = ["/bin/sh", "-c", _TRIES, "sh", str(outside), str(inside), str(os.getpid())]
        said = [*_run(backend, profile, argv), *_reached_over_the_network(backend, profile)]
        changed = (outside / "outside").read_text(encoding="utf-8") != "before"
        left = set(os.listdir(inside)) - {"folder", "guarded", "made"}  # noqa: PTH208 - names
    reached = [*(part for part in said if part != "ended"), *(("writable",) if changed else ())]
    if "ended" not in said or "unusable" in reached:
        raise NotConfined("a program in it cannot work")
    if broken := _claimed(backend.enforces, reached):
        raise NotConfined(f"it does not hold: {', '.join(broken)}")
    if left and "read_only" in backend.enforces:
        raise NotConfined(f"it leaves files behind: {', '.join(sorted(left))}")


def _claimed(enforces: frozenset[Guarantee], reached: Sequence[str]) -> Sequence[str]:
    return [part for part in dict.fromkeys(reached) if part in enforces]


def _reached_over_the_network(backend: SandboxBackend, profile: SandboxProfile) -> Sequence[str]:
    if not backend.python():
        return _run(backend, profile, ["/bin/sh", "-c", _INTERFACES])
    with socket.create_server(("127.0.0.1", 0)) as server:
        text = Path(program.__file__).read_text(encoding="utf-8")
        argv = [backend.python(), "-I", "-S", "-c", text, "tcp", "network", str(server.getsockname()[1])]
        return _run(backend, profile, argv)


def _run(backend: SandboxBackend, profile: SandboxProfile, argv: Sequence[str]) -> Sequence[str]:
    try:
        sandbox = backend.confine(profile)
        try:
            ended = BlockingChild(argv, sandbox=sandbox).finish(within=WITHIN)
        finally:
            sandbox.release()
    except (OSError, TimeoutError) as error:
        raise NotConfined(str(error) or "it does not end") from error
    if ended.code != 0:
        lines = [line for line in ended.stderr.decode(errors="replace").splitlines() if not _says_nothing(line)]
        raise NotConfined(lines[-1].strip() if lines else f"it ends with code {ended.code}")
    return ended.stdout.decode(errors="replace").split()


def _says_nothing(line: str) -> bool:
    """Return whether a line is none, or advice of Docker, which comes after its reason."""
    return not line.strip() or line.startswith("Run 'docker ")
