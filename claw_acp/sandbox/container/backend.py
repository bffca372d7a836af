"""Containers of Docker and Podman as sandboxes: the programs are those of an image.

Of the files of this machine, only the directories that a profile names are there.
"""

import fcntl
import os
import platform
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from secrets import token_hex
from threading import Thread
from typing import TYPE_CHECKING, Final

from claw_acp.contracts.launch import Launch, StartedBy
from claw_acp.contracts.sandbox import SandboxProfile
from claw_acp.core.child_environment import without_keys
from claw_acp.core.environment import current_environment
from claw_acp.core.value import replace
from claw_acp.process.outer_path import system_program
from claw_acp.sandbox.backend import Guarantee, SandboxBackend
from claw_acp.sandbox.container import keeper
from claw_acp.sandbox.container.call_rules import call_rules
from claw_acp.sandbox.container.command_line import (
    BASE,
    Engine,
    check_paths,
    docker_engine,
    home_options,
    limit_options,
    mount_options,
    network_options,
    personal_paths,
    podman_engine,
    variable_lines,
    variable_options,
    variables_inside,
)
from claw_acp.sandbox.files import SandboxFiles
from claw_acp.sandbox.interpreter import bare_python
from claw_acp.sandbox.mount_check import with_checked_mounts
from claw_acp.sandbox.mounts import Kind, mounts_of, resolved
from claw_acp.sandbox.network_stage import behind_proxy
from claw_acp.sandbox.placeholders import Held
from claw_acp.sandbox.system_calls import ARCHITECTURES
from claw_acp.sandbox.unix_sockets import path_sockets

ENFORCED: Final[frozenset[Guarantee]] = frozenset(
    (
        "writable", "metadata", "read_only", "unreadable", "network", "proxy", "sockets", "processes", "system_calls",
        "process_limit", "memory_limit", "file_size_limit",
    )
)  # fmt: skip

PYTHON: Final = "python3"
"""The Python of an image, where it has one. The proxy needs it."""

_OVER_FILES: Final = tuple(
    word for name in ("DAC_OVERRIDE", "FOWNER", "CHOWN", "FSETID") for word in ("--cap-add", name)
)
"""The power over files of others, for a superuser who works in a project of others."""
_PRIVATE: Final = 0o600


class Container:
    """Runs programs in containers.

    Args:
        engine: The program that runs containers.
        image: The image.
        options: The options that decide who the user inside is.
        python: The Python of the image; empty: it has none.
        files: The files that it needs.
    """

    def __init__(self, engine: Engine, *, image: str, options: Sequence[str], python: str, files: SandboxFiles) -> None:
        self._engine = engine
        self._image = image
        self._options = options
        self._python = python
        self._files = files
        self._rules: Path | None = None
        self.name = engine.name
        self.enforces = ENFORCED if python and sys.platform == "linux" else ENFORCED - {"proxy"}

    def python(self) -> str:
        """The Python that programs find inside; empty: there is none."""
        return self._python

    def confine(self, profile: SandboxProfile, *, started_by: StartedBy = "us") -> "ContainerConfinement":
        """A sandbox for one command.

        Raises:
            OSError: Files that it needs cannot be written, or a path is one that containers do not take.
        """
        profile = resolved(profile)
        check_paths((*profile.writable, *profile.read_only, *profile.unreadable))
        self._rules = self._rules or self._files.stored("rules", call_rules(platform.machine()))
        options = (*self._options, "--security-opt", f"seccomp={self._rules}", *_power_over(profile))
        held = self._files.placeholders.hold(profile.read_only, roots=profile.writable)
        name = f"claw-acp-{token_hex(8)}"
        record = self._files.directory / "containers" / name
        return ContainerConfinement(
            self._engine, profile, image=self._image, options=options, python=self._python, held=held, record=record,
            hidden=self._files.hidden(), started_by=started_by,
        )  # fmt: skip


