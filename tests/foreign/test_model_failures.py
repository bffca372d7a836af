"""The whole program against a model server over real HTTP: what works, and every way in which it does not.

A failure must end in an error that a person can act on, must not show the key, and must leave the session usable: the
next prompt works, and what failed is no message of the assistant in its request.
"""

from collections import deque
from collections.abc import AsyncGenerator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, cast

import anyio
import pytest
from acp import RequestError

from tests.support.foreign_desk import Desk
from tests.support.foreign_editor import ForeignEditor
from tests.support.model_replies import (
    Call,
    Cut,
    HangUp,
    Json,
    NoAnswer,
    Raw,
    ReceivedRequest,
    Reply,
    Say,
    Stall,
    Tokens,
    failure,
)
from tests.support.model_server import ModelServer, refusing_address

Family = Literal["openai", "anthropic"]
FAMILIES: Sequence[Family] = ("openai", "anthropic")
KEYS: Mapping[Family, str] = {"openai": "sk-test-0123456789abcdef", "anthropic": "sk-ant-test-0123456789abcdef"}
DEFAULT_MODELS: Mapping[Family, str] = {"openai": "openai/gpt-5.1", "anthropic": "anthropic/claude-sonnet-4-5"}
FAST = "[providers.{}]\ntimeout = 0.2\n"
TWICE_MORE = 3  # requests in all: two retries


@pytest.fixture
async def server() -> AsyncGenerator[ModelServer]:
    async with ModelServer() as server:
        yield server


def powered(desk: Desk, family: Family, url: str, *, config: str = "") -> Desk:
    """A desk whose program asks this service, by nothing but the usual variables."""
    name = family.upper()
    desk.env.update({f"{name}_API_KEY": KEYS[family], f"{name}_BASE_URL": url})
    if config:
        (desk.claw / "config.toml").write_text(config, encoding="utf-8")
    return desk


def address(server: ModelServer, family: Family) -> str:
    return server.openai_url if family == "openai" else server.anthropic_url


def conversation(request: ReceivedRequest) -> list[dict[str, Any]]:
    """The messages of a request, without the system's."""
    messages = cast("list[dict[str, Any]]", request.json["messages"])
    return [message for message in messages if message["role"] != "system"]


def roles(request: ReceivedRequest) -> list[str]:
    return [message["role"] for message in conversation(request)]


# ------------------------------------------------------------------ what works


@pytest.mark.parametrize("family", FAMILIES)
async def test_text_thoughts_and_usage_are_streamed(desk: Desk, server: ModelServer, family: Family) -> None:
    server.will_say("Hel", "lo", thinking=("Hm",), usage=Tokens(input=900, output=50))
    async with powered(desk, family, address(server, family)).editor() as editor:
        session = await editor.open()
        ended = await editor.prompt(session, "Hi")
        assert ended.stop_reason == "end_turn"
        assert [getattr(chunk.content, "text", "") for chunk in editor.seen(session).agent_messages] == ["Hel", "lo"]
        assert editor.thought(session) == "Hm"
        count = editor.usage(session)
        assert count is not None
        assert count.used == 950
    (request,) = server.requests
    header = request.headers.get("x-api-key") or request.headers["authorization"].removeprefix("Bearer ")
    assert header == KEYS[family]


@pytest.mark.parametrize("family", FAMILIES)
async def test_parallel_calls_run_and_their_results_go_back(desk: Desk, server: ModelServer, family: Family) -> None:
    desk.file("a.txt", "alpha-content\n")
    desk.file("b.txt", "beta-content\n")
    calls = (Call(name="read_file", arguments={"path": "a.txt"}), Call(name="read_file", arguments={"path": "b.txt"}))
    server.will_reply(Say(text=("Reading.",), calls=calls), Say(text=("Read both.",)))
    async with powered(desk, family, address(server, family)).editor() as editor:
        session = await editor.open()
        await editor.prompt(session, "Read both")
        assert [tool.status for tool in editor.tools(session)] == ["completed", "completed"]
        assert editor.said(session) == "Reading.Read both."
    second = server.requests[1]
    assert roles(second) == (
        ["user", "assistant", "tool", "tool"] if family == "openai" else ["user", "assistant", "user"]
    )
    assert b"alpha-content" in second.body
    assert b"beta-content" in second.body


