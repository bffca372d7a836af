"""Imports made ahead of their use, in a worker thread, so that later requests need not wait.

In two steps, because memory counts as well: an editor that has only connected should not pay for what prompts need.
"""

import gc
import sys
from collections.abc import Awaitable, Callable
from functools import cache, partial
from importlib import import_module

from anyio import to_thread

from claw_acp.registry.reference import Ref
from claw_acp.runtime.engine import Engine
from claw_acp.runtime.live_session import LiveSession
from claw_acp.session.session import Session

SESSIONS = "claw_acp.acp.v1.sessions"
DISCOVERY = "claw_acp.runtime.discovery"
PROMPTS = "claw_acp.acp.v1.prompt"
CALLS = (  # what finds calls in text, and checks arguments and command lines
    "claw_acp.providers.text_tools.answer_reader",
    "pydantic.type_adapter",
    "claw_acp.security.command_policy",
)
REPORT_OTHER_HUBS: "Ref[Callable[[Session], Awaitable[None]]]" = Ref("claw_acp.acp.other_hubs:report_other_hubs")

REMEMBERED_SANDBOX: "Ref[Callable[..., str]]" = Ref("claw_acp.sandbox.findings:remembered_name")


async def for_sessions() -> None:
    """Import what opens a session, while the editor processes the answer to `initialize`."""
    await to_thread.run_sync(import_module, SESSIONS, abandon_on_cancel=True)


async def for_prompts(engine: Engine, live: LiveSession) -> None:
    """Import what runs the first prompt and the provider that answers it, while the user still types."""
    if not engine.loads_turns:
        engine.loads_turns = True
        for name in (PROMPTS, DISCOVERY):
            await to_thread.run_sync(import_module, name, abandon_on_cancel=True)
        await to_thread.run_sync(partial(_load_turns, engine, live), abandon_on_cancel=True)
        for name in CALLS:
            if not live.session.busy:  # a prompt that is there already needs the processor more
                await to_thread.run_sync(import_module, name, abandon_on_cancel=True)
        _keep_imports()
        if not engine.shared.live.lasting:
            report = await to_thread.run_sync(REPORT_OTHER_HUBS.load, abandon_on_cancel=True)
            await report(live.session)
    if not live.session.sandbox and sys.platform != "win32":
        name = await to_thread.run_sync(_remembered_sandbox, live, abandon_on_cancel=True)
        if name:
            await live.session.tell_sandbox(name)
    engine.discovery.look()
    fetch = partial(engine.discovery.fetch, live.settings, model=live.session.record.model)
    engine.tasks.start_soon(fetch)
    engine.tasks.start_soon(engine.turns.sweep_attempts)


def _remembered_sandbox(live: LiveSession) -> str:
    """The sandbox of a session's commands, if it was found out before, by any process."""
    section, cache = live.settings.sandbox, live.configuration.locations.cache_dir
    return REMEMBERED_SANDBOX.load()(section.backend, image=section.image or "", cache=cache)


@cache
def _keep_imports() -> None:
    """Take what was imported out of garbage collection, as the server did before; once in the life of a process."""
    gc.freeze()


def _load_turns(engine: Engine, live: LiveSession) -> None:
    engine.turns.load_provider(live)
