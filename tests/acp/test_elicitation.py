"""Questions that belong to a request, and questions that a web page answers, before any session exists."""

from typing import Any

import pytest

from claw_acp.acp.elicitation import Forms, ask_url, complete
from claw_acp.acp.handshake import ClientCapabilities
from claw_acp.acp.view import ANSWER_TIMEOUT
from claw_acp.contracts.questions import Form, FormAnswer, TextField
from claw_acp.core.json_value import JsonObject, JsonValue
from claw_acp.rpc.errors import ConnectionClosed, RpcError
from tests.support.judges.official_schema import OfficialSchema

FORM = Form(session="", message="Which provider?", inputs=(TextField(key="name", title="Name"),))


class Client:
    """A client that answers each question with the next of its answers."""

    def __init__(self, *answers: "JsonValue | Exception") -> None:
        self.answers = list(answers)
        self.asked: list[JsonObject] = []
        self.told: list[tuple[str, JsonObject]] = []

    async def request(self, method: str, params: JsonObject, *, within: float | None = None) -> JsonValue:
        assert (method, within) == ("elicitation/create", ANSWER_TIMEOUT)
        for version in (1, 2) if params.get("requestId", 0) is not None else (1,):  # only 1 has requests with id null
            assert OfficialSchema.load(version).problems("CreateElicitationRequest", params) == []
        self.asked.append(params)
        answer = self.answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer

    async def notify(self, method: str, params: JsonObject) -> None:
        self.notify_nowait(method, params)

    def notify_nowait(self, method: str, params: JsonObject) -> None:
        self.told.append((method, params))

    slow = overloaded = closed = False

    async def drained(self) -> None:
        """Nothing is ever unread here."""

    def hang_up(self) -> None:
        """Nothing is connected."""


def _forms(client: Client) -> Forms:
    return Forms(client, ClientCapabilities(forms=True))


@pytest.mark.parametrize("request_id", [7, "seven", None])
async def test_a_form_without_a_session_belongs_to_the_request_it_is_asked_for(request_id: int | str | None) -> None:
    client = Client({"action": "accept", "content": {"name": "mine"}})
    answer = await _forms(client).ask(FORM, request=request_id)
    assert answer == FormAnswer(action="accept", values={"name": "mine"})
    assert client.asked[0]["requestId"] == request_id
    assert "sessionId" not in client.asked[0]


@pytest.mark.rule("elicitation.gated")
async def test_a_client_without_forms_is_not_asked() -> None:
    assert await Forms(Client(), ClientCapabilities(urls=True)).ask(FORM) is None


@pytest.mark.parametrize(
    "failure", [RpcError(-32601, "no such method"), ConnectionClosed("gone"), TimeoutError(), {"action": None}, 7]
)
async def test_a_client_that_fails_to_answer_is_not_asked_again(failure: Any) -> None:
    client = Client(failure)
    forms = _forms(client)
    assert [await forms.ask(FORM), await forms.ask(FORM)] == [None, None]
    assert len(client.asked) == 1


async def test_a_dismissed_form_does_not_keep_the_next_from_being_asked() -> None:
    client = Client({"action": "decline"}, {"action": "accept", "content": {"name": "mine"}})
    forms = _forms(client)
    assert await forms.ask(FORM) == FormAnswer(action="decline")
    assert await forms.ask(FORM) == FormAnswer(action="accept", values={"name": "mine"})


async def test_the_second_question_says_what_was_wrong_with_the_first_answer() -> None:
    client = Client({"action": "accept", "content": {}}, {"action": "accept", "content": {"name": 1}})
    assert await _forms(client).ask(FORM) == FormAnswer(action="cancel")
    assert [asked["message"] for asked in client.asked] == [
        "Which provider?",
        "Which provider?\n\nPlease correct: “Name” must be filled in.",
    ]


async def test_a_web_page_is_asked_for_by_id_and_completed_by_the_same() -> None:
    client = Client({"action": "accept"}, {"action": "accept"})
    action, first = await ask_url(client, session=None, request=3, message="Log in", url="https://example.org/")
    _, second = await ask_url(client, session="ses_1", request=None, message="Log in", url="https://example.org/")
    assert action == "accept"
    assert first != second
    assert client.asked == [
        {"mode": "url", "message": "Log in", "elicitationId": first, "url": "https://example.org/", "requestId": 3},
        {
            "mode": "url",
            "message": "Log in",
            "elicitationId": second,
            "url": "https://example.org/",
            "sessionId": "ses_1",
        },
    ]
    await complete(client, first)
    assert client.told == [("elicitation/complete", {"elicitationId": first})]


@pytest.mark.parametrize(
    "answer", [{"action": "cancel"}, {"action": "_later"}, {}, None, RpcError(-32603, "oops"), TimeoutError()]
)
async def test_no_clear_answer_to_a_web_page_is_a_cancelled_one(answer: Any) -> None:
    action, _ = await ask_url(Client(answer), session=None, request=3, message="m", url="https://example.org/")
    assert action == "cancel"
