"""One file's part of the configuration."""

from collections.abc import Mapping
from pathlib import Path

from claw_acp.config.entries import set_entries
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
        return {entry.key: self.origin(entry.path) for entry in set_entries(self.config)}
