"""The order in which targets are asked, driven with a clock that stands still."""

from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from claw_acp.contracts.provider_setup import ProviderSetup
from claw_acp.core.errors import (
    ContextTooLong,
    EmptyAnswer,
    MalformedReply,
    ModelNotAllowed,
    ModelNotFound,
    ProviderAuthFailed,
    ProviderError,
    ProviderTimeout,
    ProviderUnavailable,
    ProviderUnreachable,
    QuotaExceeded,
    RateLimited,
    RequestRejected,
    ServiceMisconfigured,
    StreamInterrupted,
)
from claw_acp.core.secret import Secret
from claw_acp.providers.fallback.plan import (
    COOLDOWN,
    KEY_REST,
    LONGEST_WISH,
    MOST_REFUSED,
    FallbackPlan,
    Health,
    NextAttempt,
    backoff,
)
from claw_acp.providers.selection.target import Target

NOW = 1000.0

# Two keys of one provider, two of its models, and another provider.
ONE, TWO = "key one", "key two"


def target(provider: str, model: str, *, key: str, retries: int = 2) -> Target:
    setup = ProviderSetup(name=provider, kind="test", api_key=Secret(key))
    return Target(setup=setup, model=model, retries=retries)


TARGETS = (
    target("a", "big", key=ONE),
    target("a", "big", key=TWO),
    target("a", "small", key=ONE),
    target("a", "small", key=TWO),
    target("b", "else", key="other"),
)
LIMITED = RateLimited("slow down")
DOWN = ProviderUnavailable("down")


class Drive:
    """Follows a plan: waits as told, and fails as told."""

    def __init__(self, targets: Sequence[Target], *, health: Health | None = None, now: float = NOW) -> None:
        self.health = health or Health()
        self.plan = FallbackPlan(targets, health=self.health)
        self.now = now
        self.path: list[tuple[int, float]] = []
        self.attempt: NextAttempt | None = None
        self._take(self.plan.first(now=now))

    def fail(self, error: ProviderError) -> NextAttempt | None:
        assert self.attempt is not None
        self._take(self.plan.after(self.attempt.index, error, now=self.now, chance=0.0))
        return self.attempt

    def _take(self, attempt: NextAttempt | None) -> None:
        self.attempt = attempt
        if attempt is not None:
            self.now += attempt.delay
            self.path.append((attempt.index, round(attempt.delay, 3)))


def path_of(
    *errors: ProviderError, targets: Sequence[Target] = TARGETS, health: Health | None = None
) -> list[tuple[int, float]]:
    drive = Drive(targets, health=health)
    for error in errors:
        drive.fail(error)
    return drive.path if drive.attempt is not None else [*drive.path, (-1, 0.0)]


END = (-1, 0.0)


@pytest.mark.parametrize(
    ("errors", "path"),
    [
        pytest.param([LIMITED], [(0, 0), (1, 0)], id="a limited key: the next one at once"),
        pytest.param([LIMITED, LIMITED], [(0, 0), (1, 0), (2, 0)], id="both limited: the next model"),
        pytest.param([DOWN, DOWN], [(0, 0), (0, 0.5), (0, 1.0)], id="down: the same again, with patience"),
        pytest.param([DOWN] * 3, [(0, 0), (0, 0.5), (0, 1.0), (1, 0)], id="down for good: the next"),
        pytest.param([ProviderTimeout("slow")], [(0, 0), (1, 0)], id="slow: the next at once"),
        pytest.param([ProviderAuthFailed("no")], [(0, 0), (1, 0)], id="a refused key: the next key"),
        pytest.param(
            [ProviderAuthFailed("no"), ModelNotFound("?")], [(0, 0), (1, 0), (3, 0)], id="refused key, unknown model"
        ),
        pytest.param([ModelNotFound("?")], [(0, 0), (2, 0)], id="an unknown model: no other key is tried for it"),
        pytest.param([ModelNotAllowed("no")], [(0, 0), (1, 0)], id="a model that this key may not use: the next key"),
        pytest.param([ModelNotAllowed("no")] * 2, [(0, 0), (1, 0), (2, 0)], id="that no key may use: the next model"),
        pytest.param([ServiceMisconfigured("404")], [(0, 0), (4, 0)], id="a wrong address: the next provider"),
        pytest.param([ProviderAuthFailed("no")] * 2, [(0, 0), (1, 0), (4, 0)], id="all keys refused: other provider"),
        pytest.param([QuotaExceeded("spent")], [(0, 0), (1, 0)], id="no credit: no retry"),
        pytest.param([MalformedReply("html")], [(0, 0), (1, 0)], id="nonsense: no retry"),
        pytest.param([ContextTooLong("long")], [(0, 0), END], id="too long: told at once"),
        pytest.param([RequestRejected("bad")], [(0, 0), END], id="rejected: told at once"),
        pytest.param(
            [ProviderUnavailable("busy", retry_after=30.0)], [(0, 0), (1, 0)], id="asked to wait, but others are there"
        ),
    ],
)
def test_each_failure_has_its_way_on(errors: list[ProviderError], path: list[tuple[int, float]]) -> None:
    assert path_of(*errors) == path


