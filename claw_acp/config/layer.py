"""One file's part of the configuration."""

from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, cast

from claw_acp.config.diagnostic import Diagnostic
from claw_acp.config.entries import set_entries
from claw_acp.config.fields import CHECKING
from claw_acp.config.model import ConfigFile
from claw_acp.config.positions import KeyPath, Positions
from claw_acp.config.settings import Origin, OriginKind
from claw_acp.config.toml_file import TomlDocument, read_toml
from claw_acp.core.value import Value

if TYPE_CHECKING:
    from claw_acp.config.checking import Checked


class _Checking(Protocol):
    def check(self, document: TomlDocument) -> "Checked": ...


class Layer(Value):
    """The valid contents of one file, with the lines they stand on; `invalid`: see `Settings`."""

    config: ConfigFile
    file: Path
    kind: OriginKind
    positions: Positions
    diagnostics: tuple[Diagnostic, ...] = ()
    invalid: Mapping[str, Diagnostic] = {}

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


def read_layer(path: Path, *, kind: OriginKind) -> Layer:
    """The contents of one file; an unusable one sets nothing."""
    document = read_toml(path)
    if not isinstance(document, TomlDocument):
        mistakes = () if document is None else (document,)
        return Layer(config=ConfigFile(), file=path, kind=kind, positions=Positions(lines={}), diagnostics=mistakes)
    checked = cast("_Checking", import_module(CHECKING)).check(document)
    return Layer(
        config=checked.config,
        file=path,
        kind=kind,
        positions=document.positions,
        diagnostics=tuple(checked.diagnostics),
        invalid=checked.invalid,
    )
