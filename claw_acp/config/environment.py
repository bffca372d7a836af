"""The variables of our own: `CLAW_ACP_MODEL`, `_MODE`, `_LOG`, `_TRACE`, `_LOCAL_SERVERS`, `_MODEL_LISTS` and so on.

The vendors' variables (keys, addresses) are looked up where a provider is resolved.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import TypeVar

from claw_acp.config.anchor import anchored
from claw_acp.config.finding import Finding, did_you_mean
from claw_acp.config.model import MODES, REFERENCE_USES, Mode, ModelReferenceUse
from claw_acp.config.server_places import VARIABLE as LOCAL_SERVERS
from claw_acp.config.server_places import server_places
from claw_acp.config.settings import LOG_LEVELS, LogLevel, Origin
from claw_acp.core.value import Value

MODEL, MODE, LOG, TRACE = "CLAW_ACP_MODEL", "CLAW_ACP_MODE", "CLAW_ACP_LOG", "CLAW_ACP_TRACE"

MODEL_LISTS = "CLAW_ACP_MODEL_LISTS"
MODEL_REFERENCE = "CLAW_ACP_MODEL_REFERENCE"
_SWITCH: Mapping[str, bool] = {"on": True, "off": False}

_Word = TypeVar("_Word", bound=str)


class EnvironmentValues(Value):
    """What the variables say; None where one is not set, is empty, or is wrong."""

    model: str | None
    mode: Mode | None
    log_level: LogLevel | None
    trace: Path | None
    local_servers: bool | None
    server_places: Mapping[str, str]
    model_lists: bool | None
    model_reference: ModelReferenceUse | None
    findings: tuple[Finding, ...]

    @property
    def origins(self) -> dict[str, Origin]:
        """The origin of each value that is set."""
        values = {
            "model": (self.model, MODEL),
            "mode": (self.mode, MODE),
            "log_level": (self.log_level, LOG),
            "trace": (self.trace, TRACE),
            "model_reference": (self.model_reference, MODEL_REFERENCE),
        }
        found = {key: Origin(kind="environment", place=variable) for key, (value, variable) in values.items() if value}
        if self.local_servers is not None:
            places = (f"server_places.{name}" for name in self.server_places)
            found |= dict.fromkeys(("local_servers", *places), Origin(kind="environment", place=LOCAL_SERVERS))
        if self.model_lists is not None:
            found["model_lists"] = Origin(kind="environment", place=MODEL_LISTS)
        return found


def read_environment(environ: Mapping[str, str]) -> EnvironmentValues:
    """The values of our variables in `environ`."""
    findings: list[Finding] = []
    mode: Mode | None = _one_of(MODES, variable=MODE, environ=environ, findings=findings)
    level: LogLevel | None = _one_of(LOG_LEVELS, variable=LOG, environ=environ, findings=findings)
    trace = environ.get(TRACE, "").strip()
    lists = _one_of(tuple(_SWITCH), variable=MODEL_LISTS, environ=environ, findings=findings)
    local_servers, places = _local_servers(environ.get(LOCAL_SERVERS, ""), findings=findings)
    return EnvironmentValues(
        model=environ.get(MODEL, "").strip() or None,
        mode=mode,
        log_level=level,
        trace=anchored(trace, directory=Path.cwd(), home=environ.get("HOME", "")) if trace else None,
        local_servers=local_servers,
        server_places=places,
        model_lists=None if lists is None else _SWITCH[lists],
        model_reference=_one_of(REFERENCE_USES, variable=MODEL_REFERENCE, environ=environ, findings=findings),
        findings=tuple(findings),
    )


def _local_servers(text: str, *, findings: list[Finding]) -> tuple[bool | None, Mapping[str, str]]:
    """Whether model servers on this machine are looked for (None: as configured), and where."""
    if not text.strip():
        return None, {}
    try:
        said = server_places(text)
    except ValueError as error:
        message = f"{error}; it is ignored"
        findings.append(Finding(severity="error", file=LOCAL_SERVERS, line=None, key="", message=message))
        return None, {}
    return (said, {}) if isinstance(said, bool) else (True, said)


def _one_of(
    words: tuple[_Word, ...], *, variable: str, environ: Mapping[str, str], findings: list[Finding]
) -> _Word | None:
    value = environ.get(variable, "").strip().lower()
    for word in words:
        if word == value:
            return word
    if value:
        findings.append(
            Finding(
                severity="error",
                file=variable,
                line=None,
                key="",
                message=f"must be one of {', '.join(words)}; it is ignored",
                suggestion=did_you_mean(value, words),
            )
        )
    return None
