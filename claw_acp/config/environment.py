"""Our own environment variables, such as `CLAW_ACP_MODE`, each declared by the field that it sets.

The vendors' variables (keys, addresses) are looked up where a provider is resolved.
"""

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Literal, get_args, get_origin

from claw_acp.config.diagnostic import Diagnostic, did_you_mean
from claw_acp.config.entries import entries
from claw_acp.config.fields import Section, Variable, hints_of, marker, plain_type
from claw_acp.config.paths import resolve_path
from claw_acp.config.settings import Origin, Settings
from claw_acp.core.value import Value

_SWITCH = {"on": True, "off": False}


class EnvironmentValues(Value):
    """The keys that variables set, with the origin of each value; an empty or invalid variable sets none."""

    values: Mapping[str, object]
    origins: Mapping[str, Origin]
    diagnostics: tuple[Diagnostic, ...]


@cache
def variables() -> Mapping[str, Variable]:
    """The variables by the key that they set."""
    found = {key: marker(hint, Variable) for key, hint in _hints().items()}
    return {key: variable for key, variable in found.items() if variable is not None}


@cache
def _hints() -> Mapping[str, object]:
    """The annotation of each key, those of tables included: `sandbox.use`."""
    own = hints_of(Settings)
    tables = {name: kind for name, hint in own.items() if isinstance(kind := plain_type(hint), type)}
    inner = {name: hints_of(kind) for name, kind in tables.items() if issubclass(kind, Section)}
    return {**own, **{f"{name}.{key}": hint for name, hints in inner.items() for key, hint in hints.items()}}


def read_environment(environ: Mapping[str, str]) -> EnvironmentValues:
    """The values of our variables in `environ`."""
    values: dict[str, object] = {}
    origins: dict[str, Origin] = {}
    diagnostics: dict[str, Diagnostic] = {}
    for field, variable in variables().items():
        text = environ.get(variable.name, "").strip()
        if text:
            try:
                values[field] = _parsed(text, field=field, variable=variable, home=environ.get("HOME", ""))
            except ValueError as error:
                diagnostics[variable.name] = _diagnostic(variable, text, field=field, reason=str(error))
            else:
                origin = Origin(kind="environment", place=variable.name)
                origins |= {entry.key: origin for entry in entries(values[field], field)}
    return EnvironmentValues(values=values, origins=origins, diagnostics=tuple(diagnostics.values()))


def _parsed(text: str, *, field: str, variable: Variable, home: str) -> object:
    if variable.parse is not None:
        return variable.parse(text)
    kind = plain_type(_hints()[field])
    if words := _words(field):
        if (word := text.lower()) not in words:
            raise ValueError(f"must be one of {', '.join(words)}")
        return _SWITCH[word] if kind is bool else word
    is_path = Path in get_args(kind)
    return resolve_path(text, directory=Path.cwd(), home=home) if is_path else text


def _words(field: str) -> tuple[str, ...]:
    kind = plain_type(_hints()[field])
    if kind is bool:
        return tuple(_SWITCH)
    return get_args(kind) if get_origin(kind) is Literal else ()


def _diagnostic(variable: Variable, text: str, *, field: str, reason: str) -> Diagnostic:
    return Diagnostic(
        severity="error",
        file=variable.name,
        line=None,
        key="",
        message=f"{reason}; it is ignored",
        suggestion=None if variable.parse else did_you_mean(text.lower(), _words(field)),
    )
