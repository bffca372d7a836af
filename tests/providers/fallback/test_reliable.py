"""What a provider with others behind it says and sends; in which order they are asked, `test_fallback_plan` has."""

import logging
from contextlib import aclosing

import anyio
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from claw_acp.contracts.provider import (
    Capabilities,
    ChatOptions,
    ChatResponse,
    Effort,
    Finished,
    Retrying,
    Spent,
    StreamEvent,
    Switched,
    TextChunk,
    ThoughtChunk,
)
from claw_acp.core.errors import (
    ContextTooLong,
    EmptyAnswer,
    ProviderAuthFailed,
    ProviderError,
    ProviderUnavailable,
    QuotaExceeded,
    RateLimited,
    ServiceMisconfigured,
    StreamInterrupted,
)
from claw_acp.core.messages import ImagePart, Message, Usage
from claw_acp.providers.fallback.plan import Health
from claw_acp.providers.fallback.reliable import INCOMPLETE, Reliable
from tests.providers.attempts import Attempts, Played, Sleeper, at, heard, reliable
from tests.providers.conversation import asking
from tests.support.fixed_clock import FixedClock

OK = Finished(response=ChatResponse(text="ok"))
SEES = Capabilities(images=True)
PICTURE = ImagePart(data="aGk=", mime_type="image/png")
DOWN = "service is down"


def around(*asked: Played | Attempts, sleeper: Sleeper | None = None, health: Health | None = None) -> Reliable:
    clock = FixedClock()
    return reliable(
        *asked,
        health=health,
        secrets=["sk-secret-key-1"],
        clock=clock,
        sleep=sleeper or Sleeper(clock),
    )


def other(provider: Attempts, model: str = "big", options: ChatOptions | None = None) -> Played:
    return at(provider, model, options=options or ChatOptions())


async def test_a_passing_failure_is_announced_waited_out_and_tried_again() -> None:
    inner, sleeper = Attempts([ProviderUnavailable("busy")], [ProviderUnavailable("still busy")], [OK]), Sleeper()
    events, error = await heard(around(inner, sleeper=sleeper), asking())
    assert events == [Retrying(reason="busy", delay=0.5), Retrying(reason="still busy", delay=1.0), OK]
    assert (error, sleeper.delays, inner.requests) == (None, [0.5, 1.0], [asking()] * 3)


async def test_another_key_is_announced_as_another_try_of_the_same_model() -> None:
    one, two = Attempts([ProviderAuthFailed("key refused.")]), Attempts([OK])
    events, _ = await heard(around(one, other(two, "test-model")), asking())
    assert events == [Retrying(reason="key refused. Another key of acme is used now.", delay=0.0), OK]


async def test_another_model_of_the_chosen_provider_is_asked_for_with_each_of_its_keys() -> None:
    one, two = Attempts([ProviderAuthFailed("key refused.")]), Attempts([OK])
    events, _ = await heard(around(one, other(two, "test-model")), asking(model="newer"))
    assert events == [Retrying(reason="key refused. Another key of acme is used now.", delay=0.0), OK]
    assert [request.model for request in (*one.requests, *two.requests)] == ["newer", "newer"]


async def test_a_request_that_names_no_model_is_for_the_first() -> None:
    one = Attempts([OK])
    await heard(around(one), asking(model=""))
    assert [request.model for request in one.requests] == ["test-model"]


async def test_when_all_keys_of_a_model_fail_the_error_says_so() -> None:
    keys = [Attempts([ProviderAuthFailed(f"key {number} refused")]) for number in (1, 2)]
    _, error = await heard(around(*keys), asking())
    assert error is not None
    assert error.message.startswith("All 2 keys of acme failed. 1. acme/test-model: key 1 refused. 2.")


async def test_another_model_is_announced_and_named_in_its_answer() -> None:
    one, two = Attempts([QuotaExceeded("no credit")]), Attempts([TextChunk(text="ok"), OK], name="bell")
    events, _ = await heard(around(one, other(two)), asking())
    assert events == [
        Switched(reason="no credit", to="bell/big"),
        TextChunk(text="ok"),
        Finished(response=ChatResponse(text="ok", answered_by="bell/big")),
    ]
    assert [request.model for request in two.requests] == ["big"]


async def test_who_rests_from_the_beginning_is_passed_over_aloud() -> None:
    health, two = Health(), Attempts([OK], [OK], name="bell")
    whole = around(Attempts([RateLimited("slow", retry_after=30)]), other(two), health=health)
    await heard(whole, asking())
    events, _ = await heard(whole, asking())
    assert events[0] == Switched(
        reason="acme/test-model failed a moment ago and is left alone for a while.", to="bell/big"
    )


