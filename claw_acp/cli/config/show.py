"""`claw-acp config`: the effective settings and their origins; changing them."""

import argparse
import json
import shutil
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path
from textwrap import fill
from typing import cast

from claw_acp.cli.current_settings import locations_here, settings_here
from claw_acp.cli.terminal.paint import Paint, columns
from claw_acp.config.documentation import key_rows
from claw_acp.config.entries import entries
from claw_acp.config.environment import variables
from claw_acp.config.key_reference import KeyReference
from claw_acp.config.model import ConfigFile
from claw_acp.config.secret_text import SecretText
from claw_acp.config.settings import Settings
from claw_acp.core.address import shown_address
from claw_acp.core.redaction import redact
from claw_acp.core.value import replace
from claw_acp.providers.registry.overview import unknown_kinds
from claw_acp.registry.reference import Ref

SET: "Ref[Callable[[argparse.Namespace], int]]" = Ref("claw_acp.cli.config.set:main")

_SETTING = """\
Change values in your config.toml. Its comments stay, and nothing is written that is unknown or wrong."""
_EXAMPLES = """\
values are TOML, or plain text; NAME is a name of your own, or of a service that is known

examples:
  claw-acp config set mode plan
  claw-acp config set providers.work.kind openai providers.work.base_url http://127.0.0.1:8080/v1
  claw-acp config set permissions.deny '["read(**/.env)"]'
"""


def main(argv: Sequence[str]) -> int:
    """Print the settings of the current directory, diagnostics last; or change some."""
    parser = argparse.ArgumentParser(prog="claw-acp config", description="The configuration.")
    commands = parser.add_subparsers(dest="command", required=True)
    show = commands.add_parser("show", help="the effective settings and where each came from")
    show.add_argument("--json", action="store_true", help="for programs")
    change = commands.add_parser(
        "set", help="change values in your config.toml", description=_SETTING, epilog=f"{_EXAMPLES}\nkeys:\n{_keys()}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )  # fmt: skip
    change.add_argument("words", nargs="+", metavar="KEY VALUE", help="keys, each with its value")
    options = parser.parse_args(argv)
    if options.command == "set":
        return SET.load()(options)
    settings = with_unknown_kinds(settings_here())
    if options.json:
        print(json.dumps(_as_json(settings), indent=2))
    else:
        _print(settings)
    return 0


def _keys() -> str:
    """Every key of the file, as text for people."""
    width = shutil.get_terminal_size().columns - 2  # as argparse has it
    indented = partial(fill, width=width, initial_indent=" " * 6, subsequent_indent=" " * 6)
    rows = (row for row in key_rows() if row.in_file)
    return "\n".join(f"  {row.key}: {row.facts}\n{indented(row.text)}" for row in rows)


def with_unknown_kinds(settings: Settings) -> Settings:
    """The settings with a diagnostic for each provider with an unknown wire family."""
    return replace(settings, diagnostics=(*settings.diagnostics, *unknown_kinds(settings)))


def effective_values(settings: Settings) -> Iterator[tuple[str, object]]:
    """Every key of `config.toml` that has a value, and the other settings; secrets as references or masked."""
    logins = {
        f"logins.{name}": "none needed" if login.reference is None else login.reference.describe()
        for name, login in settings.logins.items()
    }
    yield from _values(settings, ConfigFile.key_names())
    yield from logins.items()
    yield from _values(settings, (name for name in variables() if name.partition(".")[0] not in ConfigFile.key_names()))


def _values(settings: Settings, names: Iterable[str]) -> Iterator[tuple[str, object]]:
    for name in names:
        yield from ((entry.key, shown(entry.value)) for entry in entries(getattr(settings, name), name))


def shown(value: object) -> object:
    """A value for display."""
    if isinstance(value, KeyReference | SecretText):
        return value.describe()
    if isinstance(value, dict):
        return {name: shown(inner) for name, inner in cast("dict[str, object]", value).items()}
    if isinstance(value, list | tuple):
        return [shown(inner) for inner in cast("Sequence[object]", value)]
    if isinstance(value, str):
        return shown_address(value) if "://" in value else redact(value)
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
            for finding in settings.diagnostics
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
    for finding in settings.diagnostics:
        print(f"{paint(finding.severity, 'red' if finding.severity == 'error' else 'yellow')}: {finding.text()}")
