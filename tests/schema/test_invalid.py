"""What a peer is told about parameters that do not fit."""

from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from claw_acp.core.errors import InvalidRequest
from claw_acp.schema.initialize import InitializeRequest
from claw_acp.schema.invalid import describe_invalid, parse
from claw_acp.schema.methods import AGENT_METHODS, CLIENT_METHODS, SHARED_METHODS, resolve
from claw_acp.schema.validation import ValidationError, validate
from tests.schema.examples import EXAMPLES

METHODS = {**AGENT_METHODS, **CLIENT_METHODS, **SHARED_METHODS}

SENTENCES: list[tuple[str, Any, str]] = [
    ("session/new", {"mcpServers": []}, "`cwd` is missing"),
    ("session/new", {}, "`cwd` is missing; `mcpServers` is missing"),
    ("session/new", [], "params must be an object"),
    ("session/new", None, "params must be an object"),
    ("session/new", {"cwd": "work", "mcpServers": []}, "`cwd` must be an absolute path"),
    ("session/new", {"cwd": "", "mcpServers": []}, "`cwd` must be an absolute path"),
    ("session/new", {"cwd": "C:work", "mcpServers": []}, "`cwd` must be an absolute path"),
    ("session/new", {"cwd": "~/a", "mcpServers": []}, "`cwd` must be an absolute path"),
    ("session/new", {"cwd": "/a\0b", "mcpServers": []}, "`cwd` must not contain a NUL character"),
    ("session/new", {"cwd": 7, "mcpServers": []}, "`cwd` must be a string"),
    ("session/new", {"cwd": "/a\ud800", "mcpServers": []}, "`cwd` must be valid Unicode text"),
    (
        "session/new",
        {"cwd": "/a", "mcpServers": [], "additionalDirectories": ["/b", "c"]},
        "`additionalDirectories[1]` must be an absolute path",
    ),
    ("session/new", {"cwd": "/a", "mcpServers": {}}, "`mcpServers` must be an array"),
    (
        "session/new",
        {"cwd": "/a", "mcpServers": [{"type": "http", "name": "n", "url": "u"}]},
        "`mcpServers[0].headers` is missing",
    ),
    (
        "session/new",
        {"cwd": "/a", "mcpServers": [{"type": "ftp", "name": "n", "serverId": "s"}]},
        '`mcpServers[0].type` "ftp" is not one of http, sse, acp',
    ),
    (
        "session/new",
        {"cwd": "/a", "mcpServers": [{"name": "n", "command": "c", "args": ["a", 1], "env": []}]},
        "`mcpServers[0].args[1]` must be a string",
    ),
    (
        "session/prompt",
        {"sessionId": "s", "prompt": [{"type": "text", "text": "x"}, {"type": "video"}]},
        '`prompt[1].type` "video" is not one of text, image, audio, resource_link, resource',
    ),
    ("session/prompt", {"sessionId": "s", "prompt": [{"text": "x"}]}, "`prompt[0].type` is missing"),
    ("session/prompt", {"sessionId": "s", "prompt": ["hello"]}, "`prompt[0]` must be an object"),
    ("session/prompt", {"sessionId": "s", "prompt": [{"type": "text"}]}, "`prompt[0].text` is missing"),
    (
        "session/prompt",
        {"sessionId": "s", "prompt": [{"type": "resource", "resource": {"uri": "u"}}]},
        "`prompt[0].resource` must be an object with `uri` and either `text` or `blob`",
    ),
    (
        "session/prompt",
        {"sessionId": "s", "prompt": [{}, {}, {}, {}, {}]},
        "`prompt[0].type` is missing; `prompt[1].type` is missing; `prompt[2].type` is missing; and 2 more",
    ),
    ("initialize", {"protocolVersion": -1}, "`protocolVersion` must be at least 0"),
    ("initialize", {"protocolVersion": 65536}, "`protocolVersion` must be at most 65535"),
    (
        "session/set_config_option",
        {"sessionId": "s", "configId": "c", "value": 1},
        "`value` must be a string, or true or false",
    ),
    (
        "session/set_config_option",
        {"sessionId": "s", "configId": "c", "value": True},
        'params needs `type` "boolean" when `value` is true or false',
    ),
    ("$/cancel_request", {"requestId": 1.5}, "`requestId` must be a string, an integer or null"),
    ("fs/read_text_file", {"sessionId": "s", "path": "/a", "line": True}, "`line` must be an integer"),
    (
        "session/request_permission",
        {"sessionId": "s", "toolCall": {"toolCallId": "c"}, "options": [{"optionId": "o", "name": "n", "kind": "yes"}]},
        '`options[0].kind` "yes" is not one of allow_once, allow_always, reject_once, reject_always',
    ),
]


