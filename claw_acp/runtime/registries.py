"""The tools and commands that entry points name, built-in or from other packages."""

import logging
from collections.abc import Callable, Sequence
from typing import TypeVar, cast

from claw_acp.agent.toolbox import Toolbox
from claw_acp.contracts.command import Command
from claw_acp.contracts.hook import Hook
from claw_acp.registry.entry_points import discover, load_extension
from claw_acp.registry.foreign_code import described, package_of
from claw_acp.registry.reference import Ref
from claw_acp.runtime.foreign_extensions import AdmittedCommand, AdmittedHook, AdmittedTool

_T = TypeVar("_T")

log = logging.getLogger(__name__)


def make_toolbox() -> Toolbox:
    """A toolbox of every tool that can be loaded; a broken one is left out with a log line."""
    toolbox = Toolbox()
    for name, tool in _made("tools", admit=AdmittedTool):
        if not toolbox.register(tool):
            log.warning("tool left out: the name is taken", extra={"tool": name})
    return toolbox


def make_commands() -> Sequence[Command]:
    """Every slash command that can be loaded."""
    return tuple(command for _, command in _made("commands", admit=AdmittedCommand))


def make_hooks() -> Sequence[Hook]:
    """Every hook that can be loaded."""
    return tuple(hook for _, hook in _made("hooks", admit=AdmittedHook))


def _made(kind: str, *, admit: Callable[[_T], _T]) -> list[tuple[str, _T]]:
    made: list[tuple[str, _T]] = []
    for name, reference in discover(kind).items():
        make = load_extension(cast("Ref[Callable[[], _T]]", reference), kind=kind, name=name)
        if make is None:
            continue
        try:
            extension = make()
            made.append((name, admit(extension) if package_of(extension) else extension))
        except BaseException as error:  # noqa: BLE001 - a wall: a stranger's constructor may raise anything
            reason = described(error)
            log.warning("extension disabled", extra={"kind": kind, "extension": name, "reason": reason})
    return made
