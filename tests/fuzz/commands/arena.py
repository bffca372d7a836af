"""A place where lines may do harm: namespaces and a file system of its own, a user without rights, and what changed."""

import ctypes
import hashlib
import json
import os
import re
import shutil
import stat
import struct
import subprocess
import sys
import sysconfig
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from tests.fuzz.commands import tree

PLACES = ("/tmp", "/var/tmp", "/dev/shm")
"""What anybody may write to, on every machine."""

SECONDS = 2.5  # a line may take
_PRISTINE = Path("/tmp/pristine")  # only root may enter
_INTERPRETER = Path("/tmp/interpreter")  # this Python, where anybody can reach it
_CLOSED = Path("/tmp/closed")  # what this program itself is made of; only root may enter
_OURS = frozenset({str(_PRISTINE), str(_INTERPRETER), str(_CLOSED)})
_IN_ACCESS, _IN_OPEN = 0x1, 0x20
_NO_RIGHT = re.compile("cannot set date|must be root|must be superuser|Operation not permitted")
_NETWORK = {"Ip": "OutNoRoutes", "Tcp": "ActiveOpens", "Udp": "OutDatagrams"}

Entry = tuple[int, int, bytes]


class Ran(NamedTuple):
    """What became of some lines.

    Attributes:
        effects: What they did beyond reading; empty is as it should be.
        output: What the last one printed.
    """

    effects: tuple[str, ...]
    output: str


class Arena:
    """Runs lines. Made inside namespaces of its own, as root; see `entered`."""

    def __init__(self, *, user: int, environment: Callable[[str], Mapping[str, str]], shell: str) -> None:
        """`environment` tells what a line gets."""
        self._user = user
        self._environment = environment
        self._shell = shell
        self._prepare()
        self._before = snapshot()
        self._executor = self._start()
        self._watch = _Watch(tree.watched())
        self._network = _network()

    def run(self, lines: Sequence[str], *, cwd: Path) -> Ran:
        """Run them one after the other, and put everything back in order when they did harm."""
        effects: list[str] = []
        output = ""
        for line in lines:
            answer = self._ask({"line": line, "cwd": str(cwd)})
            if answer is None:
                effects.append("ended the program that ran it")
                self._executor = self._start()
                continue
            output = str(answer["output"])
            effects += [f"left running: {name}" for name in answer["left"]]
            effects += [f"tried, without the right: {found[0]}" for found in _NO_RIGHT.finditer(output)]
            effects += ["printed a secret"] if tree.CANARY in output else []
        effects += self._watch.opened()
        network = _network()
        effects += ["used the network"] if network != self._network else []
        self._network = network
        after = snapshot()
        effects += differences(self._before, after)
        self._watch.opened()  # that was the snapshot
        if effects:
            self._restore(after)
        return Ran(tuple(dict.fromkeys(effects)), output)

    def _ask(self, request: dict[str, str]) -> dict[str, Any] | None:
        stdin, stdout = self._executor.stdin, self._executor.stdout
        assert stdin
        assert stdout
        full = {
            **request,
            "shell": self._shell,
            "seconds": SECONDS,
            "environment": dict(self._environment(request["line"])),
        }
        try:
            stdin.write(json.dumps(full).encode() + b"\n")
            stdin.flush()
            answer = stdout.readline()
        except BrokenPipeError:
            return None
        return json.loads(answer) if answer else None

    def _start(self) -> subprocess.Popen[bytes]:
        """A process of that user which holds the agent's key, as the agent does."""
        python = Path(sys.executable).resolve()
        program = Path(__file__).with_name("executor.py").read_text("utf-8")
        return subprocess.Popen(
            [_INTERPRETER / python.relative_to(sys.base_prefix), "-I", "-S", "-c", program],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={"ANTHROPIC_API_KEY": tree.CANARY, **_library_path()},
            cwd="/",
            user=self._user,
            group=self._user,
            extra_groups=[],
        )

    def _prepare(self) -> None:
        _empty_places()
        _INTERPRETER.mkdir()
        subprocess.run(["mount", "--bind", sys.base_prefix, str(_INTERPRETER)], check=True)
        tree.plant(user=self._user)
        _PRISTINE.mkdir(mode=0o700)
        self._keep()

    def settle(self) -> None:
        """Take what is there now for what must stay."""
        self._keep()
        self._before = snapshot()
        self._watch.opened()

    def _keep(self) -> None:
        kept = _PRISTINE / tree.ARENA.name
        if kept.exists():
            shutil.rmtree(kept)
        subprocess.run(["cp", "-a", str(tree.ARENA), str(_PRISTINE)], check=True)

    def _restore(self, after: Mapping[str, Entry]) -> None:
        """Put back what differs, folders before what is in them."""
        for path in sorted((path for path in after if path not in self._before), reverse=True):
            found = Path(path)
            found.rmdir() if found.is_dir() and not found.is_symlink() else found.unlink()
        for path in sorted(path for path, entry in self._before.items() if after.get(path) != entry):
            subprocess.run(["rm", "-rf", path], check=True)
            kept = _PRISTINE / Path(path).relative_to("/tmp")
            subprocess.run(["cp", "-a", "-T", str(kept), path], check=True)
        self._watch = _Watch(tree.watched())


