"""The file format of a scripted model: what `claw_acp.providers.scripted.provider` plays back.

A script is a JSON object:

    {
      "turns": [
        {"steps": [{"thought": "look first"}, {"text": ["Let me ", "look."]},
                   {"call": {"name": "read_file", "arguments": {"path": "a.txt"}}}]},
        {"steps": [{"expect": {"contains": "hello"}}, {"text": "It says hello."}]},
        {"when": "(?i)^stop", "steps": [{"text": "Half"}, {"stop": "max_tokens"}]}
      ],
      "loop": false,
      "capabilities": {"images": true, "contextWindow": 200000},
      "models": ["play"]
    }

**A turn** answers one model request. Turns without `when` are played in order over a conversation. Turns with `when`
(a regular expression, searched in the text of the last user message) take precedence for the messages they match:
those that match play in order, starting at the user message. So one script serves many sessions. After the last
turn the request fails and says that the script is over, unless `loop` is true.

**A step** is an object with exactly one of these keys:

    text       a string, or a list of strings: one streamed chunk each
    thought    the same, as thinking
    call       {"name", "arguments", "id"?}: a tool call; several in a turn are parallel. `arguments` is an object, or
               a string that is sent as it is (for malformed JSON). With `"wait_for"` the arguments are streamed, and
               before their last character the model waits as below
    wait_for   a path (relative ones: from the script's folder): wait until the file exists, at most 30 s
    error      {"kind", "message"?, "retryAfter"?, "status"?, "times"?}: fail here with the `ProviderError` subclass
               `kind`; with `times`, only the first so many requests that get here fail (counted by the provider)
    stop       "end", "tool_calls", "max_tokens" or "refusal"; without it, whichever of the first two fits
    usage      {"inputTokens", "outputTokens", "cachedReadTokens", "cachedWriteTokens", "thoughtTokens"}, all optional
    expect     {"contains"}: the last user or tool message must contain this text, or the request fails and says what
               was seen
"""

import json
import re
from pathlib import Path
from typing import Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator, model_validator
from pydantic.alias_generators import to_camel

from claw_acp.contracts.provider import Capabilities
from claw_acp.core import errors
from claw_acp.core.errors import ConfigError, ProviderError
from claw_acp.core.json_value import JsonValue
from claw_acp.core.messages import ModelStop, Usage


class _Part(BaseModel):
    model_config = ConfigDict(alias_generator=to_camel, populate_by_name=True, extra="forbid", frozen=True)


class CallStep(_Part):
    """A tool call; `arguments` given as a string is sent as it is."""

    name: str
    arguments: str | dict[str, object] = Field(default_factory=dict[str, object])
    id: str | None = None
    wait_for: str | None = Field(default=None, alias="wait_for")

    @property
    def arguments_text(self) -> str:
        """The arguments in the form a model writes them."""
        if isinstance(self.arguments, str):
            return self.arguments
        return json.dumps(self.arguments, ensure_ascii=False)


class ErrorStep(_Part):
    """A failure; `times` limits how often it happens."""

    kind: str
    message: str = "the script asked for this failure"
    retry_after: float | None = None
    status: int | None = None
    times: int | None = Field(default=None, ge=1)

    @field_validator("kind")
    @classmethod
    def _known(cls, kind: str) -> str:
        if kind not in PROVIDER_ERRORS:
            raise ValueError(f"unknown error kind {kind!r}; known are {', '.join(sorted(PROVIDER_ERRORS))}")
        return kind

    def to_error(self, *, provider: str) -> ProviderError:
        """The error to raise."""
        kind = PROVIDER_ERRORS[self.kind]
        return kind(self.message, provider=provider, status=self.status, retry_after=self.retry_after)


class UsageStep(_Part):
    """Token counts of the request."""

    input_tokens: int = 0
    output_tokens: int = 0
    cached_read_tokens: int = 0
    cached_write_tokens: int = 0
    thought_tokens: int = 0

    def to_usage(self) -> Usage:
        """The same as a core value."""
        return Usage(**self.model_dump())


class ExpectStep(_Part):
    """Texts that the last user or tool message must contain."""

    contains: str


class Step(_Part):
    """One thing the model does; exactly one field is set. The field names are the keys of the file."""

    model_config = ConfigDict(alias_generator=None, extra="forbid", frozen=True)

    text: str | tuple[str, ...] | None = None
    thought: str | tuple[str, ...] | None = None
    call: CallStep | None = None
    wait_for: str | None = None
    error: ErrorStep | None = None
    stop: ModelStop | None = None
    usage: UsageStep | None = None
    expect: ExpectStep | None = None

    @model_validator(mode="after")
    def _one_thing(self) -> Self:
        if len(self.model_fields_set) != 1:
            raise ValueError(f"a step does exactly one of: {', '.join(type(self).model_fields)}")
        return self


class Turn(_Part):
    """The answer to one model request."""

    when: re.Pattern[str] | None = None
    steps: tuple[Step, ...]


class ScriptCapabilities(_Part):
    """The declared capabilities of the played model."""

    tools: bool = True
    images: bool = True
    audio: bool = True
    thinking: bool = True
    context_window: int = Field(default=200_000, ge=0)

    def to_capabilities(self) -> Capabilities:
        """The same as a contract value."""
        return Capabilities(**self.model_dump())


class Script(_Part):
    """A whole script. `folder` is where relative `wait_for` paths start."""

    turns: tuple[Turn, ...]
    loop: bool = False
    capabilities: ScriptCapabilities = ScriptCapabilities()
    models: tuple[str, ...] = ("play",)
    folder: Path = Field(default=Path(), exclude=True)


def _provider_errors() -> dict[str, type[ProviderError]]:
    values: list[object] = list(vars(errors).values())
    return {value.__name__: value for value in values if isinstance(value, type) and issubclass(value, ProviderError)}


PROVIDER_ERRORS = _provider_errors()


def load_script(path: Path) -> Script:
    """Read a script file.

    Raises:
        ConfigError: It cannot be read, is not JSON, or is not a script; the text names the file and the place in it.
    """
    try:
        content: JsonValue = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise ConfigError(f"the script {path} cannot be read: {error.strerror or error}") from error
    except UnicodeDecodeError as error:
        raise ConfigError(f"the script {path} is not UTF-8 text") from error
    except json.JSONDecodeError as error:
        raise ConfigError(f"the script {path} is not JSON: line {error.lineno}: {error.msg}") from error
    try:
        return Script.model_validate(content).model_copy(update={"folder": path.absolute().parent})
    except ValidationError as error:
        raise ConfigError(f"the script {path} is wrong at {_first_problem(error)}") from error


def _first_problem(error: ValidationError) -> str:
    problem = error.errors(include_url=False, include_context=False)[0]
    place = "".join(f"[{key}]" if isinstance(key, int) else f".{key}" for key in problem["loc"]).lstrip(".")
    return f"{place or 'the top'}: {problem['msg'].removeprefix('Value error, ')}"
