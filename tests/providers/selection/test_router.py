"""Names that stand for models, and decorators around decorators."""

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from claw_acp.contracts.provider import (
    Capabilities,
    ChatOptions,
    ChatResponse,
    Finished,
    Provider,
    StreamEvent,
    TextChunk,
    ThoughtChunk,
)
from claw_acp.contracts.provider_setup import ProviderSetup
from claw_acp.core.errors import RequestRejected
from claw_acp.core.messages import Message, Reasoning, ToolCall, Usage
from claw_acp.providers.scripted.provider import ScriptedProvider
from claw_acp.providers.selection.route_rules import LOOKED_AT, RouteRule, pick_route
from claw_acp.providers.selection.router import Router
from tests.providers.attempts import Attempts, Played, Sleeper, at, heard, reliable
from tests.providers.conversation import asking

OK = Finished(response=ChatResponse(text="ok"))
CODE = RouteRule(route="code", keywords=("python", "c++"))


def router(*rules: RouteRule, default: bool = False) -> tuple[Router, dict[str, Attempts]]:
    sees = Capabilities(images=True)
    lanes = {name: Attempts([OK], name=f"p-{name}", can=sees) for name in ("code", "long", "default")}
    routes = {name: at(one, f"m-{name}") for name, one in lanes.items() if name != "default" or default}
    lanes["usual"] = Attempts([OK], name="usual")
    return routed(at(lanes["usual"], "m-usual"), *rules, **routes), lanes


def routed(usual: Played, *rules: RouteRule, **routes: Played) -> Router:
    targets = {name: played.target for name, played in routes.items()}
    return Router(usual.target, routes=targets, providers=dict([usual, *routes.values()]), rules=rules)


async def test_a_hint_is_asked_of_its_model_which_the_answer_names() -> None:
    provider, lanes = router()
    events, _ = await heard(provider, asking(model="hint:code"))
    assert events == [Finished(response=ChatResponse(text="ok", answered_by="p-code/m-code"))]
    assert [request.model for request in lanes["code"].requests] == ["m-code"]


async def test_any_other_name_is_a_model_of_the_usual_provider() -> None:
    provider, lanes = router()
    assert await heard(provider, asking(model="other")) == ([OK], None)
    assert [request.model for request in lanes["usual"].requests] == ["other"]


async def test_an_unknown_hint_names_the_nearest() -> None:
    provider, _ = router()
    _, error = await heard(provider, asking(model="hint:kode"))
    assert isinstance(error, RequestRejected)
    assert 'there is no route "kode"; did you mean "code"' in error.message
    with pytest.raises(RequestRejected):
        provider.capabilities("hint:kode")


async def test_a_route_may_have_its_own_sampling() -> None:
    inner = Attempts([OK])
    provider = routed(at(inner, "m"), cold=at(inner, "m", options=ChatOptions(temperature=0.0)))
    await heard(provider, asking(model="hint:cold", effort="low", temperature=1.0))
    assert inner.requests[0].options == ChatOptions(temperature=0.0, effort="low")


@pytest.mark.parametrize(
    ("said", "default", "asked"),
    [("Mend this Python code", True, "code"), ("Hello", True, "default"), ("Hello", False, "usual")],
)
async def test_auto_asks_whom_the_rules_say_else_the_default_else_the_usual(
    said: str, *, default: bool, asked: str
) -> None:
    provider, lanes = router(CODE, default=default)
    await heard(
        provider, asking(Message.user("python"), Message.assistant("Yes?"), Message.user(said), model="hint:auto")
    )
    assert [name for name, lane in lanes.items() if lane.requests] == [asked]


async def test_capabilities_are_those_of_the_model_behind_the_name() -> None:
    provider, _ = router(CODE)
    assert (provider.capabilities("hint:code").images, provider.capabilities("hint:auto").images) == (True, False)
    assert [model.id for model in await provider.models()] == ["hint:code", "hint:long", "m"]


