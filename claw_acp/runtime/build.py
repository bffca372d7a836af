"""The composition root: the one place where the services of the engine are made, each from what it needs."""

import os
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING

import anyio
from anyio.abc import TaskGroup

from claw_acp.config.current import CurrentSettings
from claw_acp.config.locations import Locations, find_locations, private_directory
from claw_acp.config.settings import Settings
from claw_acp.contracts.command import Command
from claw_acp.core.clock import SYSTEM_CLOCK, Clock
from claw_acp.registry.lazy import Lazy
from claw_acp.registry.reference import Ref
from claw_acp.runtime.engine import Engine
from claw_acp.runtime.key_status import KeyStatus
from claw_acp.runtime.live_session import LiveSessions, SharedSessions
from claw_acp.runtime.sessions import Sessions
from claw_acp.session.journal import Journal
from claw_acp.session.lock import SessionLock
from claw_acp.session.session import CLEANUP_TIMEOUT
from claw_acp.workspace.process_host import ProcessHost

if TYPE_CHECKING:
    from claw_acp.runtime.accounts import Accounts
    from claw_acp.runtime.discovery import Discovery
    from claw_acp.runtime.turns import Turns

# Loaded when they are first used: nothing of them is needed to open a session.
ACCOUNTS: "Ref[Callable[..., Accounts]]" = Ref("claw_acp.runtime.accounts:Accounts")
DISCOVERY: "Ref[Callable[..., Discovery]]" = Ref("claw_acp.runtime.discovery:Discovery")
TURNS: "Ref[Callable[..., Turns]]" = Ref("claw_acp.runtime.turns:Turns")
SIGN_LAST_LINE: "Ref[Callable[[CurrentSettings], Awaitable[None]]]" = Ref(
    "claw_acp.runtime.last_checkpoint:sign_last_line"
)
MAKE_COMMANDS: "Ref[Callable[[], Sequence[Command]]]" = Ref("claw_acp.runtime.registries:make_commands")


@asynccontextmanager
async def open_engine(
    *, environ: Mapping[str, str] = os.environ, clock: Clock = SYSTEM_CLOCK, beside: Engine | None = None
) -> AsyncGenerator[Engine]:
    """Run the engine for the block; leaving it cancels turns, kills programs and commits the journal.

    Args:
        environ: The environment: keys, settings, and what commands inherit.
        clock: Time.
        beside: An engine of this process with another environment, whose sessions the two share. It ends later.

    Raises:
        ConfigError: The directories cannot be created.
        StoreError: The journal cannot be opened.
    """
    configuration = CurrentSettings(locations=find_locations(environ), environ=environ)
    locations = configuration.locations
    async with (
        _shared_sessions(locations, clock=clock) if beside is None else nullcontext(beside.shared) as shared,
        _signed_at_end(configuration),
        ProcessHost(environ) as processes,
        anyio.create_task_group() as tasks,
    ):
        engine = _engine(
            shared=shared, processes=processes, configuration=configuration, environ=environ, clock=clock, tasks=tasks
        )
        try:
            yield engine
        finally:
            with anyio.move_on_after(CLEANUP_TIMEOUT, shield=True):
                await engine.aclose()
            tasks.cancel_scope.cancel()


@asynccontextmanager
async def _shared_sessions(locations: Locations, *, clock: Clock) -> AsyncGenerator[SharedSessions]:
    private_directory(locations.data_dir)
    async with Journal.opened(locations.database, clock=clock) as journal:
        yield SharedSessions(journal=journal, live=LiveSessions(), locks=SessionLock(locations.lock_dir))


@asynccontextmanager
async def _signed_at_end(configuration: CurrentSettings) -> AsyncGenerator[None]:
    """Have the audit log signed behind the block, if it grew meanwhile; not when the process is killed."""
    before = _written(configuration.locations)
    try:
        yield
    finally:
        if _written(configuration.locations) != before:
            await SIGN_LAST_LINE.load()(configuration)


def _written(locations: Locations) -> int:
    try:
        return (locations.audit_dir / "audit.jsonl").stat().st_size
    except OSError:
        return 0


def _make_commands() -> Sequence[Command]:
    return MAKE_COMMANDS.load()()


def _engine(
    *, shared: SharedSessions, processes: ProcessHost, configuration: CurrentSettings, environ: Mapping[str, str],
    clock: Clock, tasks: TaskGroup,
) -> Engine:  # fmt: skip
    locations = configuration.locations
    keys = KeyStatus(on_change=configuration.announce_change)
    discovery = Lazy(
        lambda: DISCOVERY.load()(
            configuration,
            live=shared.live,
            cache_dir=locations.cache_dir,
            processes=processes,
            clock=clock,
            tasks=tasks,
        )
    )

    async def first_model(root: Path) -> tuple[Settings, str, str | None]:
        return await discovery().first_model(root)

    sessions = Sessions(
        shared=shared, processes=processes, configuration=configuration, locations=locations, clock=clock, tasks=tasks,
        commands=Lazy(_make_commands), first_model=first_model,
    )  # fmt: skip
    turns = Lazy(
        lambda: TURNS.load()(
            sessions=sessions, configuration=configuration, discovery=discovery(), ledger=shared.journal.ledger,
            locks=shared.locks, locations=locations, keys=keys, clock=clock, tasks=tasks,
        )
    )  # fmt: skip
    accounts = Lazy(
        lambda: ACCOUNTS.load()(
            configuration, keys=keys, locations=locations, environ=environ, on_listed=discovery().listed
        )
    )
    return Engine(
        sessions=sessions, configuration=configuration, turns=turns, accounts=accounts, discovery=discovery,
        shared=shared, clock=clock, tasks=tasks,
    )  # fmt: skip
