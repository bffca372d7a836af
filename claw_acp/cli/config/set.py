"""`claw-acp config set`: change settings in the user's file."""

import argparse
import json
import sys
from collections.abc import Mapping

from claw_acp.cli.config.show import effective_values, shown
from claw_acp.cli.current_settings import locations_here, settings_here
from claw_acp.config.edit import set_values
from claw_acp.config.entries import entries
from claw_acp.config.model import ConfigFile


def main(options: argparse.Namespace) -> int:
    """Write the values and print the old and new ones."""
    words: list[str] = options.words
    if len(words) % 2:
        print("claw-acp config set: give a value for each key, as in: mode plan", file=sys.stderr)
        return 2
    file = locations_here().config_file
    edited = set_values(file, list(zip(words[::2], words[1::2], strict=True)))
    before, after = _values(edited.before), _values(edited.after)
    changed = [key for key in {**before, **after} if before.get(key) != after.get(key)]
    for key in changed:
        print(f"{key}: {_text(before.get(key))} -> {_text(after.get(key))}")
    if not changed:
        print(f"nothing changed: {file} says that already")
    settings = settings_here()
    effective = dict(effective_values(settings))
    for key in changed:
        if effective.get(key) != after.get(key):
            print(f"note: {key} is {_text(effective.get(key))} here, by {settings.origin(key).text()}")
    return 0


def _values(config: ConfigFile) -> Mapping[str, object]:
    """The values by key, with defaults for unset ones."""
    found = (entry for name in ConfigFile.key_names() for entry in entries(getattr(config, name), name))
    return {entry.key: shown(entry.value) for entry in found}


def _text(value: object) -> str:
    return "not set" if value is None else json.dumps(value, ensure_ascii=False)
