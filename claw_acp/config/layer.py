"""The part of the configuration from one file."""

from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from pathlib import Path

from claw_acp.config.diagnostic import Diagnostic
from claw_acp.config.entries import set_entries
from claw_acp.config.fields import CHECKING
from claw_acp.config.model import ConfigFile
from claw_acp.config.positions import KeyPath, Positions
from claw_acp.config.settings import Origin, OriginKind
from claw_acp.config.toml_file import TomlDocument, read_toml
from claw_acp.core.value import Value


class Checked(Value):
    """The valid contents of a document.

    Attributes:
        config: Its valid parts.
        diagnostics: One for each invalid part, by line.
        invalid: Providers that would do something else without an invalid value, each with the reason.
    """

    config: ConfigFile
    diagnostics: Sequence[Diagnostic] = ()
    invalid: Mapping[str, Diagnostic] = {}


class Layer(Checked):
    """The valid contents of one file, with their lines."""

    file: Path
    kind: OriginKind
    positions: Positions

    def line_of(self, key: KeyPath) -> int | None:
        """The line of `key`; None when it is not in the file."""
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
        return Layer(config=ConfigFile(), diagnostics=mistakes, file=path, kind=kind, positions=Positions(lines={}))
    check: Callable[[TomlDocument], Checked] = import_module(CHECKING).check
    checked = check(document)
    return Layer(
        config=checked.config,
        diagnostics=checked.diagnostics,
        invalid=checked.invalid,
        file=path,
        kind=kind,
        positions=document.positions,
    )