class ContainerConfinement:
    """The sandbox of one command: a container with the name of its record, the file of its variables."""

    def __init__(
        self, engine: Engine, profile: SandboxProfile, *, image: str, options: Sequence[str], python: str, held: Held,
        record: Path, hidden: Path, started_by: StartedBy,
    ) -> None:  # fmt: skip
        self._engine = engine
        self._profile = profile
        self._image = image
        self._options = options
        self._python = python
        self._held = held
        self._record = record
        self._hidden = hidden
        self._started_by = started_by

    def __call__(self, launch: Launch) -> Launch:
        """The launch of the program in the sandbox: a command line that anybody can start."""
        own = current_environment()
        cwd, home = os.path.realpath(launch.cwd or Path.cwd()), launch.env.get("HOME", "")
        needed = [path for path in (cwd, *personal_paths(home)) if path != os.sep]
        mounts = mounts_of(self._profile, needed=needed, sockets=path_sockets(launch.env), base="private")
        check_paths(Path(path) for path, _ in mounts)
        variables = variables_inside(launch.env, own=own)
        self._write_record(variable_lines(variables))
        engine = self._engine
        run = (
            engine.program, "run", "--name", self._record.name, *BASE, *engine.run, *self._options,
            *network_options(self._profile), *limit_options(self._profile.limits),
            *mount_options(mounts, engine=engine, temporary=self._profile.temporary, hidden=self._hidden),
            *home_options(home, mounts, engine=engine), *variable_options(variables, file=self._record),
            "--workdir", cwd, self._image, *self._inside(launch.argv, mounts),
        )  # fmt: skip
        end = (engine.program, *engine.end, self._record.name)
        python = (bare_python(), "-I", "-S", keeper.__file__)
        return replace(
            launch, argv=(*python, self._started_by, str(self._record), *end, "--", *run), env=without_keys(own)
        )

    def _inside(self, argv: tuple[str, ...], mounts: Sequence[tuple[str, Kind]]) -> tuple[str, ...]:
        """The command line with what comes before it inside the container."""
        if self._profile.network == "hosts" and self._profile.proxy is not None:
            argv = behind_proxy(argv, python=self._python)
        return with_checked_mounts(argv, mounts=mounts) if sys.platform == "linux" else argv

    def _write_record(self, content: bytes) -> None:
        self._record.parent.mkdir(mode=0o700, exist_ok=True)
        descriptor = os.open(self._record, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, _PRIVATE)
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)

    def release(self) -> None:
        """Remove the placeholders that were made for it, once the container has ended. Idempotent."""
        try:
            lock = os.open(self._record, os.O_RDWR | os.O_CLOEXEC)
        except FileNotFoundError:
            self._held.release()
            return
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:  # it was killed, and its keeper ends the container
            Thread(target=self._release_after, args=(lock,), daemon=True).start()
        else:
            self._release_after(lock)

    def _release_after(self, lock: int) -> None:
        """Wait for the end of the container, then remove what was made for it; close the descriptor."""
        fcntl.flock(lock, fcntl.LOCK_EX)
        self._record.unlink(missing_ok=True)
        self._held.release()
        os.close(lock)


def _power_over(profile: SandboxProfile) -> Sequence[str]:
    """The options for a superuser who is to work in directories of others."""
    foreign = os.geteuid() == 0 and any(path.stat().st_uid != 0 for path in profile.writable if path.exists())
    return _OVER_FILES if foreign else ()


def podman(files: SandboxFiles, image: str) -> Iterator[Container]:
    """The variants to try with Podman, the best first."""
    program = system_program("podman")
    if program is None:
        return
    engine = podman_engine(program, init=_has_init())
    yield from _with_images(
        engine, files, image, users=(("--userns", "keep-id", *_user()) if os.geteuid() else _user(),)
    )


def docker(files: SandboxFiles, image: str) -> Iterator[Container]:
    """The variants to try with Docker, the best first: a daemon without privileges takes its user for the superuser."""
    program = system_program("docker")
    if program is not None:
        users = (_user(), ("--user", "0:0")) if os.geteuid() else (_user(),)
        yield from _with_images(docker_engine(program), files, image, users=users)


def _with_images(
    engine: Engine, files: SandboxFiles, image: str, *, users: Sequence[Sequence[str]]
) -> Iterator[Container]:
    if platform.machine() not in ARCHITECTURES:
        return
    for user in users:
        for python in (PYTHON, ""):
            yield Container(engine, image=image, options=user, python=python, files=files)


def _user() -> tuple[str, str]:
    return "--user", f"{os.geteuid()}:{os.getegid()}"


def _has_init() -> bool:
    """Return whether the program is here that Podman puts first in a container."""
    places = ("/usr/libexec/podman/catatonit", "/usr/local/libexec/podman/catatonit", "/usr/lib/podman/catatonit")
    return system_program("catatonit") is not None or any(Path(place).exists() for place in places)


if TYPE_CHECKING:
    _conforms: type[SandboxBackend] = Container
