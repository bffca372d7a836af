"""The hooks of a turn: our own, those of packages, and those of the session's extensions."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Final

from claw_acp.agent.hook_chain import HookChain
from claw_acp.agent.large_results import LargeResults
from claw_acp.contracts.hook import Hook, HookContext
from claw_acp.contracts.launch import CommandSandbox
from claw_acp.core.clock import Clock
from claw_acp.core.errors import ToolError
from claw_acp.runtime.live_session import LiveSession
from claw_acp.security.policy import PolicyContext

if TYPE_CHECKING:
    from claw_acp.agent.command_sandboxes import CommandSandboxes

SUBAGENT: Final = "subagent"
"""The name of a subagent that was given none."""
_NO_SANDBOX = (
    "hooks of a project run in a sandbox, and none works on this machine; `claw-acp doctor` tells why "
    '(`[sandbox] use = "tolerant"` runs them all the same)'
)


def hook_chain(
    live: LiveSession, *, own: Sequence[Hook], of_packages: Sequence[Hook], results: LargeResults,
    sandboxes: "Callable[[], CommandSandboxes] | None", places: Callable[[], PolicyContext], clock: Clock,
) -> HookChain:  # fmt: skip
    """The hooks of one turn.

    Args:
        live: The session.
        own: Our own.
        of_packages: Those that entry points name.
        results: Stores what is too long for a model.
        sandboxes: Returns the sandboxes of the session's commands; None: there are none.
        places: Returns the places of the session.
        clock: Time.
    """
    session = live.session

    def context() -> HookContext:
        make = partial(_sandbox, live, sandboxes, places)
        return HookContext(
            session=session.id, cwd=session.roots[0], mode=live.origin.session.mode, sandbox=make,
            timeout=live.settings.hooks.timeout,
        )  # fmt: skip

    return HookChain(
        session, hooks=lambda: (*own, *of_packages, *live.extensions.hooks()), context=context,
        settings=lambda: live.settings.hooks, results=results, clock=clock,
        agent="" if live.delegated_by is None else SUBAGENT,
    )  # fmt: skip


async def _sandbox(
    live: LiveSession, sandboxes: "Callable[[], CommandSandboxes] | None", places: Callable[[], PolicyContext]
) -> CommandSandbox | None:
    use = live.settings.sandbox.use
    made = None
    if sandboxes is not None and use != "off":
        known = sandboxes()
        made = await known.in_project(await known.found(places()))
    if made is None and use == "on":
        raise ToolError(_NO_SANDBOX)
    return made
