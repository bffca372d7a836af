"""`claw-acp serve token` and `claw-acp serve pair`: tokens for clients other than the owner."""

import argparse
import sys
from collections.abc import Sequence
from functools import partial

from claw_acp.cli.current_settings import audit_here, locations_here
from claw_acp.cli.serve.running import ask_hub
from claw_acp.core.clock import SYSTEM_CLOCK, spoken_time
from claw_acp.core.errors import InvalidRequest
from claw_acp.gateway.access.scope import SCOPES
from claw_acp.gateway.access.token_store import StoredToken, TokenStore
from claw_acp.gateway.address import Address
from claw_acp.schedule.durations import duration_text, seconds_in


def token(argv: Sequence[str]) -> int:
    """Add, list or remove tokens; they count at once, also in a server that is running."""
    parser = argparse.ArgumentParser(
        prog="claw-acp serve token",
        description="Tokens that open parts of the server. They are shown once, and only their hashes are stored.",
    )
    commands = parser.add_subparsers(dest="command", required=True)
    add = commands.add_parser("add", help="make a token")
    add.add_argument("name", help="whom it is for")
    _add_grant(add)
    commands.add_parser("list", help="all tokens, without their texts")
    commands.add_parser("remove", help="remove a token").add_argument("name", help="its name")
    options = parser.parse_args(argv)
    note = partial(audit_here().record, "token")
    store = TokenStore(locations_here().state_dir, clock=SYSTEM_CLOCK, note=note)
    if options.command == "add":
        print(store.add(options.name, frozenset(options.scope), lifetime=options.expires).reveal())
        return 0
    if options.command == "list":
        print("\n".join(map(_line, store.all())) or "There is no token but the owner's.")
        return 0
    if store.remove(options.name):
        print(f"The token {options.name} is removed.")
        return 0
    print(f'There is no token "{options.name}".')
    return 1


def pair(argv: Sequence[str]) -> int:
    """Have the running server make a code, which another machine turns into a token."""
    parser = argparse.ArgumentParser(
        prog="claw-acp serve pair",
        description="Print a code. Whoever enters it on the page of the server, once and soon, gets a token; programs "
        'send it: POST /pair {"code": "...", "name": "..."}.',
    )
    _add_grant(parser)
    options = parser.parse_args(argv)
    answer = ask_hub("pairing/begin", {"scopes": options.scope, "lifetimeSeconds": options.expires})
    if answer is None:
        print("No hub is running. `claw-acp serve --detach` starts one.")
        return 1
    print(f"{answer['code']}   (valid for {duration_text(answer['validSeconds'])}, once)")
    address = Address.parse(answer["url"].removeprefix("http://").rstrip("/"))
    print(f"Enter it at {answer['url']} on the other machine, or send it: POST /pair", file=sys.stderr)
    if address.is_loopback:
        print(
            "Only this machine reaches that address. For another one use an SSH tunnel or a proxy with TLS, or start "
            "the server with --listen and an address of your network, which is not encrypted.",
            file=sys.stderr,
        )
    return 0


def _add_grant(parser: argparse.ArgumentParser) -> None:
    explained = "; ".join(f"{name}: {meaning}" for name, meaning in SCOPES.items())
    parser.add_argument(
        "--scope",
        action="append",
        required=True,
        choices=tuple(SCOPES),
        help=f"can be given several times. {explained}",
    )
    parser.add_argument("--expires", metavar="TIME", type=_lifetime, help="as in 12h or 7d; without it, never")


def _lifetime(text: str) -> int:
    try:
        seconds = seconds_in(text)
    except InvalidRequest as error:
        raise argparse.ArgumentTypeError(error.message) from error
    if not seconds:
        raise argparse.ArgumentTypeError("must be longer than that")
    return seconds


def _line(stored: StoredToken) -> str:
    ending = ""
    if stored.expires_at is not None:
        verb = "expired" if stored.expires_at <= SYSTEM_CLOCK.now() else "expires"
        ending = f"  {verb} {spoken_time(stored.expires_at)}"
    return f"{stored.name}  {' '.join(sorted(stored.scopes))}{ending}"
