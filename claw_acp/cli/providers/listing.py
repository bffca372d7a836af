"""`claw-acp providers`: the providers with their keys and problems; testing one of them."""

import argparse
import json
from collections.abc import Callable, Sequence

from claw_acp.cli.known_models import settings_found_here
from claw_acp.cli.terminal.paint import Paint, table, terminal_width
from claw_acp.core.errors import ClawError
from claw_acp.core.value import as_dict
from claw_acp.providers.registry.overview import ProviderState, provider_states
from claw_acp.providers.selection.resolve import resolve
from claw_acp.registry.reference import Ref

TEST: "Ref[Callable[[argparse.Namespace], int]]" = Ref("claw_acp.cli.providers.test:main")
SHOWN = 3
"""The number of models in a line."""
HEADS = ("STATE", "PROVIDER", "KIND", "KEY", "ADDRESS", "MODELS")


def main(argv: Sequence[str]) -> int:
    """Print the providers in the order in which one is chosen, or test one."""
    parser = argparse.ArgumentParser(prog="claw-acp providers", description="Model providers.")
    commands = parser.add_subparsers(dest="command", required=True)
    listing = commands.add_parser("list", help="all providers, their keys and models")
    listing.add_argument("word", nargs="?", default="", help="only those that have this in their name or address")
    listing.add_argument("--ready", action="store_true", help="only those that can be used now")
    listing.add_argument("--local", action="store_true", help="only model servers on this machine")
    listing.add_argument("--json", action="store_true", help="for programs")
    trying = commands.add_parser("test", help="send one provider a small request, and show what it can do")
    trying.add_argument("name", help="the provider, as in the list")
    trying.add_argument("--model", help="the model to ask (default: the provider's first)")
    trying.add_argument("--json", action="store_true", help="for programs")
    options = parser.parse_args(argv)
    return TEST.load()(options) if options.command == "test" else _list(options)


def _list(options: argparse.Namespace) -> int:
    states = provider_states(settings := settings_found_here())
    try:
        chosen, trouble = resolve(settings, model=None).name, None
    except ClawError as error:
        chosen, trouble = None, error.message
    shown = [state for state in states if _is_wanted(state, options)]
    if options.json:
        print(json.dumps({"chosen": chosen, "problem": trouble, "providers": [as_dict(s) for s in shown]}, indent=2))
        return 0
    paint = Paint()
    head, *rows = table([HEADS, *(_row(state) for state in shown)], width=terminal_width())
    print(*head, sep="\n")
    for lines, state in zip(rows, shown, strict=True):
        place = len(HEADS[0])
        text = "\n".join(lines)
        print(paint(text[:place], "green" if state.ready else "dim") + text[place:])
    ready = sum(state.ready for state in states)
    print(f"\n{len(shown)} of {len(states)} providers, {ready} ready; `claw-acp providers test NAME` tries one")
    print(f"a new session uses {chosen}" if chosen else f"no new session can start: {trouble}")
    return 0


def _is_wanted(state: ProviderState, options: argparse.Namespace) -> bool:
    word: str = options.word.lower()
    found = any(word in text.lower() for text in (state.name, state.kind, state.base_url, *state.aliases))
    return found and (state.ready or not options.ready) and (state.local or not options.local)


def _row(state: ProviderState) -> tuple[str, ...]:
    key = f"key: {state.key_source}" if state.key_source else _problem(state) or "no key needed"
    more = f" and {state.further_keys} more" if state.further_keys else ""
    models = ", ".join(state.models[:SHOWN]) + (f" and {len(state.models) - SHOWN} more" * (len(state.models) > SHOWN))
    word = "ready" if state.ready else "-"
    return word, state.name, state.kind or "?", key + more, state.base_url or "-", models


def _problem(state: ProviderState) -> str | None:
    """The problem of a provider, without the name of its table, which precedes it."""
    table_name = f"[providers.{state.name}]"
    return state.problem and state.problem.removeprefix(f"{table_name} ").replace(f" in {table_name}", "", 1)
