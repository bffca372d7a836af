"""The content of a session's next model request, by kind."""

from collections.abc import Iterable, Sequence
from functools import partial
from math import ceil

from claw_acp.agent.found_tools import FoundTools
from claw_acp.agent.system_prompt import joined
from claw_acp.agent.token_estimate import TokenScale, estimate
from claw_acp.contracts.command import ContextShare, ContextUse
from claw_acp.contracts.provider import UNKNOWN_WINDOW
from claw_acp.core.messages import Message
from claw_acp.core.value import replace
from claw_acp.runtime.live_session import LiveSession
from claw_acp.runtime.registries import make_toolbox
from claw_acp.runtime.session_options import hidden_tools


def context_use(live: LiveSession) -> ContextUse:
    """The next request of a session: estimated, and corrected by the usage that was reported last."""
    history = live.session.history
    toolbox = make_toolbox().with_lent(live.extensions.tools).without(partial(hidden_tools, live))
    found, most = FoundTools.of(live.session), live.settings.limits.max_listed_tools
    tools = toolbox.with_found(found.names, most_listed=most).tool_specs()
    messages, usage, scale = history.messages(), history.usage, TokenScale()
    layers = live.extensions.layers(0 if usage is None else usage.size)
    system = [Message.system(joined((*live.prompt.layers, *layers)))]
    if usage is not None and history.counted:
        counted = estimate([*system, *messages[: history.counted]], tools)
        scale.learn(usage.model, estimated=counted, reported=usage.used)
    summary = messages[:1] if history.summary else []
    spoken = messages[len(summary) :]
    estimated = {
        "Instructions": estimate(system),
        "Tools": estimate((), tools),
        "Summary": estimate(summary),
        "Your messages": estimate(_of(spoken, "user")),
        "Answers": estimate(replace(each, tool_calls=(), reasoning=()) for each in _of(spoken, "assistant")),
        "Thinking": estimate(replace(each, parts=(), tool_calls=()) for each in _of(spoken, "assistant")),
        "Tool calls": estimate(replace(each, parts=(), reasoning=()) for each in _of(spoken, "assistant")),
        "Tool results": estimate(_of(spoken, "tool")),
    }
    by = scale.of("" if usage is None else usage.model)
    size = 0 if usage is None else usage.size
    return ContextUse(
        shares=[ContextShare(kind=kind, tokens=ceil(tokens * by)) for kind, tokens in estimated.items()],
        window=size or UNKNOWN_WINDOW,
        assumed=not size,
        summarized=history.hidden,
        shortened=history.shortened,
    )


def _of(messages: Iterable[Message], role: str) -> Sequence[Message]:
    return [message for message in messages if message.role == role]