async def test_what_a_failed_attempt_took_is_billed_once() -> None:
    used = Usage(input_tokens=10, output_tokens=2)
    one = Attempts([EmptyAnswer("nothing", usage=used)], [ProviderUnavailable("down", usage=used)])
    whole = reliable(at(one, retries=1), sleep=Sleeper())
    events, error = await heard(around(at(whole, retries=0)), asking())
    assert [event for event in events if isinstance(event, Spent)] == [Spent(model="acme/test-model", usage=used)] * 2
    assert error is not None
    assert error.usage is None


@pytest.mark.parametrize("chunk", [TextChunk(text="half"), ThoughtChunk(text="hm")])
async def test_an_answer_someone_has_seen_part_of_is_not_begun_again(chunk: StreamEvent) -> None:
    one, two = Attempts([chunk, StreamInterrupted("the line broke. Send the prompt again.")], [OK]), Attempts([OK])
    events, error = await heard(around(one, other(two)), asking())
    assert events == [chunk]
    assert isinstance(error, StreamInterrupted)
    assert error.message == f"the line broke. {INCOMPLETE}"
    assert (len(one.requests), two.requests) == (1, [])


async def test_thoughts_without_words_are_not_kept_of_an_attempt_that_is_given_up() -> None:
    hidden, kept = (ThoughtChunk(text="", signature=signature) for signature in ("one", "two"))
    one = Attempts([hidden, ProviderUnavailable("busy")], [kept, TextChunk(text="ok"), OK])
    events, error = await heard(around(one), asking())
    assert error is None
    assert events == [Retrying(reason="busy", delay=0.5), kept, TextChunk(text="ok"), OK]
    events, _ = await heard(around(Attempts([kept, OK])), asking())
    assert events == [kept, OK]


async def test_what_is_wrong_with_the_request_is_told_as_it_is() -> None:
    two = Attempts([OK])
    _, error = await heard(around(Attempts([ContextTooLong("too long")]), other(two)), asking())
    assert isinstance(error, ContextTooLong)
    assert (error.message, two.requests) == ("too long", [])


async def test_when_all_fail_one_error_names_each_and_why() -> None:
    targets = [
        Attempts(*[[ProviderUnavailable(f"{DOWN} at sk-secret-key-1.", status=503)]] * 3),
        other(Attempts([ProviderAuthFailed("bell refused the key. Check it.", status=401)], name="bell")),
    ]
    _, error = await heard(around(*targets), asking())
    assert isinstance(error, ProviderAuthFailed)
    assert error.status == 401
    assert error.message == (
        "All 2 models failed. 1. acme/test-model: service is down at ***. 2. bell/big: bell refused the key. Check it."
    )


async def test_an_answer_with_nothing_in_it_is_a_failure() -> None:
    """Providers of others need not know this."""
    used = Usage(input_tokens=7)
    empty = Finished(response=ChatResponse(usage=used))
    events, _ = await heard(around(Attempts([empty], [OK])), asking())
    assert [type(event) for event in events] == [Spent, Retrying, Finished]
    declined = Finished(response=ChatResponse(stop="refusal"))
    assert await heard(around(Attempts([declined])), asking()) == ([declined], None)


async def test_a_stream_that_ends_without_a_result_is_tried_again() -> None:
    events, _ = await heard(around(Attempts([], [OK])), asking())
    assert [type(event) for event in events] == [Retrying, Finished]


async def test_another_provider_gets_its_own_sampling_and_thinks_only_if_it_can() -> None:
    own = ChatOptions(max_tokens=9, temperature=0.1)
    request = asking(max_tokens=1000, effort="high", tool_choice="none")
    efforts: list[tuple[Capabilities, Effort | None]] = [(Capabilities(), None), (Capabilities(thinking=True), "high")]
    for can, effort in efforts:
        two = Attempts([OK], name="bell", can=can)
        await heard(around(Attempts([QuotaExceeded("x")]), other(two, options=own)), request)
        [sent] = two.requests
        assert sent.options == ChatOptions(max_tokens=9, temperature=0.1, effort=effort, tool_choice="none")


async def test_who_cannot_see_is_not_asked_about_a_picture_and_told_of_older_ones() -> None:
    blind, seeing = Attempts([OK], name="blind"), Attempts([OK], name="seeing", can=SEES)
    asked = asking(Message.user("What is this?", PICTURE))
    await heard(around(Attempts([QuotaExceeded("x")], can=SEES), other(blind), other(seeing)), asked)
    assert (blind.requests, tuple(seeing.requests[0].messages)) == ([], asked.messages)

    later = asking(*asked.messages, Message.assistant("A cat."), Message.user("And now?"))
    await heard(around(Attempts([QuotaExceeded("x")], can=SEES), other(blind)), later)
    assert blind.requests[0].messages[0].text == "What is this?[left out: this model does not read images]"


async def test_capabilities_are_those_of_who_is_asked() -> None:
    health, wide = Health(), Capabilities(context_window=9000)
    whole = around(Attempts([QuotaExceeded("x")]), other(Attempts([OK], name="bell", can=wide)), health=health)
    assert whole.capabilities("m").context_window == 0
    await heard(whole, asking(model="m"))
    assert whole.capabilities("m").context_window == 9000


