"""The attacks, carried out: what each of them reached, and what stopped it."""

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path
from signal import SIGKILL
from typing import Final, Literal, TypeAlias

from claw_acp.contracts.launch import Launch, Sandbox
from claw_acp.core.value import Value
from claw_acp.process.blocking import BlockingChild, Ended
from claw_acp.sandbox.attacks import program
from claw_acp.sandbox.attacks.arena import Arena, arena
from claw_acp.sandbox.attacks.attack import ATTACKS, Attack
from claw_acp.sandbox.backend import SandboxBackend
from claw_acp.sandbox.interpreter import bare_python

WITHIN: Final = 5.0  # seconds for an attack, which takes a hundredth of one
TRIES: Final = 3
"""The most tries of an attack: a sandbox does not start where a socket that it hides goes away at that moment."""

_STARTER: Final = '"$@" & echo $!; wait'
"""A program that starts another one, to be killed."""


Notice: TypeAlias = Callable[[Path], Callable[[], str]]
"""Looks at a project before an attack; the function that it returns says afterwards what is noticed of it."""

Verdict: TypeAlias = Literal["stopped", "noticed", "in doubt", "not stopped"]

_PYTHON: Final = "python3"  # if it is not there, the attack says so
_NOT_RUN: Final = (126, 127)  # a shell did not find a program, or could not start it


class Outcome(Value):
    """The outcome of an attack.

    Attributes:
        attack: The attack.
        reached: The thing that it reached; empty: nothing.
        noticed: The change that was noticed after it, before the person's own programs ran.
        doubt: The reason it may have reached nothing for another cause than the sandbox.
        stopped_by: Its own words when it was stopped.
    """

    attack: Attack
    reached: str
    noticed: str = ""
    doubt: str = ""
    stopped_by: str = ""

    @property
    def verdict(self) -> Verdict:
        """The result in a word."""
        if self.reached:
            return "noticed" if self.attack.against == "nothing" and self.noticed else "not stopped"
        return "in doubt" if self.doubt else "stopped"


def unnoticed(_: Path) -> Callable[[], str]:
    """Notice nothing."""
    return str


def proof(
    backend: SandboxBackend | None,
    *,
    base: Path,
    attacks: Iterable[Attack] = ATTACKS,
    owner: int | None = None,
    notice: Notice = unnoticed,
) -> Iterator[Outcome]:
    """Carry out the attacks in turn, each in a new place.

    Args:
        backend: The sandbox they are carried out in; None: none, and most of them succeed.
        base: An existing directory for the files of the attacks.
        attacks: The attacks.
        owner: The owner of the project; None: us.
        notice: The check for what commands leave behind.
    """
    for attack in attacks:
        yield _settled(attack, backend, base=base, owner=owner, notice=notice)


def _settled(
    attack: Attack, backend: SandboxBackend | None, *, base: Path, owner: int | None, notice: Notice
) -> Outcome:
    """The outcome of the first try that leaves no doubt, else of the last one."""
    for _ in range(TRIES - 1):
        with arena(base, owner=owner) as place:
            outcome = _carried_out(attack, place, backend, notice=notice)
        if outcome.verdict != "in doubt":
            return outcome
    with arena(base, owner=owner) as place:
        return _carried_out(attack, place, backend, notice=notice)


def _carried_out(attack: Attack, place: Arena, backend: SandboxBackend | None, *, notice: Notice) -> Outcome:
    before, look = place.state(), notice(place.project)
    confinement = None if backend is None else backend.confine(place.profile)
    python = bare_python() if backend is None else backend.python() or _PYTHON
    try:
        ended = (_killed if attack.kill else _run)(attack, place, confinement, python=python)
        survivors = place.survivors() if attack.against == "processes" else ()
    finally:
        if confinement is not None:
            confinement.release()
    for process in survivors:
        with suppress(ProcessLookupError):
            os.kill(process, SIGKILL)
    noticed = look()
    if attack.git:
        place.run(["git", "status"])
    changed = place.changed(before, patient=attack.kill or ended.code == program.NO_ANSWER)
    if place.token.encode() in ended.stdout:
        reached = "it got what it wanted"
    elif survivors:
        reached = "a process of it is still there"
    elif not place.victim_lives():
        reached = "another program was killed"
    else:
        reached = f"changed: {Path(changed[0]).name}" if changed else ""
    reason = _reason(attack, ended)
    doubt = _doubt(attack, ended, started=place.started.encode(), reason=reason)
    return Outcome(attack=attack, reached=reached, noticed=noticed, doubt=doubt, stopped_by=reason)


def _run(attack: Attack, place: Arena, sandbox: Sandbox | None, *, python: str) -> Ended:
    child = BlockingChild(_argv(attack, place, python), env=place.environ, cwd=place.project, sandbox=sandbox)
    try:
        return child.finish(within=WITHIN)
    except TimeoutError:
        return Ended(program.NO_ANSWER, b"", f"nothing happened within {WITHIN:g} s".encode())


def _killed(attack: Attack, place: Arena, sandbox: Sandbox | None, *, python: str) -> Ended:
    """Kill what started the attack, once it runs; what is left then is there before the end of this."""
    launch = Launch(argv=tuple(_argv(attack, place, python)), env=place.environ, cwd=place.project)
    confined = sandbox(launch) if sandbox else launch
    starter = BlockingChild(["/bin/sh", "-c", _STARTER, "sh", *confined.argv], env=confined.env, cwd=confined.cwd)
    runs = place.wait_for_process()
    os.kill(starter.pid, SIGKILL)
    place.survivors()
    ended = starter.finish(within=WITHIN)
    return ended if runs else Ended(ended.code, b"", ended.stderr)


def _argv(attack: Attack, place: Arena, python: str) -> Sequence[str]:
    if attack.script:
        return ["/bin/sh", "-c", f'echo "$STARTED"\n{attack.script}']
    argument = attack.argument.format_map(place.places)
    return [python, "-I", "-S", "-c", _program(), attack.function, place.token, argument]


@cache
def _program() -> str:
    return Path(program.__file__).read_text(encoding="utf-8")


def _reason(attack: Attack, ended: Ended) -> str:
    lines = ended.stderr.decode(errors="replace").strip().splitlines()
    if lines:
        return lines[-1].rpartition(": ")[2]
    return "it ended with the command" if attack.against == "processes" else "nothing came of it"


def _doubt(attack: Attack, ended: Ended, *, started: bytes, reason: str) -> str:
    """The reason that an attack may have failed by itself; empty: the sandbox stopped it."""
    if ended.code == program.NO_ANSWER:
        return "" if attack.hangs else reason
    if started not in ended.stdout:
        return f"it did not run: {ended.stderr.decode(errors='replace').strip() or f'code {ended.code}'}"
    if ended.code in _NOT_RUN or (attack.function and ended.code == 1):
        return f"it cannot be carried out here: {reason}"
    return ""
