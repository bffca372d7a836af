"""The report of the demo's results."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from claw_acp.cli.terminal.live_view import Card, LiveView
from claw_acp.schema.prompt import StopReason


@dataclass(slots=True, kw_only=True)
class Facts:
    """The results. Times are in seconds; `replayed` counts the updates of the replay."""

    session: str
    stop: StopReason
    failed_before: bool
    initialized: float
    opened: float
    first_update: float | None
    cards: Sequence[Card]
    base: Path
    passes_now: bool = False
    listed: bool = False
    replayed: int = 0
    prompt_replayed: bool = False

    @property
    def held(self) -> bool:
        """True if all results are as expected."""
        return all((self.failed_before, self.passes_now, self.stop == "end_turn", self.listed, self.prompt_replayed))

    def changed(self) -> list[str]:
        """The changed files, by their names in the project."""
        paths = [Path(path) for card in self.cards if card.status == "completed" for path in card.changed]
        return list(dict.fromkeys(str(path.relative_to(self.base)) for path in paths if path.is_relative_to(self.base)))

    def ran(self) -> list[str]:
        """The commands that were run, with a count above one."""
        counts = Counter(card.title for card in self.cards if card.kind == "execute" and card.status != "pending")
        return [title if count == 1 else f"{title} (x{count})" for title, count in counts.items()]


def report(facts: Facts, *, view: LiveView) -> None:
    """Print the summary."""
    view.line("What happened", colour="bold")
    for held, what, text in _findings(facts):
        view.mark(held, f"{what:<9} {text}")
    view.line(f"· {'times':<9} {_times(facts)}", colour="dim")
    view.line("")
    if facts.held:
        view.line('Next: name `claw-acp` in your editor\'s list of agents, or try `claw-acp run "list the files"`.')
        view.line("With ANTHROPIC_API_KEY or OPENAI_API_KEY set, a language model answers instead.")
    else:
        view.line("Something above did not hold; `claw-acp doctor` looks for the cause.", colour="yellow")


def _findings(facts: Facts) -> Iterator[tuple[bool, str, str]]:
    test = "failed before, passes now" if facts.passes_now else "still fails"
    yield facts.failed_before and facts.passes_now, "test", test
    yield bool(facts.changed()), "changed", ", ".join(facts.changed()) or "nothing"
    yield bool(facts.ran()), "ran", ", ".join(facts.ran()) or "nothing"
    listed = "is listed" if facts.listed else "is NOT listed"
    replayed = f"{facts.replayed} updates came back" if facts.prompt_replayed else "its history did NOT come back"
    yield facts.listed and facts.prompt_replayed, "session", f"{facts.session}"
    yield facts.listed and facts.prompt_replayed, "restart", f"in a new server process it {listed}, and {replayed}"
    if facts.stop != "end_turn":
        yield False, "turn", f"ended with {facts.stop}"


def _times(facts: Facts) -> str:
    first = "never" if facts.first_update is None else f"{facts.first_update * 1000:.0f} ms"
    return (
        f"start and initialize {facts.initialized * 1000:.0f} ms, session/new {facts.opened * 1000:.0f} ms, "
        f"first update {first}"
    )
