"""The sandboxes of this machine, as a probe found them; the findings are kept until something of it changes."""

import json
import os
import platform
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import lru_cache, partial
from itertools import islice
from pathlib import Path
from typing import Any, Final

from claw_acp.core.value import Value, as_dict
from claw_acp.core.version import VERSION
from claw_acp.process.outer_path import system_program
from claw_acp.sandbox.backend import SandboxBackend
from claw_acp.sandbox.bubblewrap.backend import candidates as bubblewrap
from claw_acp.sandbox.container.backend import docker, podman
from claw_acp.sandbox.files import SandboxFiles
from claw_acp.sandbox.firejail import candidates as firejail
from claw_acp.sandbox.landlock.backend import candidates as landlock
from claw_acp.sandbox.probe import NotConfined, prove
from claw_acp.sandbox.seatbelt import candidates as seatbelt

Candidates = Callable[[SandboxFiles], Iterator[SandboxBackend]]

BACKENDS: Final[Mapping[str, Candidates]] = {
    "bubblewrap": bubblewrap,
    "seatbelt": seatbelt,
    "landlock": landlock,
    "firejail": firejail,
}
"""The sandboxes that this program knows, the strongest first: each as what may work here."""

CONTAINERS: Final[Mapping[str, Callable[[SandboxFiles, str], Iterator[SandboxBackend]]]] = {
    "podman": podman,
    "docker": docker,
}
"""Those for which a person has to name an image, which is a choice: then they come before the others."""

_PROGRAMS: Final = ("bwrap", "firejail")
_SWITCHES: Final = (
    "kernel/apparmor_restrict_unprivileged_userns",
    "kernel/unprivileged_userns_clone",
    "user/max_user_namespaces",
)
"""Settings of the kernel that forbid sandboxes."""


NOT_HERE: Final = "it is not there"
"""The problem of a sandbox whose program is not installed, or that the kernel does not have."""


class Finding(Value):
    """The result of trying a sandbox.

    Attributes:
        name: Its name.
        problem: The reason it cannot be used; empty: it works.
        variant: The number of the candidate that works.
    """

    name: str
    problem: str
    variant: int = 0


@lru_cache(maxsize=8)
def sandbox_of_this_machine(name: str = "auto", *, image: str = "", cache: Path) -> SandboxBackend | None:
    """A sandbox that works here. Blocks: the first time on a machine for a few hundredths of a second.

    Args:
        name: A key of `BACKENDS` or `CONTAINERS`; `auto`: the first one.
        image: The image of containers; empty: there are none.
        cache: The directory for our caches, which confined programs must not be able to change.
    """
    for finding in findings(cache, image=image):
        if not finding.problem and name in ("auto", finding.name):
            candidates = _known(image)[finding.name](SandboxFiles(cache / "sandbox"))
            return next(islice(candidates, finding.variant, None), None)
    return None


def findings(cache: Path, *, image: str = "", fresh: bool = False) -> Sequence[Finding]:
    """The result of trying each sandbox, the preferred ones first.

    Args:
        cache: The directory for our caches.
        image: The image of containers; empty: they are not tried.
        fresh: Try again, even if nothing has changed.
    """
    files, machine = SandboxFiles(cache / "sandbox"), _machine(image)
    kept = files.directory / "findings.json"
    if not fresh and (known := _read(kept, machine)):
        return known
    found = [_tried(name, candidates, files) for name, candidates in _known(image).items()]
    if any(finding.problem and finding.name in CONTAINERS for finding in found):
        return found  # an image may be pulled, or a daemon started, at any time
    with suppress(OSError):  # found again next time
        files.directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        text = json.dumps({"machine": machine, "findings": [as_dict(finding) for finding in found]})
        new = kept.with_name(f".{kept.name}.{os.getpid()}")
        new.write_text(text, encoding="utf-8")
        new.replace(kept)
    return found


def _known(image: str) -> Mapping[str, Candidates]:
    """What may work here."""
    containers = {name: partial(candidates, image=image) for name, candidates in CONTAINERS.items()} if image else {}
    return {**containers, **BACKENDS}


def _tried(name: str, candidates: Candidates, files: SandboxFiles) -> Finding:
    problem = NOT_HERE
    try:
        files.directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        for variant, backend in enumerate(candidates(files)):
            try:
                prove(backend, directory=files.directory)
            except NotConfined as error:
                problem = str(error)
            else:
                return Finding(name=name, problem="", variant=variant)
    except OSError as error:
        problem = f"files for it cannot be written: {error}"
    return Finding(name=name, problem=problem)


def _machine(image: str) -> dict[str, Any]:
    """All that may decide what works."""
    programs = {name: _stamp(system_program(name)) for name in (*_PROGRAMS, *(CONTAINERS if image else ()))}
    switches = {name: _switch(name) for name in _SWITCHES}
    return {
        "ours": VERSION, "kernel": platform.release(), "user": os.geteuid(), "programs": programs, "switches": switches,
        "image": image,
    }  # fmt: skip


def _stamp(program: str | None) -> list[Any]:
    if program is None:
        return []
    found = Path(program).stat()
    return [program, found.st_mtime, found.st_size]


def _switch(name: str) -> str:
    try:
        return (Path("/proc/sys") / name).read_text(encoding="utf-8").strip()
    except OSError:
        return ""


def _read(path: Path, machine: dict[str, Any]) -> Sequence[Finding]:
    """The findings about the machine as it is; none when it has changed."""
    try:
        kept = json.loads(path.read_bytes())
        return [Finding(**entry) for entry in kept["findings"]] if kept["machine"] == machine else []
    except (OSError, ValueError, KeyError, TypeError):
        return []
