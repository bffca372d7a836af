"""Mistakes in the configuration, as values: they are shown, and never stop the program."""

from collections.abc import Iterable
from typing import Literal

from claw_acp.core.nearest import nearest
from claw_acp.core.printable import printable
from claw_acp.core.value import Value


class Diagnostic(Value):
    """One mistake to correct.

    Attributes:
        severity: `error` when a setting could not be used, `warning` when something was ignored.
        file: The file's path, or the name of the environment variable.
        line: Counted from 1; None when the mistake is about the whole file or a variable.
        key: The dotted key, or empty.
        message: The problem. Never holds a value that may be secret.
        suggestion: A correction, if there is a likely one.
        column: Counted from 1, known only for text that is not TOML.
    """

    severity: Literal["warning", "error"]
    file: str
    line: int | None
    key: str
    message: str
    suggestion: str | None = None
    column: int | None = None

    def text(self) -> str:
        """The diagnostic as one line for people: `config.toml:3: modle: unknown key; did you mean "model"?`."""
        place = ":".join(str(part) for part in (self.file, self.line, self.column) if part is not None)
        what = f"{self.key}: {self.message}" if self.key else self.message
        return printable(f"{place}: {what}; {self.suggestion}" if self.suggestion else f"{place}: {what}")


def did_you_mean(wrong: str, valid: Iterable[str]) -> str | None:
    """A suggestion with the valid word closest to `wrong`; None when none is close."""
    meant = nearest(wrong, valid)
    return f'did you mean "{meant}"?' if meant else None
