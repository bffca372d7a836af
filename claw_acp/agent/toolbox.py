"""The registry of tools that a turn may use."""

from collections.abc import Callable, Collection, Iterator, Sequence

from claw_acp.contracts.provider import ToolSpec
from claw_acp.contracts.tool import MOST_TOOLS, Tool


class Toolbox:
    """Tools by name, in the order they were registered."""

    def __init__(
        self,
        *,
        lent: Callable[[], Sequence[Tool]] = tuple,
        hidden: Callable[[], Collection[str]] = tuple,
        unlisted: Callable[[], Sequence[Tool]] = tuple,
    ) -> None:
        self._lent = lent
        self._hidden = hidden
        self._unlisted = unlisted
        self._tools: dict[str, Tool] = {}
        self._specs: tuple[ToolSpec, ...] | None = None

    def register(self, tool: Tool) -> bool:
        """Add a tool; False, and nothing changes, when the name is taken."""
        if tool.spec.name in self._tools:
            return False
        self.register_or_replace(tool)
        return True

    def register_or_replace(self, tool: Tool) -> None:
        """Add a tool, replacing one with the same name."""
        self._tools[tool.spec.name] = tool
        self._specs = None

    def unregister(self, name: str) -> bool:
        """Remove a tool; False when there is none."""
        self._specs = None
        return self._tools.pop(name, None) is not None

    def with_lent(self, lent: Callable[[], Sequence[Tool]]) -> "Toolbox":
        """These tools and those that `lent` returns at the moment; a lent tool never replaces one of these."""
        joined = Toolbox(lent=lent, hidden=self._hidden, unlisted=self._unlisted)
        joined._tools = self._tools
        return joined

    def without(self, hidden: Callable[[], Collection[str]]) -> "Toolbox":
        """These tools without those hidden at the moment: models do not see them and cannot call them."""
        rest = Toolbox(lent=self._lent, hidden=hidden, unlisted=self._unlisted)
        rest._tools = self._tools
        return rest

    def with_unlisted(self, unlisted: Callable[[], Sequence[Tool]]) -> "Toolbox":
        """These tools, and those that `unlisted` returns at the moment: they can be called, and models do not see them.

        One never replaces one of these.
        """
        joined = Toolbox(lent=self._lent, hidden=self._hidden, unlisted=unlisted)
        joined._tools = self._tools
        return joined

    def get_tool(self, name: str) -> Tool | None:
        """The tool of that name, unless it is hidden or left out."""
        if name in self._hidden():
            return None
        others = (*self._offered(), *self._unlisted())
        return self._tools.get(name) or next((tool for tool in others if tool.spec.name == name), None)

    def tool_names(self) -> Sequence[str]:
        """All names, also of those that are left out."""
        return tuple(tool.spec.name for tool in self)

    def left_out(self) -> Sequence[str]:
        """The names of the tools that models are not offered, as they take no more; ours are never among them."""
        return self.tool_names()[MOST_TOOLS:]

    def tool_specs(self) -> Sequence[ToolSpec]:
        """The tool specs for models; the same tuple until something changes, so that prompts stay byte-stable."""
        if self._specs is None:
            self._specs = tuple(tool.spec for tool in self._tools.values())
        if not (self._hidden() or self._others()):
            return self._specs
        return tuple(tool.spec for tool in self._offered())

    def _offered(self) -> Sequence[Tool]:
        """The tools that models are offered: ours, and then as many as they take of the others, in their order."""
        return list(self)[:MOST_TOOLS]

    def _others(self) -> Sequence[Tool]:
        return [tool for tool in self._lent() if tool.spec.name not in self._tools]

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def __iter__(self) -> Iterator[Tool]:
        hidden = self._hidden()
        yield from (tool for tool in (*self._tools.values(), *self._others()) if tool.spec.name not in hidden)
