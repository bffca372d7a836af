"""What is imported ahead of its use, in a worker thread, so that later requests need not wait.

In two steps, because memory counts as well: an editor that has only connected should not pay for what prompts need.
"""

from importlib import import_module

from anyio import to_thread

SESSIONS = ("claw_acp.acp.sessions",)
PROMPTS = ("claw_acp.acp.prompt", "claw_acp.runtime.turns")


async def for_sessions() -> None:
    """While the editor digests the answer to `initialize`: what opens a session."""
    await _import(SESSIONS)


async def for_prompts() -> None:
    """While the user still thinks about the first prompt: what runs it."""
    await _import(PROMPTS)


async def _import(modules: tuple[str, ...]) -> None:
    for module in modules:
        await to_thread.run_sync(import_module, module)
