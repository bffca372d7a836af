"""`/why`: the last refusal, the last retry, the last change of model and the like, each with what decided it."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from claw_acp.contracts.command import CommandContext, CommandResult, Said
from claw_acp.core.events import CompactionChanged, Event, Notice, NoticeTopic, StateChanged, ToolCallChanged
from claw_acp.core.markdown import code_span
from claw_acp.core.value import Value

NOTHING: Final = "Nothing was refused, tried again, switched, compacted or cut short in this session so far."

_TOPICS: Final[Mapping[NoticeTopic, tuple[str, str]]] = {
    "retry": (
        "Last retry",
        "`providers.NAME.retries` says how often a request is tried again after a failure that may pass.",
    ),
    "switch": (
        "Last change of model",
        "`fallback_models` and `fallback` of a provider name models that answer instead; `vision_model` sees pictures.",
    ),
    "untrusted": (
        "Untrusted text",
        "What reaches out of the project is asked about from then on, but for what your rules allow word for word.",
    ),
    "limit": ("Last limit", "`[limits]` in config.toml sets the limits of a turn."),
    "repetition": ("Last turn that was stopped", "This protection is built in; a hint or a smaller step helps."),
}
_COMPACTION: Final = (
    "It happens by itself past half of the model's window, and by `/compact`. You still see everything."
)
_OTHER_MODEL: Final = (
    "No cache held the conversation any more, so a cheaper model wrote it: `summary_model` in config.toml."
)

_FAILURE: Final = "These are the words of the model's provider, or of the budget that ended the turn."


class Explanation(Value):
    """Something that happened, and what decided it; `kind` is its heading."""

    kind: str
    what: str
    source: str


class Why:
    """Explains the last event of each kind, the newest first."""

    name = "why"
    description = "Explain the last refusal, retry, change of model, limit or compaction"
    hint = None

    async def run(self, argument: str, context: CommandContext) -> CommandResult:  # noqa: ARG002 - takes none
        """See `Command`."""
        found = last_of_each(await context.events())
        return Said(text="\n\n".join(f"**{one.kind}:** {one.what}\n{one.source}" for one in found) or NOTHING)


def last_of_each(events: Sequence[Event]) -> Sequence[Explanation]:
    """The last explanation of each kind, the newest first."""
    last: dict[str, Explanation] = {}
    for explanation in _explanations(events):
        last.pop(explanation.kind, None)
        last[explanation.kind] = explanation
    return tuple(reversed(last.values()))


def _explanations(events: Sequence[Event]) -> Iterator[Explanation]:
    titles: dict[str, str] = {}
    for event in events:
        match event:
            case ToolCallChanged(title=title, refusal=refusal):
                if title is not None:
                    titles[event.item] = title
                if refusal is not None:
                    what = f"{code_span(titles.get(event.item, 'a call'))} was not run."
                    yield Explanation(kind="Last refusal", what=what, source=refusal)
            case Notice(topic=topic, title=title, description=description) if topic is not None and topic in _TOPICS:
                kind, source = _TOPICS[topic]
                reason = f": {code_span(description)}" if description else "."
                yield Explanation(kind=kind, what=f"{title}{reason}", source=source)
            case CompactionChanged(status="completed", shortened=shortened, model=model):
                summary = f"A summary by {code_span(model)} replaced" if model else "A summary replaced"
                what = f"{len(shortened)} old results were shortened." if shortened else f"{summary} older turns."
                source = f"{_COMPACTION} {_OTHER_MODEL}" if model else _COMPACTION
                yield Explanation(kind="Last compaction", what=what, source=source)
            case CompactionChanged(status="failed", error=error):
                yield Explanation(kind="Last compaction", what=f"It failed: {error}", source=_COMPACTION)
            case StateChanged(state="idle", error=str(error)):
                yield Explanation(kind="Last failure", what=code_span(error), source=_FAILURE)
            case _:
                pass
