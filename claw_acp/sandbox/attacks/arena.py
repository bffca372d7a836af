"""The place of attacks: a project, what lies outside it, and the servers and programs that an attack may want."""

import os
import socket
import stat
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from secrets import randbelow, token_hex
from tempfile import TemporaryDirectory
from threading import Event, Thread
from typing import Final

from claw_acp.contracts.sandbox import SandboxLimits, SandboxProfile
from claw_acp.core.child_environment import without_keys
from claw_acp.core.environment import current_environment
from claw_acp.process.blocking import BlockingChild

LIMITS: Final = SandboxLimits(processes=64, memory=256 * 1024 * 1024, file_size=4 * 1024 * 1024)

_GUARDED: Final = (
    ".git/hooks", ".git/config", ".git/commondir", ".git/config.worktree", "HEAD", ".idea", ".vscode/tasks.json",
    ".mcp.json", ".claude/settings.json", ".venv/bin",
)  # fmt: skip
_PEOPLE: Final = {
    f"GIT_{who}_{what}": value for who in ("AUTHOR", "COMMITTER") for what, value in (("NAME", "a"), ("EMAIL", "a@b.c"))
}
_QUIET_GIT: Final = {"GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": os.devnull, **_PEOPLE}
_WITHIN: Final = 20.0  # seconds for a program that takes a hundredth
_SETTLE: Final = 0.3  # seconds from the end of the servers to that of their files: a sandbox may be about to hide them
_LOOKS: Final = 50
_LOOK: Final = 0.02  # seconds between looks


class Arena:
    """A prepared place. Made by `arena`.

    Attributes:
        token: The secret that is in the key, in the environment of another program, and in answers of servers.
        started: The word that an attack prints first, so that one that never ran is not taken for one that was stopped.
        project: The directory to work in.
        places: The places that attacks name.
        environ: The variables of attacks.
    """

    def __init__(self, directory: Path) -> None:
        self.token = token_hex(8)
        self.started = token_hex(8)
        self.mark = f"60.{randbelow(10**12):012}"  # seconds for which the processes of an attack sleep
        self.outside = directory / "outside"
        self.project = directory / "project"
        self.key = self.outside / "key"
        self.keys = self.outside / "keys"
        self.left_open = self.outside / "left open"
        self.victim = 0
        self.places: dict[str, str] = {}
        self.environ: dict[str, str] = {}

    @property
    def profile(self) -> SandboxProfile:
        """What attacks may do."""
        guarded = tuple(self.project / name for name in _GUARDED)
        hidden = (self.key, self.keys)
        return SandboxProfile(writable=(self.project,), read_only=guarded, unreadable=hidden, limits=LIMITS)

    def write_files(self) -> None:
        """Write all files."""
        self.keys.mkdir(parents=True)
        for path in (self.key, self.keys / "key"):
            path.write_text(f"{self.token}\n", encoding="utf-8")
        for path in (self.outside / "file", self.left_open):
            path.write_text("before\n", encoding="utf-8")
        (self.project / ".git" / "hooks").mkdir(exist_ok=True, parents=True)
        (self.project / ".venv" / "bin").mkdir(parents=True)
        (self.project / ".venv" / "bin" / "python").write_text("#!/bin/sh\n", encoding="utf-8")
        (self.project / "shared").mkdir()
        (self.project / ".idea").symlink_to("shared")
        (self.project / ".claude").mkdir()
        (self.project / ".claude" / "notes").write_text("kept\n", encoding="utf-8")
        (self.outside / "store").mkdir()
        (self.outside / "store" / "index.js").write_text("before\n", encoding="utf-8")
        (self.project / "node_modules").mkdir()
        (self.project / "node_modules" / "index.js").hardlink_to(self.outside / "store" / "index.js")
        self.run(["git", "init", "-q", "--template=", "-b", "main", "."])

    def describe(self) -> None:
        """Name all places, once they are there."""
        evil = f"{self.outside / 'evil'}"
        (self.outside / "evil").write_text(f"#!/bin/sh\necho ran > '{self.outside}/ran'\n", encoding="utf-8")
        (self.outside / "evil").chmod(0o755)
        self.places |= {
            "key": str(self.key), "project": str(self.project), "left_open": str(self.left_open),
            "file_size": str(LIMITS.file_size), "memory": str(LIMITS.memory),
        }  # fmt: skip
        self.environ = {
            **without_keys(current_environment()), **_QUIET_GIT, "KEY": str(self.key), "KEYS": str(self.keys),
            "TOKEN": self.token, "STARTED": self.started, "FILE": str(self.outside / "file"), "EVIL": evil,
            "OUTSIDE": str(self.outside), "VICTIM": str(self.victim), "SURVIVE": f"exec sleep {self.mark}",
        }  # fmt: skip

    def run(self, argv: Sequence[str]) -> None:
        """Run a program of the person in the project."""
        env = {**without_keys(current_environment()), **_QUIET_GIT}
        with suppress(OSError, TimeoutError):  # a project without git is attacked all the same
            BlockingChild(argv, env=env, cwd=self.project).finish(within=_WITHIN)

    # ------------------------------------------------------------------ what an attack left

    def state(self) -> Mapping[str, object]:
        """All that no attack may change."""
        paths = [self.outside, *self.outside.rglob("*"), *(self.project / name for name in _GUARDED)]
        paths += [path for name in _GUARDED for path in (self.project / name).rglob("*")]
        return {str(path): _state(path) for path in paths}

    def changed(self, before: Mapping[str, object], *, patient: bool) -> Sequence[str]:
        """The paths that are not as they were.

        Args:
            before: The state before.
            patient: Whether something may still be about to tidy up, as after a program that was killed.
        """
        found = self._changed(before)
        for _ in range(_LOOKS if patient else 0):
            if not found:
                break
            Event().wait(_LOOK)
            found = self._changed(before)
        return found

    def _changed(self, before: Mapping[str, object]) -> Sequence[str]:
        return sorted({path for path, _ in set(before.items()) ^ set(self.state().items())})

    def survivors(self) -> Sequence[int]:
        """The processes of an attack that are still there, after the time they need to disappear."""
        left = list(self._marked())
        for _ in range(_LOOKS):
            if not left:
                break
            Event().wait(_LOOK)
            left = list(self._marked())
        return left

    def wait_for_process(self) -> bool:
        """Wait until a process of an attack is there; return whether there is one."""
        for _ in range(_LOOKS):
            if any(self._marked()):
                return True
            Event().wait(_LOOK)
        return False

    def _marked(self) -> Iterator[int]:
        for process in Path("/proc").iterdir():
            if process.name.isdecimal() and int(process.name) != os.getpid():
                with suppress(OSError):
                    if self.mark.encode() in (process / "cmdline").read_bytes():
                        yield int(process.name)

    def victim_lives(self) -> bool:
        """Return whether the other program still runs."""
        try:
            return b") Z " not in Path(f"/proc/{self.victim}/stat").read_bytes()
        except OSError:
            return False


