"""`claw-acp config show`: the effective settings, and where each came from."""

import argparse
import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import cast

from claw_acp.cli.here import locations_here, settings_here
from claw_acp.cli.paint import Paint, columns
from claw_acp.config.fields import Section
from claw_acp.config.key_reference import KeyReference
from claw_acp.config.secret_text import SecretText
from claw_acp.config.settings import Settings
from claw_acp.core.address import shown_address
from claw_acp.core.value import replace
from claw_acp.providers.overview import unknown_kinds


def main(argv: Sequence[str]) -> int:
    """Print the settings of the current directory; findings about them go last."""
    parser = argparse.ArgumentParser(prog="claw-acp config", description="The configuration.")
    commands = parser.add_subparsers(dest="command", required=True)
    show = commands.add_parser("show", help="the effective settings and where each came from")
    show.add_argument("--json", action="store_true", help="for programs")
    options = parser.parse_args(argv)
    settings = with_unknown_kinds(settings_here())
    if options.json:
        print(json.dumps(_as_json(settings), indent=2))
    else:
        _print(settings)
    return 0


def with_unknown_kinds(settings: Settings) -> Settings:
    """The settings with a finding for each provider of a wire family that there is not."""
    return replace(settings, findings=(*settings.findings, *unknown_kinds(settings)))


def effective_values(settings: Settings) -> Iterator[tuple[str, object]]:
    """Dotted keys with their values, keys of providers as references or masked."""
    yield "model", settings.model
    yield "vision_model", settings.vision_model
    yield "mode", settings.mode
    yield "protocol_2", settings.protocol_2
    for name, section in settings.providers.items():
        yield from _set_values(section, prefix=f"providers.{name}")
    for name, login in settings.logins.items():
        yield f"logins.{name}", "none needed" if login.reference is None else login.reference.describe()
    for name, entry in settings.mcp.items():
        yield from _set_values(entry, prefix=f"mcp.{name}")
    yield from ((f"routes.{name}", model) for name, model in settings.routes.items())
    for index, rule in enumerate(settings.rules):
        yield from _set_values(rule, prefix=f"rules[{index}]")
    for key in ("allow", "ask", "deny"):
        rules: tuple[str, ...] = getattr(settings.permissions, key)
        yield from ((f"permissions.{key}[{index}]", rule) for index, rule in enumerate(rules))
    for key in type(settings.limits).model_fields:
        yield f"limits.{key}", getattr(settings.limits, key)
    yield "log_level", settings.log_level
    yield "trace", settings.trace and str(settings.trace)


def _set_values(section: Section, *, prefix: str) -> Iterator[tuple[str, object]]:
    for key in type(section).model_fields:
        value: object = getattr(section, key)
        if isinstance(value, Section):
            yield from _set_values(value, prefix=f"{prefix}.{key}")
        elif key in section.model_fields_set:
            yield f"{prefix}.{key}", _shown(value)


def _shown(value: object) -> object:
    if isinstance(value, KeyReference | SecretText):
        return value.describe()
    if isinstance(value, dict):
        return {name: _shown(inner) for name, inner in cast("dict[str, object]", value).items()}
    if isinstance(value, list | tuple):
        return [_shown(inner) for inner in cast("Sequence[object]", value)]
    if isinstance(value, str) and "://" in value:
        return shown_address(value)
    return str(value) if isinstance(value, Path) else value


def _as_json(settings: Settings) -> dict[str, object]:
    locations = locations_here()
    return {
        "file": str(locations.config_file),
        "values": {
            key: {"value": value, "origin": settings.origin(key).text()} for key, value in effective_values(settings)
        },
        "findings": [
            {
                "severity": finding.severity,
                "file": finding.file,
                "line": finding.line,
                "key": finding.key,
                "message": finding.message,
                "suggestion": finding.suggestion,
            }
            for finding in settings.findings
        ],
    }


def _print(settings: Settings) -> None:
    paint = Paint()
    file = locations_here().config_file
    print(f"# {file}{'' if file.exists() else ' (not there; the defaults apply)'}")
    rows = [
        (key, "(automatic)" if value is None and key == "model" else json.dumps(value, ensure_ascii=False))
        for key, value in effective_values(settings)
        if value is not None or key == "model"
    ]
    for line, (key, _) in zip(columns([(key, f"= {value}") for key, value in rows]), rows, strict=True):
        print(f"{line}  {paint(f'# {settings.origin(key).text()}', 'dim')}")
    for finding in settings.findings:
        print(f"{paint(finding.severity, 'red' if finding.severity == 'error' else 'yellow')}: {finding.text()}")
