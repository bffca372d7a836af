"""Figures about turns, models and tools, counted from the events of sessions."""

from bisect import bisect_left
from collections.abc import Callable, Mapping, Sequence
from typing import Final

from claw_acp.core.clock import Clock
from claw_acp.core.events import (
    FINAL,
    Event,
    MessageStarted,
    Notice,
    StateChanged,
    TextDelta,
    ToolCallChanged,
    UsageChanged,
)
from claw_acp.core.value import Value

MOST_NAMES: Final = 200  # models or tools that are counted one by one; a model can make up names of tools
OTHER: Final = "other"

_PROVIDER_ERRORS: Final = range(-31199, -31099)


class Counter:
    """A figure that only grows, for each combination of labels."""

    def __init__(self, about: str, *labels: str) -> None:
        self.about = about
        self.labels = labels
        self.values: dict[tuple[str, ...], float] = {}

    def add(self, *labels: str, amount: float = 1) -> None:
        """Add to it."""
        self.values[labels] = self.values.get(labels, 0) + amount


class Histogram:
    """How many durations were at most so long; `bounds` are in seconds."""

    def __init__(self, about: str, *bounds: float) -> None:
        self.about = about
        self.bounds = bounds
        self.counts = [0] * (len(bounds) + 1)
        self.sum = 0.0

    def observe(self, seconds: float) -> None:
        """Count a duration."""
        self.counts[bisect_left(self.bounds, seconds)] += 1
        self.sum += seconds


class Gauge(Value):
    """A figure that is asked for when somebody wants to know."""

    about: str
    value: Callable[[], float]


class Metrics:
    """The figures of one process.

    Args:
        clock: Time.
        gauges: The state of its parts, by name.
    """

    def __init__(self, clock: Clock, gauges: Mapping[str, Gauge]) -> None:
        self.now = clock.monotonic
        self.gauges = gauges
        self.turns = Counter("Turns that ended, by how.", "outcome")
        self.tokens = Counter("Tokens of model requests.", "model", "kind")
        self.cost = Counter("Dollars for model requests, as far as prices are known.", "model")
        self.tool_calls = Counter("Tool calls that ended, by how.", "tool", "outcome")
        self.requests = Counter("Model requests, by how they ended.", "provider", "outcome")
        self.turn_seconds = Histogram(
            "From the start of a turn to its end.", 0.1, 0.5, 1, 2, 5, 10, 30, 60, 120, 300, 600, 1800
        )
        self.first_text_seconds = Histogram(
            "From a model request to the first text of its answer.", 0.05, 0.1, 0.25, 0.5, 1, 2, 5, 10, 30, 60
        )
        self.request_seconds = Histogram(
            "From a model request to the end of its answer.", 0.05, 0.1, 0.25, 0.5, 1, 2, 5, 10, 30, 60, 120
        )
        self.tool_seconds = Histogram("From a tool call to its end.", 0.001, 0.005, 0.02, 0.1, 0.5, 1, 5, 15, 60, 300)
        self._names: dict[str, set[str]] = {}

    @property
    def counters(self) -> Mapping[str, Counter]:
        """All counters by name."""
        return {
            "turns": self.turns, "tokens": self.tokens, "cost_dollars": self.cost,
            "tool_calls": self.tool_calls, "model_requests": self.requests,
        }  # fmt: skip

    @property
    def histograms(self) -> Mapping[str, Histogram]:
        """All histograms by name."""
        return {
            "turn_seconds": self.turn_seconds, "first_text_seconds": self.first_text_seconds,
            "model_request_seconds": self.request_seconds, "tool_call_seconds": self.tool_seconds,
        }  # fmt: skip

    def bounded(self, kind: str, name: str) -> str:
        """The name as a label, unless there are too many of its kind."""
        names = self._names.setdefault(kind, set())
        if name not in names:
            if len(names) >= MOST_NAMES:
                return OTHER
            names.add(name)
        return name


class SessionMeter:
    """Counts the events of one session.

    Args:
        metrics: Where they are counted.
        model: Returns the session's model.
    """

    def __init__(self, metrics: Metrics, model: Callable[[], str]) -> None:
        self._metrics = metrics
        self._model = model
        self._now = metrics.now
        self._turn_at: float | None = None
        self._asked_at: float | None = None
        self._silent = False
        self._calls: dict[str, tuple[str, float]] = {}

    def __call__(self, event: Event) -> None:
        """Count one event."""
        match event:
            case TextDelta():
                if self._silent and self._asked_at is not None:
                    self._silent = False
                    self._metrics.first_text_seconds.observe(self._now() - self._asked_at)
            case ToolCallChanged():
                self._tool_call(event)
            case MessageStarted():
                if event.role == "assistant" and not event.parts and not event.local_only:
                    self._settle("answered")
                    self._asked_at, self._silent = self._now(), True
            case UsageChanged():
                self._usage(event)
            case StateChanged():
                self._state(event)
            case Notice():
                if event.topic in {"retry", "switch"}:
                    self._request("retried")
            case _:
                pass

    def _tool_call(self, event: ToolCallChanged) -> None:
        if event.item not in self._calls:
            if event.name is None:
                return
            self._calls[event.item] = (self._metrics.bounded("tool", event.name), self._now())
        if event.status in FINAL or event.refusal is not None:
            name, began = self._calls.pop(event.item)
            self._metrics.tool_calls.add(name, "refused" if event.refusal is not None else event.status or "")
            self._metrics.tool_seconds.observe(self._now() - began)

    def _usage(self, event: UsageChanged) -> None:
        if not event.model:
            return
        model = self._metrics.bounded("model", event.model)
        self._request("answered", event.model)
        for kind, tokens in _tokens(event):
            if tokens:
                self._metrics.tokens.add(model, kind, amount=tokens)
        if event.cost:
            self._metrics.cost.add(model, amount=event.cost)
        if self._asked_at is not None:
            self._metrics.request_seconds.observe(self._now() - self._asked_at)
            self._asked_at = None

    def _state(self, event: StateChanged) -> None:
        if event.state == "running" and self._turn_at is None:
            self._turn_at = self._now()
        elif event.state == "idle":
            failed = event.code is not None and event.code in _PROVIDER_ERRORS
            self._settle("failed" if failed else "cancelled" if event.stop == "cancelled" else "answered")
            self._metrics.turns.add(event.stop or "error")
            if self._turn_at is not None:
                self._metrics.turn_seconds.observe(self._now() - self._turn_at)
            self._turn_at = None
            self._calls.clear()

    def _settle(self, outcome: str) -> None:
        """Count the request that is under way, if its provider has not reported its tokens."""
        if self._asked_at is not None:
            self._asked_at = None
            self._request(outcome)

    def _request(self, outcome: str, model: str = "") -> None:
        provider = (model or self._model()).partition("/")[0]
        self._metrics.requests.add(self._metrics.bounded("provider", provider), outcome)


def _tokens(event: UsageChanged) -> Sequence[tuple[str, int]]:
    usage = event.request
    return (
        ("input", usage.input_tokens),
        ("output", usage.output_tokens),
        ("cached_read", usage.cached_read_tokens),
        ("cached_write", usage.cached_write_tokens),
    )