@contextmanager
def arena(base: Path, *, owner: int | None = None) -> Generator[Arena]:
    """A new place of attacks below an existing directory; the project belongs to `owner`, else to us."""
    with TemporaryDirectory(prefix="proof-", dir=base) as folder, ExitStack() as servers:
        made = Arena(Path(folder).resolve())
        made.write_files()
        servers.callback(Event().wait, _SETTLE)
        if owner is not None:
            for path in (made.project, *made.project.rglob("*")):
                os.chown(path, owner, owner, follow_symlinks=False)
        answer = made.token.encode()
        for name in ("docker", "ssh_agent", "dbus"):
            path = str(made.outside / name)
            servers.enter_context(_answering(_listening(socket.AF_UNIX, path), answer))
            made.places[name] = path
        made.places["abstract"] = f"attack-{made.mark}"
        servers.enter_context(_answering(_listening(socket.AF_UNIX, f"\0attack-{made.mark}"), answer))
        tcp = servers.enter_context(_answering(_listening(socket.AF_INET, ("127.0.0.1", 0)), answer))
        udp = servers.enter_context(_answering_datagrams(answer))
        made.places |= {"tcp": str(tcp.getsockname()[1]), "udp": str(udp.getsockname()[1])}
        servers.enter_context(_left_open(made.left_open))
        made.victim = servers.enter_context(_victim(made.token))
        made.describe()
        Event().wait(_LOOK)  # what is there must be older than what an attack changes, and clocks of disks are coarse
        yield made


@contextmanager
def _left_open(path: Path) -> Generator[None]:
    """A file that programs would inherit."""
    descriptor = os.open(path, os.O_RDONLY)
    os.set_inheritable(descriptor, True)  # noqa: FBT003 - the function has no other form
    try:
        yield
    finally:
        os.close(descriptor)


@contextmanager
def _victim(token: str) -> Generator[int]:
    """Another program of the same user, with a secret in its environment."""
    child = BlockingChild(["sleep", "600"], env={"SECRET": token, "PATH": os.defpath})
    try:
        yield child.pid
    finally:
        child.kill()
        child.finish(within=_WITHIN)


def _listening(family: socket.AddressFamily, address: object) -> socket.socket:
    listening = socket.socket(family)
    listening.bind(address)  # type: ignore[arg-type]
    listening.listen()
    return listening


@contextmanager
def _answering(listening: socket.socket, answer: bytes) -> Generator[socket.socket]:
    def serve() -> None:
        with suppress(OSError):
            while True:
                connection, _ = listening.accept()
                with connection, suppress(OSError):
                    connection.sendall(answer)

    with listening:
        Thread(target=serve, daemon=True).start()
        yield listening
        listening.shutdown(socket.SHUT_RDWR)  # wakes the thread


@contextmanager
def _answering_datagrams(answer: bytes) -> Generator[socket.socket]:
    def serve() -> None:
        with suppress(OSError):
            while asker := asking.recvfrom(1)[1]:
                asking.sendto(answer, asker)

    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as asking:
        asking.bind(("127.0.0.1", 0))
        Thread(target=serve, daemon=True).start()
        yield asking
        with suppress(OSError):
            asking.shutdown(socket.SHUT_RDWR)


def _state(path: Path) -> object:
    try:
        found = path.lstat()
    except OSError:
        return None
    if stat.S_ISLNK(found.st_mode):
        return str(path.readlink())
    if stat.S_ISDIR(found.st_mode):
        return found.st_mode, found.st_uid
    content = path.read_bytes() if stat.S_ISREG(found.st_mode) else b""
    return found.st_mode, found.st_uid, found.st_mtime_ns, content
