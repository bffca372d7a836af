"""`claw-acp logout`: remove keys that `claw-acp login` stored."""

import argparse
import os
import sys
from collections.abc import Sequence

from claw_acp.cli.current_settings import audit_here, locations_here, settings_here
from claw_acp.config.credential_store import CredentialStore
from claw_acp.config.credentials import BY_LOGIN
from claw_acp.providers.registry.overview import provider_states


def main(argv: Sequence[str]) -> int:
    """Remove one login or all; 1 if there was none."""
    parser = argparse.ArgumentParser(prog="claw-acp logout", description="Remove keys that `claw-acp login` stored.")
    parser.add_argument("provider", nargs="?", help="the provider; may be left out when there is only one")
    parser.add_argument("--all", action="store_true", help="all of them")
    options = parser.parse_args(argv)
    if options.all and options.provider:
        parser.error("name a provider, or use --all")
    store = CredentialStore(locations_here(), os.environ)
    names = list(settings_here().logins)
    chosen: str | None = options.provider
    if not options.all and chosen is None:
        if len(names) > 1:
            print(f"You are logged in to {', '.join(names)}: name one, or use --all.", file=sys.stderr)
            return 2
        chosen = next(iter(names), None)
    if chosen or options.all:
        audit_here().record("logout", {"by": "claw-acp logout", "provider": chosen or "all"})
    gone = store.forget_all() if options.all else [chosen] if chosen and store.forget(chosen) else []
    if not gone and not names and store.path.exists():
        print(f"{store.path} holds nothing that is used; `claw-acp logout --all` removes it.", file=sys.stderr)
        return 1
    if not gone:
        print(f"You are not logged in{f' to {chosen}' if chosen else ''}.", file=sys.stderr)
        return 1
    print(f"Removed: {', '.join(gone)}.")
    named: set[str] = set()
    for state in provider_states(settings_here()):
        if state.key_source and not state.key_source.startswith(BY_LOGIN) and state.key_source not in named:
            named.add(state.key_source)
            print(f"Not removed: the key of {state.name} from {state.key_source}.")
    return 0