async def test_pictures_are_for_the_chosen_model_also_while_it_rests() -> None:
    seeing, blind = Attempts([QuotaExceeded("x")], [OK], can=SEES), Attempts([OK], name="bell")
    whole = around(seeing, other(blind), health=Health())
    await heard(whole, asking())
    assert whole.capabilities("test-model").images
    _, error = await heard(whole, asking(Message.user("What is this?", PICTURE)))
    assert error is None
    assert len(seeing.requests) == 2, "who sees is asked, though it rests"


async def test_a_service_that_is_configured_wrongly_gives_way_and_is_named_when_nobody_answers() -> None:
    def wrong() -> Attempts:
        return Attempts([ServiceMisconfigured("nothing at this address", status=404)])

    events, error = await heard(around(wrong(), other(Attempts([OK], name="bell"))), asking())
    assert (error, [event.to for event in events if isinstance(event, Switched)]) == (None, ["bell/big"])
    _, error = await heard(around(wrong(), other(Attempts([QuotaExceeded("no credit")], name="bell"))), asking())
    assert error is not None
    assert "All 2 models failed. 1. acme/test-model: nothing at this address. 2. bell/big: no credit" in error.message


async def test_leaving_closes_the_inner_stream() -> None:
    inner = Attempts([TextChunk(text="a"), TextChunk(text="b"), OK])
    async with aclosing(around(inner).stream(asking())) as events:
        async for _ in events:
            break
    assert inner.closed == 1


async def test_a_wait_is_left_at_once() -> None:
    inner = Attempts([RateLimited("slow", retry_after=60)])
    whole, told = reliable(inner), anyio.Event()

    async def listen() -> None:
        async for _ in whole.stream(asking()):
            told.set()

    with anyio.fail_after(5):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(listen)
            await told.wait()
            tasks.cancel_scope.cancel()
    assert inner.closed == 1


async def test_everything_else_is_asked_of_the_first_and_all_are_closed() -> None:
    one, two = Attempts(), Attempts(name="bell")
    whole = around(one, other(two))
    assert (whole.name, [model.id for model in await whole.models()]) == ("acme", ["m"])
    await whole.aclose()
    assert (one.ended, two.ended) == (True, True)


async def test_the_log_has_every_failure(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, logger="claw_acp")
    await heard(around(Attempts([ProviderUnavailable("x", status=503)], [OK])), asking())
    [line] = caplog.records
    assert (line.message, vars(line)["target"], vars(line)["status"]) == (
        "model request failed",
        "acme/test-model",
        503,
    )


class Unlike(ProviderError):
    """A stranger's own, which is made another way."""

    def __init__(self, number: int) -> None:
        super().__init__(f"trouble {number}")


async def test_an_error_of_a_strangers_own_kind_passes() -> None:
    _, error = await heard(around(Attempts([TextChunk(text="x"), Unlike(7)])), asking())
    assert isinstance(error, ProviderError)
    assert error.message == f"trouble 7. {INCOMPLETE}"


# ------------------------------------------------------------------ any failures

USED = st.one_of(st.none(), st.builds(Usage, input_tokens=st.integers(1, 9)))
KINDS: tuple[type[ProviderError], ...] = (
    RateLimited,
    ProviderUnavailable,
    StreamInterrupted,
    ProviderAuthFailed,
    QuotaExceeded,
)


@st.composite
def failures(draw: st.DrawFn) -> ProviderError:
    kind = draw(st.sampled_from(KINDS))
    return kind("trouble", retry_after=draw(st.sampled_from([None, 2.0, 90.0])), usage=draw(USED))


@settings(max_examples=60, deadline=None)
@given(scripts=st.lists(st.lists(failures(), max_size=3), min_size=1, max_size=4))
async def test_whatever_fails_the_bill_the_waits_and_the_answer_are_right(scripts: list[list[ProviderError]]) -> None:
    taken = {id(error): error.usage for script in scripts for error in script}
    providers = [Attempts(*[[e] for e in script], *[[OK]] * 3, name=f"p{n}") for n, script in enumerate(scripts)]
    clock = FixedClock()
    sleeper = Sleeper(clock)
    whole = reliable(*[at(one, "m") for one in providers], clock=clock, sleep=sleeper)
    events, error = await heard(whole, asking())
    asked = [len(one.requests) for one in providers]
    failed = [e for script, count in zip(scripts, asked, strict=True) for e in script[:count]]
    bill = sorted(event.usage.input_tokens for event in events if isinstance(event, Spent))
    assert bill == sorted(used.input_tokens for e in failed if (used := taken[id(e)]))
    assert sleeper.delays == [event.delay for event in events if isinstance(event, Retrying) and event.delay]
    assert all(count <= 3 for count in asked)
    if error is None:
        assert isinstance(events[-1], Finished)
        assert sum(asked) == len(failed) + 1
    else:
        assert sum(asked) == len(failed)
