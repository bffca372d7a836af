"""Built-ins and strangers through one door: tools and commands as entry points name them."""

import logging
from collections.abc import Callable, Sequence
from typing import cast

from claw_acp.agent.toolbox import Toolbox
from claw_acp.contracts.command import Command
from claw_acp.contracts.tool import Tool
from claw_acp.registry.entry_points import discover, load_extension
from claw_acp.registry.reference import Ref

log = logging.getLogger(__name__)


def make_toolbox() -> Toolbox:
    """Every tool that can be loaded; a broken one is left out with a log line."""
    toolbox = Toolbox()
    for name, tool in _made("tools"):
        if not toolbox.register(cast("Tool", tool)):
            log.warning("tool left out: the name is taken", extra={"tool": name})
    return toolbox


def make_commands() -> Sequence[Command]:
    """Every slash command that can be loaded."""
    return tuple(cast("Command", command) for _, command in _made("commands"))


def _made(kind: str) -> list[tuple[str, object]]:
    made: list[tuple[str, object]] = []
    for name, reference in discover(kind).items():
        make = load_extension(cast("Ref[Callable[[], object]]", reference), kind=kind, name=name)
        if make is None:
            continue
        try:
            made.append((name, make()))
        except Exception as error:  # noqa: BLE001 - a wall: a stranger's constructor may raise anything
            reason = f"{type(error).__name__}: {error}"
            log.warning("extension disabled", extra={"kind": kind, "extension": name, "reason": reason})
    return made
