"""The instruments of the conventions for generative AI, and their names for providers."""

from collections.abc import Mapping
from typing import Final, TypeAlias

from opentelemetry.metrics import Histogram, MeterProvider
from opentelemetry.trace import Tracer, TracerProvider

from claw_acp.core.version import VERSION

AGENT: Final = "claw-acp"
SCOPE: Final = "claw_acp"

Attributes: TypeAlias = dict[str, str | int | float | bool]

_SECONDS: Final = tuple(0.01 * 2**power for power in range(14))
_TOKENS: Final = tuple(4**power for power in range(14))
_AGENT_SECONDS: Final = (1, 2, 5, 10, 20, 30, 60, 120, 300, 600, 1800, 3600)

_PROVIDERS: Final[Mapping[str, str]] = {
    "azure": "azure.ai.openai", "bedrock": "aws.bedrock", "gemini": "gcp.gemini", "google": "gcp.gemini",
    "mistral": "mistral_ai", "moonshot": "moonshot_ai", "vertex": "gcp.vertex_ai", "watsonx": "ibm.watsonx.ai",
    "xai": "x_ai",
}  # fmt: skip


def provider_name(name: str) -> str:
    """The name that the conventions have for a provider of ours; most are the same."""
    return _PROVIDERS.get(name, name)


class Instruments:
    """Makes spans, and records metrics.

    Attributes:
        tracer: Makes spans.
        tokens: Tokens of a model request, by `gen_ai.token.type`.
        duration: Seconds of a model request.
        first_chunk: Seconds to the first piece of an answer.
        agent_duration: Seconds of a turn.
        tool_duration: Seconds of a tool call.
    """

    def __init__(self, traces: TracerProvider, metrics: MeterProvider) -> None:
        self.tracer: Tracer = traces.get_tracer(SCOPE, VERSION)
        meter = metrics.get_meter(SCOPE, VERSION)

        def histogram(name: str, unit: str, about: str, bounds: tuple[float, ...]) -> Histogram:
            return meter.create_histogram(name, unit, about, explicit_bucket_boundaries_advisory=bounds)

        self.tokens = histogram(
            "gen_ai.client.token.usage", "{token}", "Number of input and output tokens used.", _TOKENS
        )
        self.duration = histogram("gen_ai.client.operation.duration", "s", "Duration of a model request.", _SECONDS)
        self.first_chunk = histogram(
            "gen_ai.client.operation.time_to_first_chunk", "s", "Time to the first piece of an answer.", _SECONDS
        )
        self.agent_duration = histogram("gen_ai.invoke_agent.duration", "s", "Duration of a turn.", _AGENT_SECONDS)
        self.tool_duration = histogram("gen_ai.execute_tool.duration", "s", "Duration of a tool call.", _SECONDS)
