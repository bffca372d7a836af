"""The results of trying the sandboxes of this machine, kept until something of the machine changes."""

import json
import os
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

from claw_acp.core.private_directory import make_private
from claw_acp.core.value import Value, as_dict
from claw_acp.core.version import VERSION
from claw_acp.process.outer_path import system_program

CONTAINERS: Final = ("podman", "docker")
"""Those for which a person has to name an image."""

_PROGRAMS: Final = ("bwrap", "firejail")
_SWITCHES: Final = (
    "kernel/apparmor_restrict_unprivileged_userns",
    "kernel/unprivileged_userns_clone",
    "user/max_user_namespaces",
)
"""Settings of the kernel that forbid sandboxes."""

NONE: Final = "none"
"""The name for no sandbox, where none works."""
_FILE: Final = "findings.json"

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


def remembered(directory: Path, *, image: str) -> Sequence[Finding]:
    """The findings about the machine as it is; none when it has changed.

    Args:
        directory: The directory of the sandboxes' files.
        image: The image of containers; empty: they were not tried.
    """
    try:
        kept = json.loads((directory / _FILE).read_bytes())
        return [Finding(**entry) for entry in kept["findings"]] if kept["machine"] == _machine(image) else []
    except (OSError, ValueError, KeyError, TypeError):
        return []


def remember(found: Sequence[Finding], directory: Path, *, image: str) -> None:
    """Keep findings. A container that does not work may do so at any time: an image is pulled, a daemon started."""
    if image and not any(not finding.problem and finding.name in CONTAINERS for finding in found):
        return
    with suppress(OSError):  # found again next time
        make_private(directory)
        text = json.dumps({"machine": _machine(image), "findings": [as_dict(finding) for finding in found]})
        new = directory / f".{_FILE}.{os.getpid()}"
        new.write_text(text, encoding="utf-8")
        new.replace(directory / _FILE)


def working(found: Sequence[Finding], name: str) -> Finding | None:
    """The finding about the sandbox to use: the one of a name, or with `auto` the first that works; None: none does."""
    return next((one for one in found if not one.problem and name in ("auto", one.name)), None)


def remembered_name(name: str, *, image: str, cache: Path) -> str:
    """The name of the sandbox to use; `none`: none works; empty: that is not known."""
    found = remembered(cache / "sandbox", image=image)
    chosen = working(found, name)
    return chosen.name if chosen is not None else NONE if found else ""


def _machine(image: str) -> dict[str, Any]:
    """The facts about the machine on which the results depend."""
    programs = {name: _stamp(system_program(name)) for name in (*_PROGRAMS, *(CONTAINERS if image else ()))}
    switches = {name: _switch(name) for name in _SWITCHES}
    return {
        "ours": VERSION, "kernel": os.uname().release, "user": os.geteuid(), "programs": programs, "switches": switches,
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
