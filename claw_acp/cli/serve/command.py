"""The command line of `claw-acp serve`."""

import argparse
import logging
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Final

import anyio

from claw_acp.acp.dialect import spoken_versions
from claw_acp.cli.current_settings import locations_here
from claw_acp.cli.serve.access import pair, token
from claw_acp.cli.serve.running import ask_hub, start_in_background, stop_hub
from claw_acp.cli.serve.service import install_service
from claw_acp.config.hub_socket import hub_socket
from claw_acp.config.load import load_settings
from claw_acp.config.other_hubs import REPLACING, other_hubs
from claw_acp.core.clock import SYSTEM_CLOCK
from claw_acp.core.errors import ConfigError
from claw_acp.gateway.access.admission import Admission
from claw_acp.gateway.access.token_store import TokenStore
from claw_acp.gateway.address import DEFAULT_HOST, DEFAULT_PORT, Address, bind
from claw_acp.gateway.app import ENDPOINT
from claw_acp.gateway.http.limits import Limits
from claw_acp.gateway.hub.socket_file import hub_listener
from claw_acp.gateway.serve import HubListener, NetworkListener, Terms, serve
from claw_acp.gateway.token_file import KEPT_AS, Token, kept_token, read_token
from claw_acp.process.groups import kill_all_groups
from claw_acp.runtime.event_loop import SERVER
from claw_acp.security.own_process import make_unreadable
from claw_acp.telemetry.logs import logging_to
from claw_acp.telemetry.trace import FrameTrace

log = logging.getLogger(__name__)

_EXPLAINED = f"""\
Editors of this machine that start `claw-acp` are connected to it by a socket. Over the network, {ENDPOINT} speaks the
Agent Client Protocol, by a WebSocket or streamable HTTP (version 2 or 1.1), and / is a page that shows what runs. The
first line on stdout is the address; Ctrl-C ends the server and all its sessions, which stay in the journal.

Connected clients can write files and run commands in your name, so clients must show a token:
`Authorization: Bearer TOKEN`, or, for a WebSocket opened by a web page, the subprotocols `acp` and `acp.bearer.TOKEN`.
It is made at the first start and kept in `{KEPT_AS}` in the state directory, readable by you alone.
`claw-acp serve token add` makes further tokens, for parts of it; `claw-acp serve pair` gives one to another machine.
There is no encryption: for other machines put a proxy with TLS in front, or use an SSH tunnel.
"""


ACCESS: Final[Mapping[str, Callable[[Sequence[str]], int]]] = {"token": token, "pair": pair}


def main(argv: Sequence[str]) -> int:
    """Serve until stopped, or tell about a hub that is running."""
    if argv and (command := ACCESS.get(argv[0])):
        return command(argv[1:])
    options = _parser().parse_args(argv)
    if options.status:
        return _show_status()
    if options.stop:
        print("The hub has ended." if stop_hub() else "No hub is running.")
        return 0
    if options.install:
        return install_service([argument for argument in argv if argument != "--install"])
    if options.replace:
        stop_hub()
    if options.detach:
        status = start_in_background([argument for argument in argv if argument not in {"--detach", "--replace"}])
        print(f"The hub is running (process {status['pid']}). Editors that start `claw-acp` now use it.")
        return 0
    return _serve(options)


def _serve(options: argparse.Namespace) -> int:
    make_unreadable()
    network, token = (None, None) if options.no_listen else _network(options)
    settings = load_settings(locations=locations_here(), environ=os.environ, cwd=None)
    trace = None if settings.trace is None else FrameTrace(settings.trace)
    with (
        logging_to(locations_here().log_dir, level=settings.log_level),
        hub_listener(hub_socket(os.environ)) as attaching,
    ):
        for finding in settings.diagnostics:
            log.warning("configuration: %s", finding.text())
        try:
            spoken = spoken_versions(draft=settings.protocol_2)
            on_ready = partial(_tell, None if network is None else network.address, token)
            hub = HubListener(socket=attaching, idle=options.idle_exit)
            run = partial(serve, network, hub, spoken=spoken, trace=trace, on_ready=on_ready)
            anyio.run(run, backend_options=SERVER)
        finally:
            kill_all_groups()
            if trace is not None:
                trace.close()
    return 0


def _network(options: argparse.Namespace) -> tuple[NetworkListener, Token | None]:
    """The listening socket for remote clients, and the token that they must show."""
    address = Address.parse(options.listen)
    token = _token(options.token_file, without=options.no_token, address=address)
    limits = Limits(connections=options.connections, idle=options.idle)
    listening, address = bind(address, limits=limits)
    terms = Terms(
        admission=Admission(
            None if token is None else token.secret,
            TokenStore(locations_here().state_dir, clock=SYSTEM_CLOCK),
            clock=SYSTEM_CLOCK,
            chosen=options.token_file is not None,
        ),
        hosts=options.allow_host,
        origins=options.allow_origin,
        limits=limits,
    )
    return NetworkListener(socket=listening, address=address, terms=terms), token


