"""Chains of hooks outside of an engine."""

from collections.abc import Callable, Sequence
from pathlib import Path

from claw_acp.agent.hook_chain import HookChain
from claw_acp.config.model import HooksSection
from claw_acp.contracts.hook import Hook, HookContext
from claw_acp.contracts.launch import CommandSandbox
from claw_acp.core.clock import SYSTEM_CLOCK
from claw_acp.session.session import Session


async def _no_sandbox() -> CommandSandbox | None:
    return None


def hook_context(folder: Path, *, timeout: float = 30) -> HookContext:
    """The surroundings of a hook in a folder."""
    return HookContext(session="ses_1", cwd=folder, mode="auto", timeout=timeout, sandbox=_no_sandbox)


def hook_chain(
    session: Session, hooks: Callable[[], Sequence[Hook]] = tuple[Hook, ...], *, settings: HooksSection | None = None
) -> HookChain:
    """The chain of these hooks in a session."""
    return HookChain(
        session, hooks=hooks, context=lambda: hook_context(session.roots[0]),
        settings=lambda: settings or HooksSection(), clock=SYSTEM_CLOCK,
    )  # fmt: skip