def _describe(method: str, params: object) -> str | None:
    try:
        validate(resolve(METHODS[method].params), params)
    except ValidationError as error:
        return describe_invalid(error.faults, method)
    return None


@pytest.mark.parametrize(("method", "params", "sentence"), SENTENCES)
def test_the_sentence_names_the_field_and_what_is_wrong(method: str, params: object, sentence: str) -> None:
    assert _describe(method, params) == f"{method}: {sentence}"


@pytest.mark.parametrize("version", ["1", 1.0, True, None, [1], -1, 65536, 2**70])
def test_a_protocol_version_is_an_integer_from_0_to_65535(version: object) -> None:
    sentence = _describe("initialize", {"protocolVersion": version})
    assert sentence is not None
    assert sentence.startswith("initialize: `protocolVersion` must be ")


@pytest.mark.parametrize("version", [0, 1, 2, 65535])
def test_any_version_that_could_exist_is_read(version: int) -> None:
    assert validate(InitializeRequest, {"protocolVersion": version}).protocol_version == version


def test_long_values_and_names_are_not_repeated() -> None:
    block = {"type": "k" * 1000}
    sentence = _describe("session/prompt", {"sessionId": "s", "prompt": [block]})
    assert sentence is not None
    assert len(sentence) < 200
    assert "k" * 41 not in sentence


def test_other_values_are_never_repeated() -> None:
    secret = {"type": "http", "name": "n", "url": "u", "headers": [{"name": "X-Key", "value": ["hunter2"]}]}
    sentence = _describe("session/new", {"cwd": "/a", "mcpServers": [secret]})
    assert sentence == "session/new: `mcpServers[0].headers[0].value` must be a string"


def test_parse_raises_the_sentence_as_an_invalid_request() -> None:
    with pytest.raises(InvalidRequest, match=r"^initialize: `protocolVersion` is missing$"):
        parse(InitializeRequest, {}, method="initialize")


# How long a busy machine takes says nothing about the code.
unhurried = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])

ANY_TEXT = st.text(st.characters(exclude_categories=[]), max_size=8)
NUMBERS = st.integers() | st.integers(-(2**80), 2**80) | st.floats()
JSON = st.recursive(
    st.none() | st.booleans() | NUMBERS | ANY_TEXT,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(ANY_TEXT, inner, max_size=4),
    max_leaves=12,
)


@st.composite
def _damaged(draw: st.DrawFn) -> tuple[str, Any]:
    """A method and parameters that began as an example, with a few places replaced by anything."""
    method = draw(st.sampled_from(sorted(METHODS)))
    name = METHODS[method].params.partition(":")[2]
    value: Any = draw(st.sampled_from(EXAMPLES[name]))
    return method, _replace(draw, value)


def _replace(draw: st.DrawFn, value: Any) -> Any:
    if draw(st.integers(0, 9)) == 0:
        return draw(JSON)
    if isinstance(value, dict):
        kept: dict[str, Any] = {key: _replace(draw, inner) for key, inner in value.items() if draw(st.integers(0, 9))}  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]
        return kept
    if isinstance(value, list):
        return [_replace(draw, inner) for inner in value]  # pyright: ignore[reportUnknownVariableType]
    return value


def _is_a_sentence(method: str, text: str | None) -> bool:
    return text is None or (text.startswith(f"{method}: ") and text.isprintable() and "pydantic" not in text)


@unhurried
@given(st.sampled_from(sorted(METHODS)), JSON)
def test_random_parameters_give_a_model_or_a_sentence(method: str, params: object) -> None:
    assert _is_a_sentence(method, _describe(method, params))


@unhurried
@given(_damaged())
def test_damaged_parameters_give_a_model_or_a_sentence(case: tuple[str, Any]) -> None:
    method, params = case
    assert _is_a_sentence(method, _describe(method, params))
