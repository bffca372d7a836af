"""The registry of tools that a turn may use."""

from collections.abc import Iterator, Sequence

from claw_acp.contracts.provider import ToolSpec
from claw_acp.contracts.tool import Tool


class Toolbox:
    """Tools by name, in the order they were registered."""

    def __init__(self) -> None:
        self._tools: dict[str, Tool] = {}
        self._specs: tuple[ToolSpec, ...] | None = None

    def register(self, tool: Tool) -> bool:
        """Add a tool; False when the name is taken, and nothing changes."""
        if tool.spec.name in self._tools:
            return False
        self.register_or_replace(tool)
        return True

    def register_or_replace(self, tool: Tool) -> None:
        """Add a tool, in the place of one with the same name."""
        self._tools[tool.spec.name] = tool
        self._specs = None

    def unregister(self, name: str) -> bool:
        """Remove a tool; False when there was none."""
        self._specs = None
        return self._tools.pop(name, None) is not None

    def get_tool(self, name: str) -> Tool | None:
        """The tool of that name."""
        return self._tools.get(name)

    def tool_names(self) -> Sequence[str]:
        """All names."""
        return tuple(self._tools)

    def tool_specs(self) -> Sequence[ToolSpec]:
        """What models are told; the same tuple until something changes, so that prompts stay byte-stable."""
        if self._specs is None:
            self._specs = tuple(tool.spec for tool in self._tools.values())
        return self._specs

    def __len__(self) -> int:
        return len(self._tools)

    def __iter__(self) -> Iterator[Tool]:
        return iter(self._tools.values())
