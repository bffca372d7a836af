"""Preconditions of checks: each returns the reason it is not met, or None."""

from collections.abc import Callable
from typing import TypeAlias

from claw_acp.verify.agent_pool import AgentPool
from claw_acp.verify.rule import NotJudged, NotTried, Skipped

Need: TypeAlias = Callable[[AgentPool], NotJudged | None]


def greeted(pool: AgentPool) -> NotJudged | None:
    """The agent answers `initialize`."""
    return None if pool.facts.hello is not None else NotTried("the agent does not answer initialize")


def session(pool: AgentPool) -> NotJudged | None:
    """The agent opens sessions."""
    return greeted(pool) or (NotTried(pool.facts.no_session) if pool.facts.no_session else None)


def turn(pool: AgentPool) -> NotJudged | None:
    """The agent answers prompts."""
    return session(pool) or (NotTried(pool.facts.no_turn) if pool.facts.no_turn else None)


def slow(pool: AgentPool) -> NotJudged | None:
    """A slow prompt is known."""
    if pool.options.slow_prompt is None:
        return Skipped("give --slow-prompt TEXT, a prompt that keeps the agent busy")
    return session(pool)


def tool(pool: AgentPool) -> NotJudged | None:
    """A prompt is known that makes the agent ask for permission."""
    if pool.options.tool_prompt is None:
        return Skipped("give --tool-prompt TEXT, a prompt that makes the agent ask for permission")
    return session(pool)


def offers(path: str) -> Need:
    """The agent has this capability."""

    def need(pool: AgentPool) -> NotJudged | None:
        return greeted(pool) or (None if pool.facts.offers(path) else Skipped(f"{path} is not offered"))

    return need


def offers_not(path: str) -> Need:
    """The agent lacks this capability."""

    def need(pool: AgentPool) -> NotJudged | None:
        return greeted(pool) or (Skipped(f"{path} is offered") if pool.facts.offers(path) else None)

    return need
