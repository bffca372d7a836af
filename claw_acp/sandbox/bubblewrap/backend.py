"""Bubblewrap as a sandbox of this machine."""

import os
import platform
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

from claw_acp.contracts.launch import Launch, StartedBy
from claw_acp.contracts.sandbox import SandboxProfile
from claw_acp.core.value import replace
from claw_acp.process.outer_path import system_program
from claw_acp.sandbox.backend import Guarantee, SandboxBackend
from claw_acp.sandbox.bubblewrap.command_line import (
    link_options,
    mount_options,
    needed_paths,
    variable_options,
)
from claw_acp.sandbox.control_group import ControlGroup, groups_work
from claw_acp.sandbox.files import SandboxFiles
from claw_acp.sandbox.interpreter import bare_python
from claw_acp.sandbox.limits import limited
from claw_acp.sandbox.mount_check import with_checked_mounts
from claw_acp.sandbox.mounts import Kind, mounts_of, resolved
from claw_acp.sandbox.network_stage import ENTRANCE, behind_proxy
from claw_acp.sandbox.placeholders import Held
from claw_acp.sandbox.shared_network import joining
from claw_acp.sandbox.system_calls import ARCHITECTURES
from claw_acp.sandbox.unix_sockets import path_sockets

ENFORCED: Final[frozenset[Guarantee]] = frozenset(
    (
        "writable", "metadata", "read_only", "unreadable", "network", "proxy", "sockets", "processes", "system_calls",
        "memory_limit", "file_size_limit",
    )
)  # fmt: skip

_WHERE_COUNTED: Final[frozenset[Guarantee]] = frozenset(("process_limit",))
_BECOME: Final = 'exec "$@" 9<"$0"'
_STAY: Final = '"$@" 9<"$0"; exit $?'
_JOIN: Final = 'echo $$ > "$1" && shift && '
"""Shell lines that open the filter for bubblewrap, after they joined a control group. An editor's thread may end before
the command does, and bubblewrap ends with the thread that started it: there the shell stays in between."""

_NAMESPACES: Final = (
    "--unshare-ipc", "--unshare-pid", "--unshare-uts", "--unshare-cgroup-try", "--die-with-parent",
    "--new-session", "--cap-drop", "ALL",
)  # fmt: skip
_OWN_USERS: Final = ("--unshare-user",)
_AMONG_OTHERS: Final = tuple(
    word for name in ("DAC_OVERRIDE", "FOWNER", "CHOWN", "FSETID") for word in ("--cap-add", f"CAP_{name}")
)
"""In a namespace of users, a superuser has no power over files of others, and in containers the project often is such a
one. There it keeps that power, and no other: what is mounted read-only, or hidden, it cannot change all the same."""

_BASE: Final = ("--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc", "--remount-ro", "/proc")
"""The settings of the kernel in /proc belong to the superuser, who may change them there without any privilege."""


class Bubblewrap:
    """Runs programs in namespaces of their own: users, processes, mounts, network.

    Args:
        program: The path of bubblewrap.
        options: Further options that this version of it knows.
        files: The files that it needs.
        enforces: The parts of profiles that hold here.
    """

    name = "bubblewrap"
    python = staticmethod(bare_python)

    def __init__(
        self, program: str, *, options: Sequence[str], files: SandboxFiles, enforces: frozenset[Guarantee] = ENFORCED
    ) -> None:
        self._program = program
        self._options = options
        self._files = files
        self.enforces = enforces

    def confine(self, profile: SandboxProfile, *, started_by: StartedBy = "us") -> "BubblewrapConfinement":
        """A sandbox for one command.

        Raises:
            OSError: Files that it needs cannot be written.
        """
        profile = resolved(profile)
        filtered, foreign = "system_calls" in self.enforces, _belongs_to_others(profile)
        group = ControlGroup(profile.limits.processes) if profile.limits.processes and self._counts_in_groups else None
        line = (_JOIN if group else "") + (_BECOME if started_by == "us" else _STAY)
        head = [line, str(self._files.filter()) if filtered else os.devnull, *([str(group.members)] if group else ())]
        shared = profile.beside if profile.network == "none" and not foreign else None
        head += [*joining(shared), self._program, *_NAMESPACES]
        head += _AMONG_OTHERS if foreign else (*_OWN_USERS, *self._options)
        head += ("--seccomp", "9") if filtered else ()
        head += () if profile.network == "open" or shared is not None else ("--unshare-net",)
        head += _BASE
        held = self._files.placeholders.hold(profile.read_only, roots=profile.writable)
        return BubblewrapConfinement(head, profile, held=held, group=group, hidden=self._files.hidden())

    @property
    def _counts_in_groups(self) -> bool:
        return os.geteuid() == 0 and "process_limit" in self.enforces


def _belongs_to_others(profile: SandboxProfile) -> bool:
    """Return whether a superuser is to work in directories of others."""
    return os.geteuid() == 0 and any(path.stat().st_uid != 0 for path in profile.writable if path.exists())


def candidates(files: SandboxFiles) -> Iterator[Bubblewrap]:
    """What may work here, the best first: older versions cannot forbid user namespaces by themselves."""
    program = system_program("bwrap")
    if program is not None:
        filtered = platform.machine() in ARCHITECTURES
        enforces = ENFORCED if filtered else ENFORCED - {"system_calls"}
        if os.geteuid() != 0 or groups_work():  # the kernel does not count the superuser's processes
            enforces = enforces.union(_WHERE_COUNTED)
        for options in (("--disable-userns",), ()) if filtered else (("--disable-userns",),):
            yield Bubblewrap(program, options=options, files=files, enforces=enforces)


class BubblewrapConfinement:
    """The sandbox of one command."""

    def __init__(
        self, head: Sequence[str], profile: SandboxProfile, *, held: Held, group: ControlGroup | None, hidden: Path
    ) -> None:
        self._group = group
        self._head = head
        self._profile = profile
        self._held = held
        self._hidden = hidden

    def __call__(self, launch: Launch) -> Launch:
        """The launch of the program in the sandbox: a command line that anybody can start."""
        cwd = Path(launch.cwd or Path.cwd())
        mounts = mounts_of(
            self._profile,
            needed=needed_paths(launch, cwd=cwd, profile=self._profile),
            sockets=path_sockets(launch.env),
            enters_all=_belongs_to_others(self._profile),
        )
        places = [*mount_options(mounts, temporary=self._profile.temporary, hidden=self._hidden)]
        places += () if self._profile.proxy is None else ("--ro-bind", str(self._profile.proxy), ENTRANCE)
        options = (*places, *link_options(cwd), "--chdir", str(cwd), *variable_options(launch.env), "--")
        return replace(launch, argv=("/bin/sh", "-c", *self._head, *options, *self._inside(launch.argv, mounts)))

    def _inside(self, argv: tuple[str, ...], mounts: Sequence[tuple[str, Kind]]) -> tuple[str, ...]:
        """The command line with what comes before it inside the sandbox."""
        if self._profile.network == "hosts" and self._profile.proxy is not None:
            argv = behind_proxy(argv)
        return with_checked_mounts(limited(argv, self._profile.limits), mounts=mounts)

    def release(self) -> None:
        """Remove the placeholders and the group that were made for it. Idempotent."""
        self._held.release()
        if self._group is not None:
            self._group.remove()


if TYPE_CHECKING:
    _conforms: type[SandboxBackend] = Bubblewrap