@pytest.mark.parametrize(
    "error",
    [DOWN, LIMITED, ProviderUnreachable("x"), ProviderTimeout("x"), StreamInterrupted("x"), EmptyAnswer("x")],
    ids=lambda error: type(error).__name__,
)
def test_a_single_target_is_tried_three_times_for_what_passes(error: ProviderError) -> None:
    assert path_of(*[error] * 3, targets=TARGETS[:1]) == [(0, 0), (0, 0.5), (0, 1.0), END]


@pytest.mark.parametrize(
    "error", [ProviderAuthFailed("x"), QuotaExceeded("x"), ModelNotFound("x"), MalformedReply("x")]
)
def test_a_single_target_is_tried_once_for_what_stays(error: ProviderError) -> None:
    assert path_of(error, targets=TARGETS[:1]) == [(0, 0), END]


def test_without_others_a_vendors_wish_is_waited_for_up_to_a_minute() -> None:
    assert path_of(RateLimited("x", retry_after=7.5), targets=TARGETS[:1]) == [(0, 0), (0, 7.5)]
    assert path_of(ProviderUnavailable("x", retry_after=900), targets=TARGETS[:1]) == [(0, 0), (0, 60)]


def test_when_all_are_limited_the_one_that_is_ready_first_is_waited_for() -> None:
    errors = [RateLimited("x", retry_after=seconds) for seconds in (40, 30, 8, 20, 50)]
    assert path_of(*errors) == [(0, 0), (1, 0), (2, 0), (3, 0), (4, 0), (2, 8)]


def test_a_limited_target_rests_for_every_session_and_comes_back() -> None:
    health = Health()
    Drive(TARGETS[:2], health=health).fail(RateLimited("x", retry_after=5))
    later = Drive(TARGETS[:2], health=health, now=NOW + 4.9)
    assert (later.path, later.attempt) == ([(1, 0)], NextAttempt(index=1, rested=True))
    assert Drive(TARGETS[:2], health=health, now=NOW + 5).path == [(0, 0)]


def test_a_limit_without_a_time_is_a_rest_of_ten_seconds() -> None:
    health = Health()
    Drive(TARGETS[:2], health=health).fail(LIMITED)
    assert Drive(TARGETS[:2], health=health, now=NOW + COOLDOWN - 0.1).path == [(1, 0)]
    assert Drive(TARGETS[:2], health=health, now=NOW + COOLDOWN).path == [(0, 0)]


def test_a_refused_key_rests_for_all_its_models_and_is_known_as_refused_until_it_is_taken() -> None:
    health = Health()
    Drive(TARGETS, health=health).fail(ProviderAuthFailed("no"))
    assert health.is_refused(TARGETS[0].setup)
    assert Drive(TARGETS[2:], health=health, now=NOW + KEY_REST - 1).path == [(1, 0)], "key two, for the other model"
    back = Drive(TARGETS, health=health, now=NOW + KEY_REST)
    assert back.path == [(0, 0)]
    back.plan.answered(0)
    assert not health.is_refused(TARGETS[0].setup)


def test_a_model_that_a_key_may_not_use_is_no_fault_of_the_key() -> None:
    health = Health()
    Drive(TARGETS, health=health).fail(ModelNotAllowed("no"))
    assert not health.is_refused(TARGETS[0].setup)
    assert Drive(TARGETS, health=health, now=NOW + KEY_REST - 1).path == [(1, 0)]
    assert Drive(TARGETS[2:], health=health, now=NOW + 1).path == [(0, 0)], "key one, for the other model"


def test_only_the_latest_refused_keys_are_remembered() -> None:
    health = Health()
    for number in range(MOST_REFUSED + 1):
        health.refuse(target("acme", "m", key=str(number)), now=NOW)
    refused = [health.is_refused(target("acme", "m", key=str(number)).setup) for number in (0, 1, MOST_REFUSED)]
    assert refused == [False, True, True]


def test_a_refused_key_without_others_is_asked_again_at_the_next_prompt() -> None:
    health = Health()
    Drive(TARGETS[:1], health=health).fail(ProviderAuthFailed("no"))
    assert Drive(TARGETS[:1], health=health, now=NOW + 1).path == [(0, 0)]


def test_who_failed_a_moment_ago_is_asked_after_the_others_and_not_waited_for() -> None:
    health = Health()
    first = Drive(TARGETS[:2], health=health)
    for _ in range(3):
        first.fail(DOWN)
    assert Drive(TARGETS[:2], health=health, now=first.now + 1).path == [(1, 0)]
    assert Drive(TARGETS[:1], health=health, now=first.now + 1).path == [(0, 0)]