async def test_signed_thinking_is_sent_back_with_the_results_of_its_calls(desk: Desk, server: ModelServer) -> None:
    desk.file("a.txt", "alpha\n")
    call = Call(name="read_file", arguments={"path": "a.txt"})
    server.will_reply(Say(thinking=("I must ", "look."), signature="signed-by-them", calls=(call,)), Say(text=("Ok",)))
    async with powered(desk, "anthropic", server.anthropic_url).editor() as editor:
        session = await editor.open()
        await editor.prompt(session, "Read it")
    answer = conversation(server.requests[1])[1]
    assert answer["content"][0] == {"type": "thinking", "thinking": "I must look.", "signature": "signed-by-them"}
    assert answer["content"][-1]["type"] == "tool_use"


# ------------------------------------------------------------------ what does not


@dataclass(frozen=True, slots=True)
class Case:
    """A failure of the service, the kind of error it must become, and words that must be said of it."""

    name: str
    kind: str
    said: tuple[str, ...]
    replies: tuple[Reply, ...]
    config: bool = False  # whether the program is to be impatient


def _error(kind: str, message: str) -> Json:
    return {"type": "error", "error": {"type": kind, "code": kind, "message": message}}


GARBAGE = Raw(pieces=[b"data: this is not JSON\n\n", b"event: what\ndata: {]\n\n"])
HALF = ("Half", " of", " it", " and no more")
CUT = Raw(pieces=[Cut()])
CASES = (
    Case("bad key", "ProviderAuthFailed", ("401", "refused the API key", "Check the key"),
         (failure(401, _error("authentication_error", f"Incorrect API key provided: {KEYS['openai']}")),)),
    Case("no credit", "QuotaExceeded", ("429", "no credit", "Add credit"),
         (failure(429, _error("insufficient_quota", "You exceeded your current quota")),)),
    Case("limited", "RateLimited", ("429", "limiting requests", "Wait"),
         (failure(429, _error("rate_limit_error", "slow down"), headers={"retry-after": "0"}),) * TWICE_MORE),
    Case("broken", "ProviderUnavailable", ("500", "failed on its side", "Try again"),
         (failure(500, "<html>oops</html>"),) * TWICE_MORE),
    Case("silent", "ProviderTimeout", ("0.2 s", "Try again"), (NoAnswer(),) * TWICE_MORE, config=True),
    Case("stalled", "ProviderTimeout", ("0.2 s", "Send the prompt again"),
         (Say(text=HALF, insert={4: Stall()}),), config=True),
    Case("hung up", "ProviderUnavailable", ("without an answer", "Try again"), (HangUp(),) * TWICE_MORE),
    Case("cut before a word", "StreamInterrupted", ("broke off", "Send the prompt again"), (CUT,) * TWICE_MORE),
    Case("cut midway", "StreamInterrupted", ("Send the prompt again",), (Say(text=HALF, insert={4: Cut()}),)),
    Case("garbage", "MalformedReply", ("not JSON", "base_url"), (GARBAGE,)),
    Case("empty", "EmptyAnswer", ("neither text nor", "again"), (Say(),) * TWICE_MORE),
    Case("too long", "ContextTooLong", ("400", "too long for the model", "Shorten"),
         (failure(400, _error("context_length_exceeded", "maximum context length is 8192 tokens")),)),
    Case("no such model", "ModelNotFound", ("404", "does not know this model", "Choose another model"),
         (failure(404, _error("not_found_error", "model: gpt-none does not exist")),)),
    Case("wrong address", "RequestRejected", ("404", "base_url"), (failure(404, "Not Found"),)),
    Case("a web page", "MalformedReply", ("a web page", "base_url"),
         (Raw(pieces=[b"<html>Log in</html>"], content_type="text/html"),)),
)  # fmt: skip


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
async def test_a_failed_request_is_explained_and_forgotten(desk: Desk, server: ModelServer, case: Case) -> None:
    left = {family: deque([*case.replies, Say(text=("Back again.",))]) for family in FAMILIES}
    server.always(lambda request: left[request.family].popleft())
    config = "".join(FAST.format(family) for family in FAMILIES) if case.config else ""
    for family in FAMILIES:
        powered(desk, family, address(server, family), config=config)
    async with desk.editor() as editor, anyio.create_task_group() as sessions:
        for family in FAMILIES:
            sessions.start_soon(_fail_and_go_on, editor, family, case)
    assert not any(left.values()), "fewer requests were made than expected"
    for family in FAMILIES:
        assert_forgotten([request for request in server.requests if request.family == family][-1])


