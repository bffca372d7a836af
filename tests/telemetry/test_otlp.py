"""Spans and metrics, as a collector of OpenTelemetry receives them."""

from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from functools import partial
from pathlib import Path
from threading import Event
from typing import Any

import pytest
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.common.v1.common_pb2 import KeyValue
from opentelemetry.proto.trace.v1.trace_pb2 import Span, Status

from claw_acp.core.clock import SYSTEM_CLOCK
from claw_acp.runtime.build import open_engine
from claw_acp.runtime.scheduled_turns import ScheduledTurns
from claw_acp.schedule.definition import parse_job
from tests.gateway.test_chat import chatting
from tests.support.editors.editor_fixtures import Spawn
from tests.support.program.agent_process import TIMEOUT
from tests.support.quiet import QUIET
from tests.support.script_files import Script, call, configure, fail, say, turn, usage
from tests.support.servers.loopback import Answered, Asked, Loopback, serving
from tests.support.servers.remote_server import RemoteServer
from tests.telemetry.test_logs import KEY

pytestmark = pytest.mark.forked

TRACE, PARENT = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"
WORK = Script(
    turn(say("Reading."), call("read_file", path="a.txt"), usage(input_tokens=9, output_tokens=2)),
    turn(say("Done."), usage(input_tokens=30, output_tokens=1)),
    turn(fail("RequestRejected")),
)


class Collector(Loopback):
    """Takes OTLP over HTTP, and decodes it."""

    def __init__(self, status: int = 200) -> None:
        super().__init__(lambda _asked: Answered(status=status, kind="application/x-protobuf"))

    def posted(self, path: str) -> Sequence[Asked]:
        return [asked for asked in self.asked if asked.path == path]

    @property
    def spans(self) -> list[Span]:
        requests = [ExportTraceServiceRequest.FromString(asked.body) for asked in self.posted("/v1/traces")]
        return [
            span
            for request in requests
            for resource in request.resource_spans
            for scope in resource.scope_spans
            for span in scope.spans
        ]

    def named(self, name: str) -> list[Span]:
        return sorted((span for span in self.spans if span.name == name), key=lambda span: span.start_time_unix_nano)

    def histogram(self, name: str) -> dict[tuple[object, ...], tuple[int, float]]:
        """The number and the sum of what was measured, by the values of the attributes."""
        (asked,) = self.posted("/v1/metrics")
        return {
            tuple(attributes(point.attributes).values()): (point.count, point.sum)
            for resource in ExportMetricsServiceRequest.FromString(asked.body).resource_metrics
            for scope in resource.scope_metrics
            for metric in scope.metrics
            if metric.name == name
            for point in metric.histogram.data_points
        }


def attributes(pairs: Any) -> dict[str, object]:
    known: Sequence[KeyValue] = sorted(pairs, key=lambda pair: pair.key)
    return {pair.key: _value(pair) for pair in known}


def _value(pair: KeyValue) -> object:
    kind = pair.value.WhichOneof("value")
    assert kind is not None
    if kind == "array_value":
        return [each.string_value for each in pair.value.array_value.values]
    return getattr(pair.value, kind)


async def converse(spawn: Spawn, collector_url: str, more: str = "", env: Mapping[str, str] | None = None) -> str:
    """A turn with a tool, which belongs to a client's trace, and one that fails; returns the session."""
    config = f'[telemetry]\nendpoint = "{collector_url}/"\n{more}'
    async with spawn(script=WORK, config=config, env=env) as editor:
        await editor.initialize()
        await editor.new_session()
        meta = {"traceparent": f"00-{TRACE}-{PARENT}-01", "tracestate": "vendor=1"}
        prompt = [{"type": "text", "text": f"Read it with {KEY}"}]
        await editor.request("session/prompt", {"sessionId": editor.session, "prompt": prompt, "_meta": meta})
        await (await editor.start_prompt("And fail")).failure()
        return editor.session