def _library_path() -> dict[str, str]:
    """What a Python needs that is linked to a library beside it, moved together with it."""
    return {"LD_LIBRARY_PATH": str(_INTERPRETER / "lib")} if sysconfig.get_config_var("Py_ENABLE_SHARED") else {}


def _empty_places() -> None:
    """Cover `PLACES` with empty ones in which this program, if it lies there, is still found at its own paths."""
    ours = sorted({Path(__file__).parents[3], Path(sys.prefix), Path(sys.base_prefix)})
    opened = {path: os.open(path, os.O_PATH) for path in ours if any(map(path.is_relative_to, PLACES))}
    for place in PLACES:
        subprocess.run(["mount", "-t", "tmpfs", "-o", "mode=1777", "tmpfs", place], check=True)
    _CLOSED.mkdir(mode=0o700)
    for path, descriptor in opened.items():
        if not path.exists():  # as a part of the one before
            inside = _CLOSED / str(descriptor)
            inside.mkdir()
            source = f"/proc/self/fd/{descriptor}"  # its path leads to the empty place
            subprocess.run(["mount", "--no-canonicalize", "--bind", source, inside], pass_fds=[descriptor], check=True)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.symlink_to(inside)
        os.close(descriptor)


def entered(arguments: Sequence[str]) -> list[str]:
    """The command that runs this Python with `arguments` in namespaces of its own: files, programs, network, name."""
    own = ("--mount", "--pid", "--net", "--ipc", "--uts", "--fork", "--kill-child", "--mount-proc")
    return ["unshare", *own, sys.executable, *arguments]


def missing() -> str | None:
    """Why there can be no arena here, or None."""
    if sys.platform != "linux" or os.geteuid() != 0:
        return "only root of a Linux machine can make namespaces and become a user without rights"
    if not shutil.which("unshare") or not shutil.which("git"):
        return "unshare and git are needed"
    tried = subprocess.run(entered(["-c", ""]), capture_output=True, text=True, check=False)
    return tried.stderr.strip() or "unshare fails" if tried.returncode else None


def snapshot() -> dict[str, Entry]:
    """What is in `PLACES`: kind and rights, owner, content."""
    return {path: entry for place in PLACES for path, entry in _entries(place)}


def _entries(folder: str) -> Iterator[tuple[str, Entry]]:
    with os.scandir(folder) as found:
        for item in found:
            if item.path in _OURS:
                continue
            status = item.stat(follow_symlinks=False)
            if item.is_dir(follow_symlinks=False):
                yield item.path, (status.st_mode, status.st_uid, b"")
                yield from _entries(item.path)
            else:
                yield item.path, (status.st_mode, status.st_uid, _content(item.path, status))


_hashes: dict[tuple[int, int, int], bytes] = {}


def _content(path: str, status: os.stat_result) -> bytes:
    key = (status.st_dev, status.st_ino, status.st_ctime_ns)  # nobody without rights can set the last one
    if key not in _hashes:
        try:
            if stat.S_ISLNK(status.st_mode):
                data = bytes(Path(path).readlink())
            else:  # reading a pipe would wait for ever
                data = Path(path).read_bytes() if stat.S_ISREG(status.st_mode) else b""
        except OSError as error:
            data = str(error).encode()
        _hashes[key] = hashlib.blake2b(data, digest_size=8).digest()
    return _hashes[key]


def differences(before: Mapping[str, Entry], after: Mapping[str, Entry]) -> list[str]:
    """The first few, each as a sentence."""
    made = [f"made {path}" for path in after if path not in before]
    gone = [f"deleted {path}" for path in before if path not in after]
    changed = [f"changed {path}" for path, entry in after.items() if before.get(path, entry) != entry]
    return [*made[:5], *gone[:5], *changed[:5]]


def _network() -> tuple[str, ...]:
    """Counters that move when a program reaches for the network, or for a name, in vain."""
    rows = [row.split() for row in Path("/proc/net/snmp").read_text().splitlines()]
    counted: list[str] = []
    for heads, values in zip(rows[::2], rows[1::2], strict=True):
        name = _NETWORK.get(heads[0].rstrip(":"))
        if name:
            counted.append(values[heads.index(name)])
    return tuple(counted)


class _Watch:
    """Which of some files are opened, as the kernel tells."""

    def __init__(self, paths: Sequence[Path]) -> None:
        libc = ctypes.CDLL(None)
        self._descriptor: int = libc.inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC)
        self._paths = {
            libc.inotify_add_watch(self._descriptor, bytes(path), _IN_ACCESS | _IN_OPEN): path for path in paths
        }

    def __del__(self) -> None:
        os.close(self._descriptor)

    def opened(self) -> list[str]:
        """Those that were since the last time, each as a sentence."""
        try:
            data = os.read(self._descriptor, 65536)
        except BlockingIOError:
            return []
        found: list[str] = []
        while data:
            number, _, _, length = struct.unpack_from("iIII", data)
            data = data[16 + length :]
            if number in self._paths:
                found.append(f"opened {self._paths[number]}")
        return list(dict.fromkeys(found))
