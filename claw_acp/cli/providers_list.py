"""`claw-acp providers list`: who can answer, with which key, and what is missing."""

import argparse
import json
from collections.abc import Sequence

from claw_acp.cli.here import settings_here
from claw_acp.cli.paint import Paint, columns
from claw_acp.core.errors import ClawError
from claw_acp.core.value import as_dict
from claw_acp.providers.overview import ProviderState, provider_states
from claw_acp.providers.resolve import resolve


def main(argv: Sequence[str]) -> int:
    """Print the providers in the order in which one is chosen."""
    parser = argparse.ArgumentParser(prog="claw-acp providers", description="Model providers.")
    commands = parser.add_subparsers(dest="command", required=True)
    listing = commands.add_parser("list", help="all providers, their keys and models")
    listing.add_argument("--json", action="store_true", help="for programs")
    options = parser.parse_args(argv)
    states = provider_states(settings := settings_here())
    try:
        chosen, trouble = resolve(settings, model=None).name, None
    except ClawError as error:
        chosen, trouble = None, error.message
    if options.json:
        print(json.dumps({"chosen": chosen, "problem": trouble, "providers": [as_dict(s) for s in states]}, indent=2))
        return 0
    paint = Paint()
    for line, state in zip(columns([_row(state) for state in states]), states, strict=True):
        print(f"{paint('ready', 'green') if state.ready else paint('-    ', 'dim')}  {line}")
    print(f"\na new session uses {chosen}" if chosen else f"\nno new session can start: {trouble}")
    return 0


def _row(state: ProviderState) -> tuple[str, ...]:
    key = f"key: {state.key_source}" if state.key_source else state.problem or "no key needed"
    return state.name, state.kind or "?", key, state.base_url or "-", ", ".join(state.models)