async def _fail_and_go_on(editor: ForeignEditor, family: Family, case: Case) -> None:
    session = await editor.open()
    await editor.agent.set_config_option(config_id="model", session_id=session, value=DEFAULT_MODELS[family])
    error = await editor.refused(session, "First prompt")
    check_explained(error, family=family, kind=case.kind, said=case.said)
    assert (await editor.prompt(session, "Second prompt")).stop_reason == "end_turn"
    assert editor.said(session).endswith("Back again.")
    shown = " ".join(repr(update) for update in editor.of(session))
    assert not any(key in shown for key in KEYS.values())


def check_explained(error: RequestError, *, family: Family, kind: str, said: Sequence[str]) -> None:
    """The error names the provider, what happened and what to do, and holds no key."""
    assert error.data is not None
    assert error.data["kind"] == kind
    assert error.data["provider"] == family
    assert error.code < -31099
    text = str(error)
    assert not any(key in text for key in KEYS.values())
    for words in (family, *said):
        assert words in text
    assert "Internal error" not in text


def assert_forgotten(request: ReceivedRequest) -> None:
    """What failed is no message of the assistant, unless the user saw half of it; the prompts are all there."""
    answers = [message for message in conversation(request) if message["role"] == "assistant"]
    assert all("Half" in str(message["content"]) for message in answers)
    for prompt in (b"First prompt", b"Second prompt"):
        assert request.body.count(prompt) == 1


@pytest.mark.parametrize("family", FAMILIES)
async def test_a_limit_is_waited_out_as_asked_and_said_meanwhile(
    desk: Desk, server: ModelServer, family: Family
) -> None:
    limited = failure(429, _error("rate_limit_error", "slow down"), headers={"retry-after": "0.1"})
    server.will_reply(limited, Say(text=("Now then.",)))
    async with powered(desk, family, address(server, family)).editor() as editor:
        session = await editor.open()
        assert (await editor.prompt(session, "Hi")).stop_reason == "end_turn"
        assert editor.said(session) == "Now then."
        assert "Trying again" in editor.thought(session)  # a client without notices is told so
    assert len(server.requests) == 2


@pytest.mark.parametrize("family", FAMILIES)
async def test_a_service_that_is_not_there_is_named(desk: Desk, family: Family) -> None:
    with refusing_address() as url:
        async with powered(desk, family, url).editor() as editor:
            session = await editor.open()
            error = await editor.refused(session, "Hi")
            port = url.split(":")[-1].split("/")[0]
            check_explained(error, family=family, kind="ProviderUnreachable", said=(f"127.0.0.1:{port}", "Check that"))


async def test_without_any_model_the_built_in_assistant_answers_and_says_so(desk: Desk) -> None:
    async with desk.editor() as editor:
        session = await editor.open()
        assert (await editor.prompt(session, "hello")).stop_reason == "end_turn"
        assert editor.said(session) != ""


async def test_a_model_without_a_key_asks_to_authenticate(desk: Desk) -> None:
    (desk.claw / "config.toml").write_text('model = "openai/gpt-5.1"\n', encoding="utf-8")
    async with desk.editor() as editor:
        with pytest.raises(RequestError, match="OPENAI_API_KEY") as refusal:
            await editor.open()
        assert refusal.value.code == -32000
