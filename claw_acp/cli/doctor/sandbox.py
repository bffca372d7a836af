"""The check of the sandbox for commands, and its proof: it is attacked."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Final

from claw_acp.cli.doctor.check import Check
from claw_acp.cli.terminal.paint import Colour, Paint
from claw_acp.config.locations import HOME_VARIABLE, Locations, private_directory
from claw_acp.config.model import SandboxSection
from claw_acp.core.clock import SYSTEM_CLOCK
from claw_acp.core.quantity import quantity
from claw_acp.sandbox.attacks.attack import ATTACKS, Attack
from claw_acp.sandbox.attacks.proof import Outcome, Verdict, proof
from claw_acp.sandbox.findings import CONTAINERS, NOT_HERE, Finding, working
from claw_acp.sandbox.machine import BACKENDS, findings, sandbox_of_this_machine
from claw_acp.security.guarded_survey import changes, package_folders, survey
from claw_acp.security.shared_packages import shared_changes

_INSTALL: Final = "install bubblewrap (apt install bubblewrap, dnf install bubblewrap)"
_ALLOW: Final = (
    "allow user namespaces: on Ubuntu an AppArmor profile for /usr/bin/bwrap with `userns,`, or sudo sysctl "
    "kernel.apparmor_restrict_unprivileged_userns=0; in a container, start it with --security-opt seccomp=unconfined"
)


def sandbox_check(locations: Locations, section: SandboxSection) -> Check:
    """The sandbox in force, and why it is not a better one."""
    if section.use == "off":
        return Check(level="warn", subject="sandbox", detail="off, so commands run without one (`use` of [sandbox])")
    name, image = section.backend, section.image or ""
    found = findings(locations.cache_dir, image=image)
    chosen = working(found, name)
    better = found if chosen is None else found[: found.index(chosen)]
    problems = "; ".join(f"{each.name}: {each.problem}" for each in better if name in ("auto", each.name))
    if chosen is None:
        detail = f"none works here, so commands are asked about ({problems or _unknown(name)})"
        return Check(level="warn", subject="sandbox", detail=detail, advice=_advice(found))
    limits = _limits(chosen.name, image=image, cache=locations.cache_dir)
    detail = f"{chosen.name}: {limits}" + (f" ({problems})" if problems else "")
    return Check(level="ok", subject="sandbox", detail=detail, advice=_advice(better))


def prove_sandbox(locations: Locations, *, name: str, image: str = "", attacks: Sequence[Attack] = ATTACKS) -> int:
    """Attack a sandbox and print what stopped each attack; 1 unless each was stopped, or noticed where none can be."""
    backend = sandbox_of_this_machine(name, image=image, cache=locations.cache_dir)
    if backend is None:
        known = ", ".join((*BACKENDS, *CONTAINERS))
        print(f"claw-acp: the sandbox {name} does not work here; `claw-acp doctor` says why (there are: {known})")
        return 1
    print(f"Attacks on {backend.name}, and what stopped them\n")
    width = max(len(attack.name) for attack in attacks)
    try:
        outcomes = proof(backend, base=private_directory(locations.cache_dir), attacks=attacks, notice=_left_behind)
        counted = Counter(_shown(outcome, width=width) for outcome in outcomes)
    except OSError as error:
        print(f"claw-acp: {locations.cache_dir} is no place for attacks: {error}; set {HOME_VARIABLE} to another one")
        return 1
    print(f"\n{quantity(len(attacks), 'attack')}: {', '.join(f'{counted[word]} {word}' for word in counted)}.")
    return 0 if counted.keys() <= _HARMLESS else 1


def _left_behind(project: Path) -> Callable[[], str]:
    """Look at a project as before a command; the function looks as after one, and says what it noticed."""
    before, since = survey([project]), SYSTEM_CLOCK.now()

    def noticed() -> str:
        after = survey([project], known=before)
        found = [f"{change.path}: {change.reason}" for change in changes(before, after)]
        found += [f"{path}: other projects share it" for path in shared_changes(package_folders(after), since=since)]
        return "; ".join(found).replace(f"{project}/", "")

    return noticed


def _shown(outcome: Outcome, *, width: int) -> Verdict:
    """Print an outcome; return its verdict."""
    verdict = outcome.verdict
    texts: Mapping[Verdict, str] = {
        "stopped": outcome.stopped_by,
        "noticed": f"by no sandbox; noticed before your own programs ran: {outcome.noticed}",
        "in doubt": f"IN DOUBT: {outcome.doubt}",
        "not stopped": f"NOT STOPPED: {outcome.reached}",
    }
    colour = _COLOURS.get(verdict)
    print(f"{outcome.attack.name:<{width}}  {Paint()(texts[verdict], colour) if colour else texts[verdict]}")
    return verdict


_HARMLESS: Final[frozenset[Verdict]] = frozenset(("stopped", "noticed"))
_COLOURS: Final[Mapping[Verdict, Colour]] = {"noticed": "yellow", "in doubt": "yellow", "not stopped": "red"}


def _unknown(name: str) -> str:
    """The problem of a sandbox that was not even tried."""
    if name in CONTAINERS:
        return f"{name}: it needs an image (`image` of [sandbox])"
    return f"there is no sandbox {name}"


def _limits(name: str, *, image: str, cache: Path) -> str:
    """What the sandbox in force does not enforce."""
    backend = sandbox_of_this_machine(name, image=image, cache=cache)
    missing = [text for part, text in _PARTS.items() if backend is not None and part not in backend.enforces]
    return f"it does not {', nor '.join(missing)}" if missing else "it enforces everything"


_PARTS: Final[Mapping[str, str]] = {
    "writable": "keep files from being changed",
    "metadata": "keep rights and times of files from being changed",
    "read_only": "guard single files of a project",
    "unreadable": "hide keys",
    "network": "close the network",
    "proxy": "open the network for single hosts",
    "sockets": "hide the sockets of other programs",
    "processes": "separate processes",
    "system_calls": "filter system calls",
    "process_limit": "limit the number of processes",
    "memory_limit": "limit memory",
    "file_size_limit": "limit the size of files",
}
"""The parts of a sandbox, as what it does."""


def _advice(better: Sequence[Finding]) -> str:
    """What a person can do for a better sandbox."""
    first = next((each for each in better if each.name == "bubblewrap"), None)
    if first is None:
        return ""
    return _INSTALL if first.problem == NOT_HERE else _ALLOW