async def test_turns_requests_and_tools_are_spans_of_the_clients_trace(spawn: Spawn) -> None:
    collector = Collector()
    with serving(collector):
        more = '[telemetry.headers]\n"x-key" = "env:COLLECTOR_KEY"\n'
        session = await converse(spawn, collector.url, more, {"COLLECTOR_KEY": "open"})
    turns, requests = collector.named("invoke_agent claw-acp"), collector.named("chat play")
    (tool,) = collector.named("execute_tool read_file")
    assert (turns[0].trace_id.hex(), turns[0].parent_span_id.hex(), turns[0].trace_state) == (TRACE, PARENT, "vendor=1")
    assert {span.parent_span_id for span in (*requests[:2], tool)} == {turns[0].span_id}
    assert requests[2].parent_span_id == turns[1].span_id
    assert turns[1].trace_id.hex() != TRACE
    assert [span.kind for span in (turns[0], requests[0], tool)] == [
        Span.SPAN_KIND_INTERNAL, Span.SPAN_KIND_CLIENT, Span.SPAN_KIND_INTERNAL
    ]  # fmt: skip
    first = attributes(requests[0].attributes)
    assert first.pop("gen_ai.response.time_to_first_chunk")
    assert first == {
        "claw.cost": 0.0,
        "gen_ai.conversation.id": session,
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": "scripted",
        "gen_ai.request.model": "play",
        "gen_ai.request.stream": True,
        "gen_ai.response.model": "play",
        "gen_ai.usage.input_tokens": 9,
        "gen_ai.usage.output_tokens": 2,
    }
    assert attributes(turns[0].attributes)["gen_ai.response.finish_reasons"] == ["end_turn"]
    assert attributes(tool.attributes)["gen_ai.tool.call.id"]
    for failed in (turns[1], requests[2]):
        assert failed.status.code == Status.STATUS_CODE_ERROR
        assert attributes(failed.attributes)["error.type"] == "RequestRejected"
    assert not any(
        "messages" in pair.key or "arguments" in pair.key for span in collector.spans for pair in span.attributes
    )
    assert {asked.headers["x-key"] for asked in collector.asked} == {"open"}
    tokens = collector.histogram("gen_ai.client.token.usage")
    assert tokens["chat", "scripted", "play", "play", "input"] == (2, 39)
    assert len(collector.histogram("gen_ai.client.operation.duration")) == 2  # with and without an error


async def heard(_session: str) -> None:
    """Nothing is to be done about the session of a run."""


async def test_the_turn_of_a_job_belongs_to_its_run(project: Path, home: Path) -> None:
    collector = Collector()
    with serving(collector):
        configure(home / "claw", Script(turn(say("Done."))), more=f'telemetry.endpoint = "{collector.url}"')
        async with open_engine(environ={**QUIET, "HOME": str(home), "CLAW_ACP_HOME": str(home / "claw")}) as engine:
            job = parse_job("nightly", {"cwd": str(project), "prompt": "go", "every": "1h"}, now=SYSTEM_CLOCK.now())
            result = await ScheduledTurns(engine).run(job, prompt=job.prompt, on_session=heard)
    assert result.text == "Done."
    (run,), (job_turn,) = collector.named("invoke_workflow nightly"), collector.named("invoke_agent claw-acp")
    assert job_turn.parent_span_id == run.span_id


async def test_a_chat_belongs_to_the_trace_in_its_headers_or_frame(project: Path, home: Path) -> None:
    collector, headers = Collector(), {"traceparent": f"00-{TRACE}-{PARENT}-01"}
    with serving(collector):
        config = f'telemetry.endpoint = "{collector.url}"'
        script = Script(turn(say("Done.")), loop=True)
        async with (
            RemoteServer.started(project=project, home=home, script=script, config=config) as server,
            server.http() as client,
        ):
            chat = server.url.removesuffix("/acp") + "/api/chat"
            answer = await client.post(chat, json={"message": "go"}, headers=headers)
            assert answer.json()["text"] == "Done."
            async with chatting(server) as socket:
                await socket.send(type="message", message="go", _meta=headers)
                await socket.up_to("done")
    turns = collector.named("invoke_agent claw-acp")
    assert [(span.trace_id.hex(), span.parent_span_id.hex()) for span in turns] == [(TRACE, PARENT)] * 2


async def test_contents_are_sent_when_they_are_asked_for_and_without_secrets(spawn: Spawn) -> None:
    collector = Collector()
    with serving(collector):
        await converse(spawn, collector.url, "content = true")
    (turn, *_), (request, *_) = collector.named("invoke_agent claw-acp"), collector.named("chat play")
    (tool,) = collector.named("execute_tool read_file")
    asked = str(attributes(turn.attributes)["gen_ai.input.messages"])
    assert "Read it with" in asked
    assert KEY not in asked
    assert "Reading." in str(attributes(request.attributes)["gen_ai.output.messages"])
    assert "a.txt" in str(attributes(tool.attributes)["gen_ai.tool.call.arguments"])
    assert "hello" in str(attributes(tool.attributes)["gen_ai.tool.call.result"])


def late(over: Event, _asked: Asked) -> Answered:
    over.wait(TIMEOUT)
    return Answered()


@pytest.mark.parametrize("answer", ["refusal", "silence", "nobody"])
async def test_a_collector_that_does_not_take_them_hurts_nobody(spawn: Spawn, home: Path, answer: str) -> None:
    collector, over = Collector(status=503), Event()
    if answer == "silence":
        collector.answer = partial(late, over)
    with serving(collector) if answer != "nobody" else nullcontext(collector.server_close()):
        await converse(spawn, collector.url)
        over.set()
    if answer != "silence":  # which is not over yet when the program ends
        assert "spans or metrics were not delivered" in (home / "claw" / "log" / "claw-acp.log").read_text()


async def test_a_library_that_cannot_start_hurts_nobody(spawn: Spawn, home: Path) -> None:
    await converse(spawn, "http://127.0.0.1:9", env={"OTEL_BSP_MAX_QUEUE_SIZE": "-1"})
    assert "[telemetry] cannot be used" in (home / "claw" / "log" / "claw-acp.log").read_text()
