"""`[providers.NAME]`: all settings of a provider."""

from typing import Annotated, Literal

from claw_acp.config.fields import (
    DECISIVE,
    Address,
    Arguments,
    Constraint,
    FilePath,
    Key,
    Keys,
    Name,
    SecretTexts,
    Section,
    Texts,
)
from claw_acp.contracts.provider import Effort
from claw_acp.contracts.provider_setup import EffortStyle
from claw_acp.core.value import made_by

ProgramProtocol = Literal["auto", "oneshot", "session"]


class Options(Section):
    """`[providers.NAME.options]`: sampling for every request to this provider; unset leaves the vendor's default.

    Attributes:
        max_tokens: The greatest length of an answer, in tokens.
        temperature: Randomness of the answer.
        top_p: Share of the likeliest words to choose from.
        stop: Texts at which an answer ends.
        effort: Length of the model's thinking.
    """

    max_tokens: Annotated[int, Constraint(ge=1, le=10_000_000)] | None = None
    temperature: Annotated[float, Constraint(ge=0, le=2)] | None = None
    top_p: Annotated[float, Constraint(gt=0, le=1)] | None = None
    stop: Texts = ()
    effort: Effort | None = None


class QuirksSection(Section):
    """`[providers.NAME.quirks]`: the differences of a service from its wire family; unset: as the family, or as known.

    Attributes:
        auth: The style of the key: `bearer`, `x-api-key`, `api-key`, `header:NAME`, `zhipu-jwt` or `none`.
        path: The path of chat requests below `base_url`, instead of the family's own.
        models_path: The path of the list of models; empty when the service has none.
        system: The service accepts messages with the role `system`.
        tools: Its models support the family's native tools.
        reasoning: The member in which earlier thinking is sent back.
        effort: The form in which thinking is requested.
        max_tokens: The member that limits an answer.
        stream_usage: The service accepts `stream_options`.
        tool_stream: The service needs `tool_stream` to stream tool calls.
        user_first: The first message after the instructions must be a user's.
        cache_marks: Mark in requests how far the prompt is to be cached, for models that cache nothing without marks;
            by default where the service is known to pass marks on.
        cache_min_chars: The length of a prompt, in characters, below which it is not marked; by default all are.
    """

    auth: Name | None = None
    path: Name | None = None
    models_path: str | None = None
    system: bool | None = None
    tools: bool | None = None
    reasoning: Literal["reasoning_content", "reasoning", "none"] | None = None
    effort: EffortStyle | None = None
    max_tokens: Literal["max_tokens", "max_completion_tokens"] | None = None
    stream_usage: bool | None = None
    tool_stream: bool | None = None
    user_first: bool | None = None
    cache_marks: bool | None = None
    cache_min_chars: Annotated[int, Constraint(ge=0, le=100_000_000)] | None = None


class ProviderSection(Section):
    """`[providers.NAME]`. A known name needs only the differences.

    Attributes:
        kind: The wire family, required unless the name is known: `openai` (chat completions), `responses`, `anthropic`,
            `gemini`, `ollama`, `bedrock`, `azure`, `binary` (your own program), `offline` (the built-in assistant) or
            `scripted` (plays back a script).
        api_key: The key, or a reference to it.
        api_keys: More keys of the same vendor; they are used in turn when one is refused or limited.
        base_url: The service's address, without a trailing slash.
        models: The models to offer; the first is the default.
        fallback_models: Models of this provider that answer when the chosen one cannot.
        fallback: Providers, or `provider/model`, that answer when none of these can.
        retries: Attempts after a temporary failure, before another key, model or provider is used.
        headers: More headers for each request.
        body: More members for the body of each request, as the service documents them.
        quirks: The differences of the service from its wire family.
        timeout: Seconds to wait for the next piece of an answer, or, for a program, for the whole call; by default the
            family's own limit.
        connect_timeout: Seconds until a connection must stand; by default the family's own limit.
        proxy: The proxy to use, instead of the environment's.
        ca_file: Certificates (PEM) to trust for this provider besides the usual ones.
        region: The region of a Bedrock provider.
        api_version: The `api-version` of an Azure provider.
        script: The script of a `scripted` provider.
        command: The program of a `binary` provider.
        args: Arguments of the program.
        env: Variables of the program, besides those of the agent's own environment that are no keys.
        cwd: The directory the program runs in; by default the agent's.
        protocol: The protocol of the program; `auto` detects it.
        record: A file that records every exchange with the service, without keys.
        replay: A file of recorded exchanges that answers instead of the service.
        options: Sampling.
    """

    kind: Annotated[Name | None, DECISIVE] = None
    api_key: Annotated[Key | None, DECISIVE] = None
    api_keys: Annotated[Keys, DECISIVE] = ()
    base_url: Annotated[Address | None, DECISIVE] = None
    models: Texts = ()
    fallback_models: Texts = ()
    fallback: Texts = ()
    retries: Annotated[int, Constraint(ge=0, le=10)] = 2
    headers: Annotated[SecretTexts, DECISIVE] = made_by(default_factory=SecretTexts)
    body: Annotated[dict[Name, object], DECISIVE] = made_by(default_factory=dict[str, object])
    quirks: Annotated[QuirksSection, DECISIVE] = QuirksSection()
    timeout: Annotated[float, Constraint(gt=0, le=3600)] | None = None
    connect_timeout: Annotated[float, Constraint(gt=0, le=600)] | None = None
    proxy: Annotated[Address | None, DECISIVE] = None
    ca_file: Annotated[FilePath | None, DECISIVE] = None
    region: Annotated[Name | None, DECISIVE] = None
    api_version: Annotated[Name | None, DECISIVE] = None
    script: Annotated[FilePath | None, DECISIVE] = None
    command: Annotated[Name | None, DECISIVE] = None
    args: Annotated[Arguments, DECISIVE] = ()
    env: Annotated[SecretTexts, DECISIVE] = made_by(default_factory=SecretTexts)
    cwd: Annotated[FilePath | None, DECISIVE] = None
    protocol: Annotated[ProgramProtocol, DECISIVE] = "auto"
    record: FilePath | None = None
    replay: Annotated[FilePath | None, DECISIVE] = None
    options: Options = Options()
