"""The sandboxes of this machine, as a probe found them."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache, partial
from itertools import islice
from pathlib import Path
from typing import Final

from claw_acp.core.private_directory import make_private
from claw_acp.sandbox.backend import SandboxBackend
from claw_acp.sandbox.bubblewrap.backend import candidates as bubblewrap
from claw_acp.sandbox.container.backend import docker, podman
from claw_acp.sandbox.files import SandboxFiles
from claw_acp.sandbox.findings import NOT_HERE, Finding, remember, remembered, working
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

_CONTAINERS: Final[Mapping[str, Callable[[SandboxFiles, str], Iterator[SandboxBackend]]]] = {
    "podman": podman,
    "docker": docker,
}
"""Those for which a person has to name an image, which is a choice: then they come before the others."""


@lru_cache(maxsize=8)
def sandbox_of_this_machine(name: str = "auto", *, image: str = "", cache: Path) -> SandboxBackend | None:
    """A sandbox that works here. Blocks: the first time on a machine for a few hundredths of a second.

    Args:
        name: A key of `BACKENDS`, or one of `CONTAINERS`; `auto`: the first one.
        image: The image of containers; empty: there are none.
        cache: The directory for our caches, which confined programs must not be able to change.
    """
    finding = working(findings(cache, image=image), name)
    if finding is None:
        return None
    candidates = _known(image)[finding.name](SandboxFiles(cache / "sandbox"))
    return next(islice(candidates, finding.variant, None), None)


def findings(cache: Path, *, image: str = "", fresh: bool = False) -> Sequence[Finding]:
    """The result of trying each sandbox, the preferred ones first.

    Args:
        cache: The directory for our caches.
        image: The image of containers; empty: they are not tried.
        fresh: Try again, even if nothing has changed.
    """
    files = SandboxFiles(cache / "sandbox")
    if not fresh and (known := remembered(files.directory, image=image)):
        return known
    found = [_tried(name, candidates, files) for name, candidates in _known(image).items()]
    remember(found, files.directory, image=image)
    return found


def _known(image: str) -> Mapping[str, Candidates]:
    """The sandboxes to try, with their variants."""
    containers = {name: partial(candidates, image=image) for name, candidates in _CONTAINERS.items()} if image else {}
    return {**containers, **BACKENDS}


def _tried(name: str, candidates: Candidates, files: SandboxFiles) -> Finding:
    problem = NOT_HERE
    try:
        make_private(files.directory)
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
