"""Control methods about the server as a whole."""

import os

import anyio

from claw_acp.core.errors import ClawError, InvalidRequest, ServerBusy
from claw_acp.core.version import VERSION
from claw_acp.gateway.access.client import Client
from claw_acp.gateway.access.pairing import VALID
from claw_acp.gateway.control.server import ControlledServer
from claw_acp.gateway.control.wire import (
    AttachedProgram,
    BeginPairing,
    Check,
    Health,
    MetricsText,
    Nothing,
    PairingCode,
    Status,
    SupervisedProgram,
)
from claw_acp.schedule.lease import Lease
from claw_acp.telemetry.prometheus import figures_text


async def status(server: ControlledServer, _params: Nothing) -> Status:
    """The server in figures."""
    sessions = (await server.engine.engine()).sessions.in_use()
    return Status(
        version=VERSION,
        pid=os.getpid(),
        uptime_seconds=round(anyio.current_time() - server.started_at, 1),
        attached=server.attached(),
        remote=server.remote(),
        sessions=len(sessions),
        turns=sum(bool(live.turns) for live in sessions),
        programs=[AttachedProgram.model_validate(row) for row in server.programs()],
        supervised=[SupervisedProgram.model_validate(row) for row in server.supervised()],
    )


async def health(server: ControlledServer, _params: Nothing) -> Health:
    """The engine, the store and the schedules, each tried."""
    checks = [await _engine(server)]
    if checks[0].ok:
        checks.append(await _store(server))
    fires = Lease(server.locations.schedule_dir).held
    checks.append(Check(name="schedules", ok=fires, detail="" if fires else "no process fires jobs"))
    return Health(ok=all(check.ok for check in checks), checks=checks)


async def _engine(server: ControlledServer) -> Check:
    try:
        await server.engine.engine()
    except ClawError as error:
        return Check(name="engine", ok=False, detail=error.message)
    return Check(name="engine", ok=True)


async def _store(server: ControlledServer) -> Check:
    try:
        await (await server.engine.engine()).sessions.list(cwd=None, cursor=None)
    except ClawError as error:
        return Check(name="store", ok=False, detail=error.message)
    return Check(name="store", ok=True)


async def metrics(server: ControlledServer, _params: Nothing) -> MetricsText:
    """The figures as text."""
    if server.metrics is None:
        raise ServerBusy("the figures are not there yet; try again in a moment")
    return MetricsText(text=figures_text(server.metrics, "")[0].decode())


async def shutdown(server: ControlledServer, _params: Nothing) -> Nothing:
    """End the server."""
    server.stop()
    return Nothing()


def may_begin_pairing(client: Client, params: BeginPairing) -> bool:
    """Return whether a client may hand on what it asks for."""
    return client.may_grant(params.scopes, lifetime=params.lifetime_seconds)


async def begin_pairing(server: ControlledServer, params: BeginPairing) -> PairingCode:
    """Make a code."""
    if server.pairing is None:
        raise InvalidRequest("this server does not listen for remote clients; start it without --no-listen")
    code = server.pairing.begin(frozenset(params.scopes), lifetime=params.lifetime_seconds)
    return PairingCode(code=code, valid_seconds=round(VALID), url=server.url)