@pytest.mark.parametrize(
    ("attempt", "chance", "retry_after", "seconds"),
    [
        (0, 0.0, None, 0.5),
        (1, 0.0, None, 1.0),
        (4, 0.0, None, 8.0),
        (5, 0.0, None, 10.0),
        (20, 0.0, None, 10.0),
        (0, 0.8, None, 0.4),
        (20, 0.8, None, 8.0),
        (0, 0.0, 0.1, 0.5),
        (0, 0.0, 5.0, 5.0),
        (0, 0.0, 500.0, 60.0),
    ],
)
def test_delays_double_to_a_limit_less_a_share_of_chance(
    attempt: int, chance: float, retry_after: float | None, seconds: float
) -> None:
    assert backoff(attempt, chance=chance, retry_after=retry_after) == pytest.approx(seconds)


# ------------------------------------------------------------------ any plan

WISHES = st.sampled_from([None, 0.0, 3.0, 45.0, 500.0])
ERRORS = st.one_of(
    WISHES.map(lambda wish: RateLimited("limited", retry_after=wish)),
    WISHES.map(lambda wish: ProviderUnavailable("down", retry_after=wish)),
    st.sampled_from(
        [
            StreamInterrupted("cut"),
            EmptyAnswer("empty"),
            ProviderTimeout("slow"),
            ProviderAuthFailed("wrong key"),
            QuotaExceeded("spent"),
            ModelNotFound("which?"),
            MalformedReply("nonsense"),
            ContextTooLong("long"),
        ]
    ),
)
ANY_TARGETS = st.lists(
    st.builds(
        target,
        st.sampled_from(["a", "b"]),
        st.sampled_from(["big", "small"]),
        key=st.sampled_from([ONE, TWO, "other"]),
        retries=st.integers(0, 2),
    ),
    min_size=1,
    max_size=6,
    unique_by=lambda one: (one.setup, one.model),
)


class Watch:
    """What must hold of every plan, whatever fails."""

    def __init__(self, targets: Sequence[Target]) -> None:
        self.targets = targets
        self.drive = Drive(targets)
        self.tries = [0] * len(targets)
        self.gone: set[int] = set()
        self.not_before = [0.0] * len(targets)

    def step(self, error: ProviderError) -> bool:
        """Fail the present target; whether the plan goes on."""
        assert self.drive.attempt is not None
        number, before = self.drive.attempt.index, self.drive.now
        failed = self.targets[number]
        self.tries[number] += 1
        self._note(number, failed, error, before)
        attempt = self.drive.fail(error)
        if isinstance(error, ContextTooLong):
            assert attempt is None
            return False
        if attempt is None:
            assert self.gone == set(range(len(self.targets))), "given up only when nobody is left"
            return False
        assert attempt.index not in self.gone
        assert 0 <= attempt.delay <= LONGEST_WISH
        assert self.drive.now >= self.not_before[attempt.index] - 1e-6, "nobody is asked before the time it wished"
        if isinstance(error, ProviderTimeout) and attempt.index == number:
            assert all(self._rests(other, before) for other in range(len(self.targets)) if other != number)
        return True

    def _note(self, number: int, failed: Target, error: ProviderError, now: float) -> None:
        match error:
            case ProviderAuthFailed():
                self.gone |= {n for n, other in enumerate(self.targets) if other.setup == failed.setup}
            case QuotaExceeded():
                same = (failed.setup, failed.model)
                self.gone |= {n for n, other in enumerate(self.targets) if (other.setup, other.model) == same}
            case ModelNotFound():
                same = (failed.provider, failed.model)
                self.gone |= {n for n, other in enumerate(self.targets) if (other.provider, other.model) == same}
            case _ if not error.retryable or self.tries[number] > failed.retries:
                self.gone.add(number)
            case _:
                self.not_before[number] = now + min(error.retry_after or 0.0, LONGEST_WISH)
        if isinstance(error, ProviderTimeout) and any(
            other not in self.gone and not self._rests(other, now)
            for other in range(len(self.targets))
            if other != number
        ):
            self.gone.add(number)  # with somebody else to ask, nobody is waited for twice

    def _rests(self, number: int, now: float) -> bool:
        return number in self.gone or self.drive.health.rest_of(self.targets[number], now=now) is not None


@settings(max_examples=150, deadline=None)
@given(targets=ANY_TARGETS, errors=st.lists(ERRORS, min_size=1, max_size=25))
def test_any_plan_is_short_patient_and_complete(targets: list[Target], errors: list[ProviderError]) -> None:
    watch = Watch(targets)
    assert watch.drive.path == [(0, 0)]
    for error in errors:
        if not watch.step(error):
            break
    assert all(tried <= one.retries + 1 for tried, one in zip(watch.tries, targets, strict=True))


@settings(max_examples=50, deadline=None)
@given(targets=ANY_TARGETS, error=ERRORS)
def test_a_failure_that_stays_ends_every_plan(targets: list[Target], error: ProviderError) -> None:
    watch = Watch(targets)
    for _ in range(sum(one.retries + 1 for one in targets)):
        if not watch.step(error):
            return
    raise AssertionError("the plan did not end")
