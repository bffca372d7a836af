"""The tools and commands that entry points name, built-in or from other packages."""

import logging
from collections.abc import Callable, Sequence
from typing import TypeVar

from claw_acp.agent.toolbox import Toolbox
from claw_acp.contracts.command import Command
from claw_acp.contracts.hook import Hook
from claw_acp.registry.entry_points import ON_DEMAND, TOOLS, discover, is_built_in, load_extension
from claw_acp.registry.foreign_code import described, package_of
from claw_acp.registry.reference import Ref
from claw_acp.runtime.deferred_tool import DeferredTool
from claw_acp.runtime.foreign_extensions import AdmittedCommand, AdmittedHook, AdmittedTool

_T = TypeVar("_T")

log = logging.getLogger(__name__)


def make_toolbox() -> Toolbox:
    """A toolbox of every tool that can be loaded; a broken one is left out with a log line."""
    toolbox = Toolbox()
    own_on_demand = {found.text for found in discover(ON_DEMAND).values() if is_built_in(found.text)}
    for name, reference in discover(*TOOLS).items():
        deferred = reference.text in own_on_demand  # those of other packages are validated at once
        tool = DeferredTool(reference) if deferred else _made_one("tools", name, reference, admit=AdmittedTool)
        if tool is not None and not toolbox.register(tool, name=name if deferred else ""):
            log.warning("tool left out: the name is taken", extra={"tool": name})
    return toolbox


def make_commands() -> Sequence[Command]:
    """Every slash command that can be loaded."""
    return tuple(command for _, command in _made("commands", admit=AdmittedCommand))


def make_hooks() -> Sequence[Hook]:
    """Every hook that can be loaded."""
    return tuple(hook for _, hook in _made("hooks", admit=AdmittedHook))


def _made(kind: str, *, admit: Callable[[_T], _T]) -> list[tuple[str, _T]]:
    made = ((name, _made_one(kind, name, reference, admit=admit)) for name, reference in discover(kind).items())
    return [(name, extension) for name, extension in made if extension is not None]


def _made_one(kind: str, name: str, reference: Ref[Callable[[], _T]], *, admit: Callable[[_T], _T]) -> _T | None:
    """The extension; None, with a log line, if it is broken."""
    make = load_extension(reference, kind=kind, name=name)
    if make is None:
        return None
    try:
        extension = make()
        return admit(extension) if package_of(extension) else extension
    except BaseException as error:  # noqa: BLE001 - a wall: a stranger's constructor may raise anything
        reason = described(error)
        log.warning("extension disabled", extra={"kind": kind, "extension": name, "reason": reason})
        return None
