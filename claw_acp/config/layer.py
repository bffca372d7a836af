"""One file's part of the configuration."""

from collections.abc import Iterator, Mapping
from pathlib import Path

from claw_acp.config.fields import Section
from claw_acp.config.finding import Finding
from claw_acp.config.model import ConfigFile
from claw_acp.config.positions import KeyPath, Positions
from claw_acp.config.settings import Origin, OriginKind
from claw_acp.core.value import Value


class Layer(Value):
    """The valid contents of one file, with the lines they stand on; `spoilt`: see `Settings`."""

    config: ConfigFile
    file: Path
    kind: OriginKind
    positions: Positions
    spoilt: Mapping[str, Finding] = {}

    def line_of(self, key: KeyPath) -> int | None:
        """The line `key` stands on, None when it is not in the file."""
        return self.positions.line_of(key)

    def origin(self, key: KeyPath) -> Origin:
        """The place of `key` in this file."""
        line = self.line_of(key)
        return Origin(kind=self.kind, place=f"{self.file}:{line}" if line else str(self.file))

    def origins(self) -> dict[str, Origin]:
        """The origin of every value the file sets, by dotted key; rules of `[permissions]` one by one."""
        return {name: self.origin(path) for path, name in _set_keys(self.config, ())}


def _set_keys(section: Section, prefix: KeyPath) -> Iterator[tuple[KeyPath, str]]:
    for field in sorted(section.model_fields_set):
        value: object = getattr(section, field)
        path = (*prefix, field)
        if isinstance(value, Section):
            yield from _set_keys(value, path)
        elif path in {("providers",), ("mcp",)} and isinstance(section, ConfigFile):
            tables: Mapping[str, Section] = section.providers if field == "providers" else section.mcp
            for name, table in tables.items():
                yield from _set_keys(table, (*path, name))
        elif path == ("routes",) and isinstance(section, ConfigFile):
            yield from (((*path, name), f"routes.{name}") for name in section.routes)
        elif path == ("rules",) and isinstance(section, ConfigFile):
            for index, rule in enumerate(section.rules):
                yield from (((*path, key), f"rules[{index}].{key}") for key in sorted(rule.model_fields_set))
        elif isinstance(value, tuple) and prefix == ("permissions",):
            yield from ((path, f"{'.'.join(path)}[{index}]") for index in range(len(value)))  # pyright: ignore[reportUnknownArgumentType]
        else:
            yield path, ".".join(path)
