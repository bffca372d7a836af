"""The attacks, carried out: what each of them reached, and what stopped it."""

import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path
from signal import SIGKILL
from typing import Final

from claw_acp.contracts.launch import Launch, Sandbox
from claw_acp.core.value import Value
from claw_acp.process.blocking import BlockingChild, Ended
from claw_acp.sandbox.attacks import program
from claw_acp.sandbox.attacks.arena import Arena, arena
from claw_acp.sandbox.attacks.attack import ATTACKS, Attack
from claw_acp.sandbox.backend import SandboxBackend
from claw_acp.sandbox.interpreter import bare_python

WITHIN: Final = 5.0  # seconds for an attack, which takes a hundredth of one

_STARTER: Final = '"$@" & echo $!; wait'
"""A program that starts another one, to be killed."""


class Outcome(Value):
    """The outcome of an attack.

    Attributes:
        attack: The attack.
        reached: What it reached; empty: nothing.
        stopped_by: What it said when it was stopped.
    """

    attack: Attack
    reached: str
    stopped_by: str


def proof(
    backend: SandboxBackend | None, *, base: Path, attacks: Iterable[Attack] = ATTACKS, owner: int | None = None
) -> Iterator[Outcome]:
    """Carry out the attacks in turn, each in a new place.

    Args:
        backend: The sandbox they are carried out in; None: none, and most of them succeed.
        base: An existing directory for the files of the attacks.
        attacks: The attacks.
        owner: The owner of the project; None: us.
    """
    for attack in attacks:
        with arena(base, owner=owner) as place:
            yield _carried_out(attack, place, backend)


def _carried_out(attack: Attack, place: Arena, backend: SandboxBackend | None) -> Outcome:
    before = place.state()
    confinement = None if backend is None else backend.confine(place.profile)
    try:
        ended = (_killed if attack.kill else _run)(attack, place, confinement)
        survivors = place.survivors() if attack.against == "processes" else ()
    finally:
        if confinement is not None:
            confinement.release()
    for process in survivors:
        with suppress(ProcessLookupError):
            os.kill(process, SIGKILL)
    if attack.git:
        place.run(["git", "status"])
    changed = sorted({path for path, _ in set(before.items()) ^ set(place.state().items())})
    if place.token.encode() in ended.stdout:
        reached = "it got what it wanted"
    elif survivors:
        reached = "a process of it is still there"
    elif not place.victim_lives():
        reached = "another program was killed"
    else:
        reached = f"changed: {Path(changed[0]).name}" if changed else ""
    return Outcome(attack=attack, reached=reached, stopped_by="" if reached else _reason(attack, ended))


def _run(attack: Attack, place: Arena, sandbox: Sandbox | None) -> Ended:
    child = BlockingChild(_argv(attack, place), env=place.environ, cwd=place.project, sandbox=sandbox)
    try:
        return child.finish(within=WITHIN)
    except TimeoutError:
        return Ended(-SIGKILL, b"", b"it came to no end")


def _killed(attack: Attack, place: Arena, sandbox: Sandbox | None) -> Ended:
    """Kill what started the attack, once it runs; what is left then is there before the end of this."""
    launch = Launch(argv=tuple(_argv(attack, place)), env=place.environ, cwd=place.project)
    confined = sandbox(launch) if sandbox else launch
    starter = BlockingChild(["/bin/sh", "-c", _STARTER, "sh", *confined.argv], env=confined.env, cwd=confined.cwd)
    place.wait_for_process()
    os.kill(starter.pid, SIGKILL)
    place.survivors()
    with suppress(TimeoutError):
        return starter.finish(within=WITHIN)
    return Ended(-SIGKILL, b"", b"")


def _argv(attack: Attack, place: Arena) -> Sequence[str]:
    if attack.script:
        return ["/bin/sh", "-c", attack.script]
    argument = attack.argument.format_map(place.places)
    return [bare_python(), "-I", "-S", "-c", _program(), attack.function, place.token, argument]


@cache
def _program() -> str:
    return Path(program.__file__).read_text(encoding="utf-8")


def _reason(attack: Attack, ended: Ended) -> str:
    lines = ended.stderr.decode(errors="replace").strip().splitlines()
    if lines:
        return lines[-1].rpartition(": ")[2]
    return "it ended with the command" if attack.against == "processes" else "nothing came of it"
