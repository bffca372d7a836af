"""The registry of tools that a turn may use, and which of them models are shown.

Tools of a class `on_demand`, and those of servers and attached programs where there are many, are not listed: the model
finds them by the tool `find_tools`. For a narrow window only `essential` ones are listed. All can be called, listed or
not.
"""

from collections.abc import Callable, Collection, Iterator, Sequence
from typing import Final, TypeAlias

from claw_acp.contracts.provider import ToolSpec
from claw_acp.contracts.tool import MOST_TOOLS, Tool, ToolSource
from claw_acp.contracts.tool_catalog import FIND_TOOLS
from claw_acp.core.value import Value, replace

_Tools: TypeAlias = Callable[[], Sequence[Tool]]
_Names: TypeAlias = Callable[[], Collection[str]]

NARROW: Final = 20_000
"""Tokens. In a narrower window, the descriptions of all listed tools would take a quarter of it, or more."""
MOST_NAMED: Final = 6_000  # characters of the names in the description of `find_tools`


class ToolEntry(Value):
    """A tool, and where it runs. Its name is known before the tool is loaded."""

    name: str
    tool: Tool
    source: ToolSource


class Toolbox:
    """Tools by name, in the order they were registered."""

    def __init__(
        self, entries: dict[str, ToolEntry] | None = None, *, lent: _Tools = tuple, hidden: _Names = tuple,
        unlisted: _Tools = tuple, found: Callable[[], Sequence[str]] = tuple, most_listed: int = MOST_TOOLS,
        window: Callable[[], int] = int,
    ) -> None:  # fmt: skip
        self._entries = {} if entries is None else entries
        self._lent = lent
        self._hidden = hidden
        self._unlisted = unlisted
        self._found = found
        self._most_listed = most_listed
        self._window = window
        self._specs: tuple[ToolSpec, ...] = ()
        self._finder: ToolSpec | None = None

    def register(self, tool: Tool, *, name: str = "", source: ToolSource = "builtin") -> bool:
        """Add a tool; False, and nothing changes, when the name is taken. With `name` its description is not read."""
        if (name or tool.spec.name) in self._entries:
            return False
        self.register_or_replace(tool, name=name, source=source)
        return True

    def register_or_replace(self, tool: Tool, *, name: str = "", source: ToolSource = "builtin") -> ToolEntry | None:
        """Add a tool in the place of the one with the same name; returns that one, or None."""
        name = name or tool.spec.name
        before = self._entries.get(name)
        self._entries[name] = ToolEntry(name=name, tool=tool, source=source)
        return before

    def unregister(self, name: str) -> bool:
        """Remove a tool; False when there is none."""
        return self._entries.pop(name, None) is not None

    def unregister_by_source(self, source: ToolSource) -> int:
        """Remove all registered tools of a source; returns how many there were."""
        gone = [name for name, entry in self._entries.items() if entry.source == source]
        for name in gone:
            del self._entries[name]
        return len(gone)

    def with_lent(self, lent: _Tools) -> "Toolbox":
        """These tools and those that `lent` returns at the moment; a lent tool never replaces one of these."""
        return self._with(lent=lent)

    def without(self, hidden: _Names) -> "Toolbox":
        """These tools without those hidden at the moment: models do not see them and cannot call them."""
        return self._with(hidden=hidden)

    def with_unlisted(self, unlisted: _Tools) -> "Toolbox":
        """These tools, and those that `unlisted` returns at the moment: they can be called, and models do not see them.

        One never replaces one of these.
        """
        return self._with(unlisted=unlisted)

    def with_found(
        self, found: Callable[[], Sequence[str]], *, most_listed: int = MOST_TOOLS, window: Callable[[], int] = int
    ) -> "Toolbox":
        """These tools, of which models have found some.

        Beyond `most_listed`, those of others are on demand, and in a narrow window all but the essential ones. `window`
        returns its tokens; 0 where they are not known.
        """
        return Toolbox(
            self._entries, lent=self._lent, hidden=self._hidden, unlisted=self._unlisted, found=found,
            most_listed=most_listed, window=window,
        )  # fmt: skip

    def _with(
        self, *, lent: _Tools | None = None, hidden: _Names | None = None, unlisted: _Tools | None = None
    ) -> "Toolbox":
        return Toolbox(
            self._entries, lent=lent or self._lent, hidden=hidden or self._hidden, unlisted=unlisted or self._unlisted,
            found=self._found, most_listed=self._most_listed, window=self._window,
        )  # fmt: skip

    def get_tool(self, name: str) -> Tool | None:
        """The tool of that name, unless it is hidden."""
        entry = self.get_entry(name)
        return None if entry is None else entry.tool

    def get_entry(self, name: str) -> ToolEntry | None:
        """The tool of that name with its source, unless it is hidden."""
        if name in self._hidden():
            return None
        if (own := self._entries.get(name)) is not None:
            return own
        others = (*self._lent(), *self._unlisted())
        return next((_lent_entry(tool) for tool in others if tool.spec.name == name), None)

    def tool_names(self) -> Sequence[str]:
        """All names, also of those that are not listed."""
        return tuple(entry.name for entry in self._visible())

    def tool_specs(self) -> Sequence[ToolSpec]:
        """The specs of the listed tools: the same tuple until something changes, so that prompts stay byte-stable.

        Those that were found come last, in the order they were found.
        """
        entries = self._visible()
        demanded = self._demanded(entries)
        listed = [entry.tool.spec for entry in entries if entry.name not in demanded]
        if demanded:
            listed = [self._finding(spec, demanded) if spec.name == FIND_TOOLS else spec for spec in listed]
            found = [demanded[name].spec for name in self._found() if name in demanded]
            listed += found[-max(0, MOST_TOOLS - len(listed)) :] if len(listed) < MOST_TOOLS else []
        else:
            listed = [spec for spec in listed if spec.name != FIND_TOOLS]
        specs = tuple(listed[:MOST_TOOLS])
        if len(specs) != len(self._specs) or any(new is not old for new, old in zip(specs, self._specs, strict=True)):
            self._specs = specs
        return self._specs

    def on_demand(self) -> Sequence[ToolSpec]:
        """The specs of the tools that can be found."""
        return tuple(tool.spec for tool in self._demanded(self._visible()).values())

    def _demanded(self, entries: Sequence[ToolEntry]) -> dict[str, Tool]:
        """The tools on demand by name; none where the model has nothing to find them with."""
        if all(entry.name != FIND_TOOLS for entry in entries):
            return {}
        if 0 < self._window() < NARROW:
            own = [entry for entry in entries if entry.name == FIND_TOOLS or getattr(entry.tool, "essential", False)]
        else:
            own = [entry for entry in entries if not getattr(entry.tool, "on_demand", False)]
        many = len(own) > self._most_listed
        kept = {entry.name for entry in own if not many or entry.source == "builtin"}
        return {entry.name: entry.tool for entry in entries if entry.name not in kept}

    def _finding(self, spec: ToolSpec, demanded: Collection[str]) -> ToolSpec:
        """The spec of `find_tools` with the names of the others; the same object while they are the same."""
        names = ", ".join(demanded)
        if len(names) > MOST_NAMED:
            names = f"{names[:MOST_NAMED].rpartition(', ')[0]} and more"
        description = f"{spec.description} There are: {names}."
        if self._finder is None or self._finder.description != description:
            self._finder = replace(spec, description=description)
        return self._finder

    def _visible(self) -> list[ToolEntry]:
        hidden = self._hidden()
        others = (_lent_entry(tool) for tool in self._lent() if tool.spec.name not in self._entries)
        return [entry for entry in (*self._entries.values(), *others) if entry.name not in hidden]

    def __len__(self) -> int:
        return len(self._visible())

    def __iter__(self) -> Iterator[Tool]:
        yield from (entry.tool for entry in self._visible())


def _lent_entry(tool: Tool) -> ToolEntry:
    return ToolEntry(name=tool.spec.name, tool=tool, source=getattr(tool, "source", "builtin"))
