"""The export of spans and metrics to an OpenTelemetry collector, by OTLP over HTTP, in threads of their own."""

import logging
import os
import threading
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from typing import Final

from opentelemetry import trace
from opentelemetry.exporter.otlp.proto.http.metric_exporter import OTLPMetricExporter
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import PeriodicExportingMetricReader
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor

from claw_acp.core.clock import Clock
from claw_acp.core.version import VERSION
from claw_acp.telemetry.instruments import AGENT, Instruments
from claw_acp.telemetry.spans import SessionSpans
from claw_acp.telemetry.trace_context import carry_trace

log = logging.getLogger(__name__)

EXPORT_TIMEOUT: Final = 5.0  # seconds for one request to the collector
LINES_KEPT: Final = 300.0  # seconds between lines of the log about a collector that does not answer
"""Spans that wait are bounded by the library: 2048, further ones are dropped."""


class OtlpExport:
    """Sends the spans and metrics of a process to one collector.

    Args:
        endpoint: Its address, as in `http://127.0.0.1:4318`.
        headers: Headers of each request.
        content: Whether prompts, answers, arguments and results are sent, too.
        clock: Time.
    """

    def __init__(self, endpoint: str, *, headers: Mapping[str, str], content: bool, clock: Clock) -> None:
        self._content = content
        self._clock = clock
        _note_failures()
        about = {"service.name": AGENT, "service.version": VERSION, "service.instance.id": str(os.getpid())}
        resource = Resource(about).merge(Resource.create())
        self._traces = TracerProvider(resource=resource, shutdown_on_exit=False)
        spans = OTLPSpanExporter(f"{endpoint}/v1/traces", headers=dict(headers), timeout=EXPORT_TIMEOUT)
        self._traces.add_span_processor(BatchSpanProcessor(spans))
        metrics = OTLPMetricExporter(f"{endpoint}/v1/metrics", headers=dict(headers), timeout=EXPORT_TIMEOUT)
        self._metrics = MeterProvider(
            [PeriodicExportingMetricReader(metrics)], resource=resource, shutdown_on_exit=False
        )
        self._instruments = Instruments(self._traces, self._metrics)
        if isinstance(trace.get_tracer_provider(), trace.ProxyTracerProvider):
            trace.set_tracer_provider(self._traces)  # libraries of ours have spans, too: that of MCP

    def session_spans(self, session_id: str, *, model: Callable[[], str]) -> SessionSpans:
        """The observer of a session's events."""
        return SessionSpans(
            self._instruments, session_id=session_id, model=model, content=self._content, clock=self._clock
        )

    @contextmanager
    def workflow(self, name: str) -> Generator[None]:
        """Let the turns of the block belong to a span: the run of a job."""
        carry_trace({})
        attributes = {"gen_ai.operation.name": "invoke_workflow", "gen_ai.workflow.name": name}
        with self._instruments.tracer.start_as_current_span(f"invoke_workflow {name}", attributes=attributes):
            yield

    def flush(self, done: Callable[[], None]) -> None:
        """Send what waits, in a thread of its own that nobody has to wait for; then call `done` there."""

        def work() -> None:
            self._traces.force_flush()
            self._metrics.force_flush()
            done()

        threading.Thread(target=work, name="telemetry flush", daemon=True).start()


class _FailureLines(logging.Handler):
    """Writes what the library says about a collector to our log, now and then."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self._next = 0.0

    def emit(self, record: logging.LogRecord) -> None:
        """See `Handler`."""
        if record.created >= self._next:
            self._next = record.created + LINES_KEPT
            log.warning("spans or metrics were not delivered", extra={"reason": record.getMessage()[:300]})


def _note_failures() -> None:
    library = logging.getLogger("opentelemetry")
    if not any(isinstance(handler, _FailureLines) for handler in library.handlers):
        library.addHandler(_FailureLines())
        library.propagate = False
