"""Options of Docker and Podman, which are the same but for a few."""

import os
import re
import resource
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

from claw_acp.contracts.sandbox import SandboxLimits, SandboxProfile
from claw_acp.core.value import Value
from claw_acp.sandbox.mounts import PRIVATE, TEMPORARY, Kind, is_below, is_directory
from claw_acp.sandbox.network_stage import ENTRANCE
from claw_acp.sandbox.unix_sockets import VARIABLES

MOST_PROCESSES: Final = 4_096
_PLAIN: Final = re.compile(r'[^,:"\n\r]+')
_IN_PLACES: Final = re.compile(r"(^|:)/(?!/)")
_OWN: Final = frozenset((*VARIABLES, "PATH", "TMPDIR", "TMP", "TEMP"))
"""Variables that lead to what is not there; the PATH is that of the image."""
_CLOSED: Final = "ro,mode=0000"
_ONLY_THROUGH: Final = "mode=0111"
_FOR_ALL: Final = "exec,mode=1777"
_PERSONAL: Final = (".gitconfig", ".config/git")
"""The files below the home directory from which git knows the person."""


class Engine(Value):
    """A program that runs containers.

    Attributes:
        name: Its name.
        program: Its path.
        run: Its own options for a container.
        end: The words that end a container, whatever it does; its name follows.
        in_memory: The option of directories in memory that do not begin as copies of what is there.
    """

    name: str
    program: str
    run: tuple[str, ...] = ()
    end: tuple[str, ...] = ("rm", "--force")
    in_memory: str = "rw"


def podman_engine(program: str, *, init: bool) -> Engine:
    """Podman, with the program that it puts first in a container if that is here."""
    return Engine(
        name="podman",
        program=program,
        run=(*(("--init",) if init else ()), "--read-only-tmpfs=false", "--http-proxy=false", "--systemd=false"),
        end=("rm", "--force", "--time", "0"),
        in_memory="rw,notmpcopyup",
    )


def docker_engine(program: str) -> Engine:
    """Docker."""
    return Engine(name="docker", program=program, run=("--init",))


BASE: Final = (
    "--rm", "--interactive", "--pull", "never", "--log-driver", "none", "--entrypoint", "", "--read-only",
    "--cap-drop", "ALL", "--security-opt", "no-new-privileges", "--security-opt", "label=disable",
)  # fmt: skip
"""Options of every container. SELinux would demand other labels for the project, which stay on the disk."""


def check_paths(paths: Iterable[Path]) -> None:
    """Refuse paths that cannot be written in an option.

    Raises:
        OSError: One of them cannot.
    """
    for path in paths:
        if not _PLAIN.fullmatch(str(path)):
            raise OSError(0, f"containers take no path like {str(path)!r}")


def mount_options(
    mounts: Sequence[tuple[str, Kind]], *, engine: Engine, temporary: Path | None, hidden: Path
) -> Iterator[str]:
    """The mounts.

    Args:
        mounts: The mounts, from the root of the disk downwards.
        engine: The program.
        temporary: The directory for temporary files; None: one in memory.
        hidden: An unreadable file, to put in place of others.
    """
    named = {path for path, _ in mounts}
    for path in (path for path in PRIVATE if path not in named):
        if temporary is not None and path in TEMPORARY:
            yield from _bound(str(temporary), path)
        else:
            yield from _in_memory(path, _FOR_ALL, engine=engine)
    for path, kind in mounts:
        match kind:
            case "writable" | "entry":
                yield from _bound(path, path)
            case "readable" | "read_only":
                yield from _bound(path, path, "readonly")
            case "unreadable" if is_directory(path):
                passed = any(is_below(other, path) for other in named)
                yield from _in_memory(path, _ONLY_THROUGH if passed else _CLOSED, engine=engine)
            case "unreadable":
                yield from _bound(str(hidden), path, "readonly")
            case "private":
                pass  # it is there already


def home_options(home: str, mounts: Sequence[tuple[str, Kind]], *, engine: Engine) -> Iterator[str]:
    """An empty home directory, unless it is, or lies in, what is mounted."""
    if (
        home.startswith(os.sep)
        and home != os.sep
        and not any(home == path or is_below(home, path) for path, _ in mounts)
    ):
        yield from _in_memory(home, _FOR_ALL, engine=engine)


def network_options(profile: SandboxProfile) -> Iterator[str]:
    """The network: none, unless it is open. The proxy is reached by its socket."""
    if profile.network != "open":
        yield from ("--network", "none")
    if profile.proxy is not None:
        yield from _bound(str(profile.proxy), ENTRANCE, "readonly")


def limit_options(limits: SandboxLimits) -> Iterator[str]:
    """The limits. What a person may not exceed outside, nobody may set inside."""
    _, files = resource.getrlimit(resource.RLIMIT_NOFILE)
    _, processes = resource.getrlimit(resource.RLIMIT_NPROC)
    most = MOST_PROCESSES if processes == resource.RLIM_INFINITY else min(processes, MOST_PROCESSES)
    yield from ("--ulimit", f"nproc={most}:{most}", "--ulimit", "core=0:0")
    if files != resource.RLIM_INFINITY:
        yield from ("--ulimit", f"nofile={files}:{files}")
    if limits.processes:
        yield from ("--pids-limit", str(limits.processes))
    if limits.memory:
        yield from ("--memory", str(limits.memory), "--memory-swap", str(limits.memory))  # all of its processes
        yield from ("--ulimit", f"data={limits.memory}:{limits.memory}")  # each of them
    if limits.file_size:
        yield from ("--ulimit", f"fsize={limits.file_size}:{limits.file_size}")


def variables_inside(environ: Mapping[str, str], *, own: Mapping[str, str]) -> Mapping[str, str]:
    """The variables of a program, without those of the person's own that name places of this machine.

    Args:
        environ: The variables of the program.
        own: Those of the person.
    """
    return {
        name: value
        for name, value in environ.items()
        if name == "HOME"
        or (
            name not in _OWN
            and name.isascii()
            and name.isidentifier()
            and not (own.get(name) == value and _IN_PLACES.search(value))
        )
    }


def variable_options(environ: Mapping[str, str], *, file: Path) -> Iterator[str]:
    """The variables: from a file, since everybody sees a command line; there they cannot have several lines."""
    for name, value in environ.items():
        if not _is_line(value):
            yield from ("--env", f"{name}={value}")
    yield from ("--env-file", str(file))


def variable_lines(environ: Mapping[str, str]) -> bytes:
    """The content of the file of variables."""
    lines = [f"{name}={value}\n" for name, value in environ.items() if _is_line(value)]
    return "".join(lines).encode()


def personal_paths(home: str) -> Iterator[str]:
    """The files from which git knows the person."""
    yield from (f"{home}/{name}" for name in _PERSONAL)


def _is_line(value: str) -> bool:
    return value.isprintable()


def _bound(source: str, target: str, *options: str) -> tuple[str, str]:
    return "--mount", ",".join(("type=bind", f"source={source}", f"target={target}", *options))


def _in_memory(path: str, options: str, *, engine: Engine) -> tuple[str, str]:
    return "--tmpfs", f"{path}:{engine.in_memory},nosuid,nodev,{options}"
