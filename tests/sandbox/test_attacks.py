"""Every attack of the table, really carried out: under each sandbox of this machine, as superuser and as any user."""

import os
import shutil
import sys
from collections.abc import Generator, Iterable
from contextlib import contextmanager, nullcontext
from pathlib import Path

import pytest

from claw_acp.sandbox.attacks.attack import ATTACKS, Attack
from claw_acp.sandbox.attacks.proof import Outcome, proof
from claw_acp.sandbox.backend import SandboxBackend
from claw_acp.sandbox.landlock import launcher
from claw_acp.sandbox.machine import BACKENDS, findings, sandbox_of_this_machine
from tests.support.ordinary_user import NOBODY, ordinary_user

LOCAL = [name for name in BACKENDS if name != "seatbelt"] if sys.platform == "linux" else ["seatbelt"]
USERS = ("superuser", "ordinary user") if os.geteuid() == 0 else ("ordinary user",)
HARMLESS_HERE = {
    "lift what hides a key",  # there is nothing to lift
    "read files that were left open",  # our own way of starting programs closes them
    "survive without a terminal",  # we end the process group
    "send a question for a name",  # the rest needs a network, a module or a right that not every machine gives
    "ask the cloud for credentials",
    "make a socket to the machine below",
    "handle page faults",
    "read a key from the root of process 1",
    "open a disk",
    "open a setting of the kernel",
    "open a setting of the kernel in /sys",
    "make a device",
    "change the owner outside",
    "mount the disk anew",
    "load a map into the kernel",
    "become the superuser of a namespace",
    "become the superuser by clone3",
    "type into the terminal",
    "make a ring of system calls",
}
"""Attacks that fail without any sandbox, too, here or elsewhere."""


@contextmanager
def running_as(user: str, directory: Path) -> Generator[None]:
    with ordinary_user(directory) if user == "ordinary user" else nullcontext():
        yield


@pytest.fixture(params=[(name, user) for name in LOCAL for user in USERS], ids=" ".join)
def confined(
    request: pytest.FixtureRequest, disk: Path, monkeypatch: pytest.MonkeyPatch
) -> Generator[tuple[SandboxBackend, Path]]:
    """A sandbox, and a directory for attacks on it; the test runs as that user."""
    name, user = request.param
    base = disk / f"{name} {user}"
    base.mkdir(exist_ok=True)
    monkeypatch.setattr(launcher, "__file__", shutil.copy(launcher.__file__, base))  # ours may be in a closed directory
    with running_as(user, base):
        backend = sandbox_of_this_machine(name, cache=base / "cache")
        if backend is None:
            problem = next(found.problem for found in findings(base / "cache") if found.name == name)
            pytest.skip(f"{name} does not work here: {problem}")
        yield backend, base


@pytest.mark.skipif(os.geteuid() != 0, reason="it is about the superuser")
def test_a_superuser_in_a_project_of_others_gets_no_further(disk: Path) -> None:
    backend = sandbox_of_this_machine("bubblewrap", cache=disk / "cache")
    if backend is None:
        pytest.skip("bubblewrap does not work here")
    attacks = [attack for attack in ATTACKS if attack.against in backend.enforces]
    outcomes = proof(backend, base=disk, attacks=attacks, owner=NOBODY)
    assert _not_stopped(outcomes) == {}


def _not_stopped(outcomes: Iterable[Outcome]) -> dict[str, str]:
    """What came through, or is in doubt."""
    return {one.attack.name: one.reached or one.doubt for one in outcomes if one.verdict != "stopped"}


PARTS = {
    "files": {"writable", "metadata", "read_only", "unreadable"},
    "ways out": {"network", "sockets", "system_calls"},
    "processes": {"processes", "process_limit", "memory_limit", "file_size_limit"},
}


@pytest.mark.timeout(120)
@pytest.mark.parametrize("part", PARTS)
def test_a_sandbox_stops_the_attacks_on_what_it_enforces(confined: tuple[SandboxBackend, Path], part: str) -> None:
    backend, base = confined
    attacks = [attack for attack in ATTACKS if attack.against in PARTS[part] & backend.enforces]
    outcomes = list(proof(backend, base=base, attacks=attacks))
    assert len(outcomes) == len(attacks) > 0
    assert _not_stopped(outcomes) == {}


@pytest.mark.parametrize(
    "attack", [attack for attack in ATTACKS if attack.name not in HARMLESS_HERE], ids=lambda attack: attack.name
)
def test_an_attack_succeeds_without_a_sandbox(attack: Attack, disk: Path) -> None:
    (outcome,) = proof(None, base=disk, attacks=[attack])
    assert outcome.reached


def test_what_no_sandbox_stops_and_nobody_notices_is_not_stopped(disk: Path) -> None:
    chosen = [attack for attack in ATTACKS if attack.against == "nothing"]
    assert {outcome.verdict for outcome in proof(None, base=disk, attacks=chosen)} == {"not stopped"}