def _show_status() -> int:
    """Print the status of the running hub; the exit code is 1 if there is none."""
    status = ask_hub("hub/status")
    for version in other_hubs(os.environ).values():
        print(f"A hub of version {version} is running. {REPLACING}")
    if status is None:
        print("No hub is running. `claw-acp serve --detach` starts one.")
        return 1
    print(
        f"The hub is running: version {status['version']}, process {status['pid']}, "
        f"for {status['uptimeSeconds']:.0f} s; {status['attached'] - 1} attached, "
        f"{status['sessions']} sessions open, {status['turns']} turns."
    )
    for program in status["programs"]:
        does = (
            "fires schedules"
            if program["role"] == "scheduler"
            else f"lends {', '.join(program['tools']) or 'no tools yet'}"
        )
        print(f"  {program['name']} {program['version']} {does}")
    for program in status["supervised"]:
        print(f"  [endpoints.{program['name']}] {program['state']}" + (program["reason"] and f": {program['reason']}"))
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="claw-acp serve",
        description="Serve editors, web clients and programs in one process: the hub.",
        epilog=_EXPLAINED,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--detach", action="store_true", help="start in the background; returns when it can be used")
    what.add_argument("--stop", action="store_true", help="stop the hub that is running")
    what.add_argument("--status", action="store_true", help="tell about the hub that is running")
    what.add_argument(
        "--install", action="store_true", help="write a service (systemd, launchd) that starts the hub with the session"
    )
    parser.add_argument("--replace", action="store_true", help="stop the hub that is running first")
    parser.add_argument(
        "--idle-exit", metavar="SECONDS", type=_positive, help="stop when nothing has been attached for so long"
    )
    parser.add_argument("--no-listen", action="store_true", help="serve programs of this machine only, by the socket")
    parser.add_argument(
        "--listen",
        metavar="HOST:PORT",
        default=f"{DEFAULT_HOST}:{DEFAULT_PORT}",
        help="where to listen (default %(default)s, this machine alone); port 0 takes a free one",
    )
    tokens = parser.add_mutually_exclusive_group()
    tokens.add_argument("--token-file", metavar="FILE", type=Path, help="a file with the token that clients must show")
    tokens.add_argument(
        "--no-token",
        action="store_true",
        help="let every program of every user on this machine in; only with a loopback address, and web pages only "
        "by --allow-origin",
    )
    _add_places(parser)
    _add_bounds(parser)
    return parser


def _add_places(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--allow-origin",
        metavar="ORIGIN",
        action="append",
        default=[],
        help="let web pages of this origin connect, as in https://editor.example; with a token, those of servers on "
        "this machine may anyway",
    )
    parser.add_argument(
        "--allow-host",
        metavar="NAME",
        action="append",
        default=[],
        help="another name this server is reached by, as behind a proxy; addresses and localhost are known",
    )


def _add_bounds(parser: argparse.ArgumentParser) -> None:
    usual = Limits()
    parser.add_argument(
        "--connections", metavar="N", type=_positive, default=usual.connections, help="at most (default %(default)s)"
    )
    parser.add_argument(
        "--idle",
        metavar="SECONDS",
        type=_positive,
        default=usual.idle,
        help="how long a client of streamable HTTP may be without a stream (default %(default)g)",
    )


def _positive(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError("must be at least 1")
    return number


def _token(file: Path | None, *, without: bool, address: Address) -> Token | None:
    if without:
        if not address.is_loopback:
            raise ConfigError(
                f"--no-token would let anyone who can reach {address.host} use your files and run commands; "
                "leave it out, or listen on 127.0.0.1"
            )
        return None
    return kept_token(locations_here().state_dir) if file is None else read_token(file)


def _tell(address: Address | None, token: Token | None) -> None:
    """Print the server's address: for programs on stdout, for people on stderr."""
    if address is None:
        print(hub_socket(os.environ), flush=True)
        return
    print(f"http://{address.text()}{ENDPOINT}", flush=True)
    lines = [f"WebSocket: ws://{address.text()}{ENDPOINT}", f"page:      http://{address.text()}/"]
    if token is None:
        lines += [
            "token:     none",
            "warning:   every program of every user on this machine can read and write your files and run commands",
            "           as you; of web pages only those named with --allow-origin are let in",
        ]
    elif token.is_new and sys.stderr.isatty():  # what is no terminal is likely a log, which keeps it
        lines.append(f"token:     {token.secret.reveal()} (new, kept in {token.file})")
    else:
        lines.append(f"token:     the one in {token.file}")
    if not address.is_loopback:
        lines.append("warning:   what is said here is not encrypted; use a proxy with TLS, or an SSH tunnel")
    print("\n".join(lines), file=sys.stderr, flush=True)