async def test_closing_closes_every_lane() -> None:
    provider, lanes = router(default=True)
    await provider.aclose()
    assert all(lane.ended for lane in lanes.values())


@pytest.mark.parametrize(
    ("rule", "text", "fits"),
    [
        (CODE, "some PYTHON here", True),
        (CODE, "I like C++!", True),
        (CODE, "pythonic", False),
        (RouteRule(route="r", min_length=3, max_length=5), "ab", False),
        (RouteRule(route="r", min_length=3, max_length=5), "abc", True),
        (RouteRule(route="r", min_length=3, max_length=5), "abcdef", False),
        (RouteRule(route="r", pattern=r"^def \w+"), "def f", True),
        (RouteRule(route="r", pattern="z"), "a" * LOOKED_AT + "z", False),
        (RouteRule(route="r", keywords=("a",), pattern="b"), "a c", False),
        (RouteRule(route="r"), "", True),
    ],
)
def test_a_rule_fits_when_all_it_says_holds(rule: RouteRule, *, text: str, fits: bool) -> None:
    assert rule.fits(text) is fits


def test_the_first_rule_that_fits_decides() -> None:
    rules = [RouteRule(route="one", min_length=5), RouteRule(route="two"), RouteRule(route="three")]
    assert [pick_route(text, rules=rules, routes=()) for text in ("hello", "hi")] == ["one", "two"]
    assert (pick_route("x", rules=(), routes=["default"]), pick_route("x", rules=(), routes=["a"])) == ("default", None)


# ------------------------------------------------------------------ around one another

CHUNKS = st.lists(
    st.one_of(
        st.builds(TextChunk, text=st.text(min_size=1, max_size=5)),
        st.builds(ThoughtChunk, text=st.text(max_size=5)),
    ),
    max_size=5,
)
RESPONSES = st.builds(
    ChatResponse,
    text=st.text(min_size=1, max_size=5),
    tool_calls=st.lists(st.builds(ToolCall, id=st.just("1"), name=st.just("t"), arguments=st.text(max_size=3))).map(
        tuple
    ),
    reasoning=st.lists(st.builds(Reasoning, text=st.text(max_size=3)), max_size=2).map(tuple),
    usage=st.one_of(st.none(), st.builds(Usage, input_tokens=st.integers(0, 9))),
    stop=st.sampled_from(["end", "tool_calls", "max_tokens", "refusal"]),
)
LAYERS = st.lists(st.sampled_from(["reliable", "router"]), max_size=4)


def wrapped(provider: Provider, layers: list[str]) -> Provider:
    for layer in layers:
        if layer == "reliable":
            provider = reliable(provider, at(Attempts(), "x"), sleep=Sleeper())
        else:
            provider = routed(at(provider, "x"), x=at(Attempts(), "x"))
    return provider


@settings(max_examples=60, deadline=None)
@given(layers=LAYERS, chunks=CHUNKS, response=RESPONSES)
async def test_in_any_order_they_pass_on_what_a_plain_provider_says(
    layers: list[str], chunks: list[StreamEvent], response: ChatResponse
) -> None:
    said = [*chunks, Finished(response=response)]
    assert await heard(wrapped(Attempts(said), layers), asking()) == (said, None)
    assert await wrapped(Attempts(said), layers).chat(asking()) == response


@settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(layers=LAYERS)
async def test_in_any_order_they_play_a_script_as_it_is(layers: list[str], tmp_path: Path) -> None:
    script = tmp_path / "play.json"
    script.write_text(
        '{"turns": [{"steps": [{"thought": "hm"}, {"text": ["Good ", "morning."]}, {"usage": {"input_tokens": 3}}]}]}'
    )
    setup = ProviderSetup(name="play", kind="scripted", script=script)
    expected = await heard(ScriptedProvider(setup), asking())
    assert await heard(wrapped(ScriptedProvider(setup), layers), asking()) == expected
