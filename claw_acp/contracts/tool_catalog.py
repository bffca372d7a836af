"""The port of the tools that are not listed, and the words that announce those that were found."""

from collections.abc import Callable, Sequence
from typing import Final

from claw_acp.contracts.provider import ToolSpec
from claw_acp.core.value import Value

FIND_TOOLS: Final = "find_tools"
"""The name of the tool that finds the others."""

_ANNOUNCED: Final = "Found and ready to be called: "


class ToolCatalog(Value):
    """A port: `offered` returns the tools that can be found; `list_these` has models shown some from now on."""

    offered: Callable[[], Sequence[ToolSpec]]
    list_these: Callable[[Sequence[str]], None]


def announcement(names: Sequence[str]) -> str:
    """The first line of a result that has found these tools; `announced` reads it again."""
    return f"{_ANNOUNCED}{', '.join(names)}"


def announced(text: str) -> Sequence[str]:
    """The names in a result of `find_tools`; empty if it found nothing."""
    line = text.partition("\n")[0]
    return line.removeprefix(_ANNOUNCED).split(", ") if line.startswith(_ANNOUNCED) else ()
