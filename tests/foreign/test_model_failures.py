"""The whole program against a model server over real HTTP: what works, and every way in which it does not.

A failure must end in an error that a person can act on, must not show the key, and must leave the session usable: the
next prompt works, and what failed is no message of the assistant in its request.
"""

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass

import anyio
import pytest
from acp import RequestError

from tests.support.foreign.desk import Desk
from tests.support.foreign.editor import ForeignEditor
from tests.support.foreign.models import DEFAULT_MODELS, FAMILIES, KEYS, Family, address, conversation, powered
from tests.support.servers.model_replies import (
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
    failure,
)
from tests.support.servers.model_server import ModelServer, refusing_address

FAST = "[providers.{}]\ntimeout = 0.2\n"
TWICE_MORE = 3  # requests in all: two retries


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
    Case("stalled", "ProviderTimeout", ("0.2 s", "can be sent again"),
         (Say(text=HALF, insert={4: Stall()}),), config=True),
    Case("hung up", "ProviderUnavailable", ("without an answer", "Try again"), (HangUp(),) * TWICE_MORE),
    Case("cut before a word", "StreamInterrupted", ("broke off", "Send the prompt again"), (CUT,) * TWICE_MORE),
    Case("cut midway", "StreamInterrupted", ("can be sent again",), (Say(text=HALF, insert={4: Cut()}),)),
    Case("garbage", "MalformedReply", ("not JSON", "base_url"), (GARBAGE,)),
    Case("too long", "ContextTooLong", ("400", "too long for the model", "Shorten"),
         (failure(400, _error("context_length_exceeded", "maximum context length is 8192 tokens")),)),
    Case("no such model", "ModelNotFound", ("404", "does not know the model", "Choose another model"),
         (failure(404, _error("not_found_error", "model: gpt-none does not exist")),)),
    Case("wrong address", "ServiceMisconfigured", ("404", "base_url"), (failure(404, "Not Found"),)),
    Case("a web page", "MalformedReply", ("a web page", "base_url"),
         (Raw(pieces=[b"<html>Log in</html>"], content_type="text/html"),)),
)  # fmt: skip


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
async def test_a_failed_request_is_explained_and_forgotten(desk: Desk, server: ModelServer, case: Case) -> None:
    left = {family: deque([*case.replies, Say(text=("Back again.",))]) for family in FAMILIES}
    server.always(lambda request: left[request.family].popleft())
    server.always_lists(failure(200, {"object": "list", "data": []}))  # nobody could take the place of a model
    if case.config:
        config = "".join(FAST.format(family) for family in FAMILIES)
        (desk.claw / "config.toml").write_text(config, encoding="utf-8")
    for family in FAMILIES:
        powered(desk, family, address(server, family))
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


async def test_a_service_that_is_not_there_is_named(desk: Desk) -> None:
    with refusing_address() as url:
        async with powered(desk, "openai", url).editor() as editor:
            session = await editor.open()
            error = await editor.refused(session, "Hi")
            place = url.removeprefix("http://").removesuffix("/v1")
            check_explained(error, family="openai", kind="ProviderUnreachable", said=(place, "Check that"))


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


@pytest.mark.parametrize("family", FAMILIES)
async def test_work_done_before_a_failure_is_not_lost(desk: Desk, server: ModelServer, family: Family) -> None:
    desk.file("a.txt", "alpha-content\n")
    call = Call(name="read_file", arguments={"path": "a.txt"})
    server.will_reply(
        Say(text=("Reading.",), calls=(call,)), failure(400, _error("bad", "no")), Say(text=("Back again.",))
    )
    async with powered(desk, family, address(server, family)).editor() as editor:
        session = await editor.open()
        await editor.refused(session, "Read it")
        assert editor.tool(session).status == "completed"
        await editor.prompt(session, "And?")
        assert editor.said(session) == "Reading.Back again."
    assert b"alpha-content" in server.requests[-1].body
