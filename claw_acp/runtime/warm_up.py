"""What is imported while the editor still digests the first answers, so that later requests need not wait."""

from importlib import import_module

from anyio import to_thread

AHEAD = (
    "claw_acp.acp.sessions",
    "claw_acp.acp.prompt",
)


async def warm_up() -> None:
    """Import in a worker thread what `session/new` and `session/prompt` are handled by."""
    for module in AHEAD:
        await to_thread.run_sync(import_module, module)
