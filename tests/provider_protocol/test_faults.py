"""The checker finds each fault, by the rule that is about it, and says what is wrong."""

import re
import sys
from pathlib import Path

import pytest

from claw_acp.verify.provider.run import examine
from claw_acp.verify.rule import CannotStart, Verdict
from tests.provider_protocol.plugins import settings_for

FAULTY = Path(__file__).parent / "faulty.py"
SHORT = 0.5  # seconds: how long the checker waits for a program that will never answer

FAULTS = [
    ("VersionAsText", "session.initialize", "result.protocolVersion is '1' and not an integer"),
    ("NewerVersion", "session.newer-host", "result.protocolVersion is 99 and not 1"),
    ("UnknownMethodsUnanswered", "session.unknown-method", "nothing came"),
    ("AnswersNotifications", "session.unknown-notification", "answered a request that was not sent"),
    ("DiesOfGarbage", "session.unreadable-line", "(ended before the answer|does not read its input).*JSONDecodeError"),
    ("RoundsIds", "session.ids", "answered a request that was not sent"),
    ("NullContent", "session.chat", "result.content is None and not a string that is not empty"),
    ("NoAnswer", "session.chat", "nothing came"),
    ("NeverReads", "session.long-line", "nothing came|does not read"),
    ("DeltasDiffer", "session.reference-echo", "do not make up the content"),
    ("NoDeltas", "session.reference-echo", "deltas.text is ''"),
    ("CallsDiffer", "session.reference-tool-call", "deltas make up .*'x'.* of the result are .*'read'"),
    ("ForgetsThoughts", "session.reference-thought", "has no reasoning"),
    ("LateDelta", "session.chats-one-after-another", "belongs to no chat that is under way"),
    ("AnswersTwice", "session.chats-one-after-another", "a second time"),
    ("ResultAndError", "session.chat", "either a result or an error"),
    ("IgnoresCancel", "session.reference-cancel", "nothing came"),
    ("BlocksOnWait", "session.reference-overlap", "nothing came"),
    ("StaysAfterShutdown", "session.shutdown", "still there after 2 s"),
    ("StaysAfterTheEnd", "session.end-of-input", "still there after 2 s"),
    ("FailsAtTheEnd", "session.shutdown", "exit code 1; it wrote last: cannot save my settings"),
    ("LogsOnStdout", "session.chat", "no JSON object; logs belong on standard error"),
    ("LogsAfterTheAnswer", "oneshot.chat", "its last line is no JSON object"),
    ("NoAnswer", "oneshot.chat", "wrote nothing"),
    ("AsksTheHost", "session.chat", "it called host/time"),
    ("LosesLetters", "session.reference-unicode", "result.content is"),
    ("LosesLetters", "oneshot.reference-echo", "result.content is"),
    ("OtherErrors", "session.reference-error", "error.code is -32000 and not -31002"),
]


async def verdicts(fault: str, *rules: str, patience: float) -> list[Verdict]:
    settings = settings_for((sys.executable, "-E", str(FAULTY), fault), timeout=patience)
    report = await examine(settings, modes=("session", "oneshot"), reference=True, only=rules)
    return list(report.verdicts)


@pytest.mark.parametrize(("fault", "rule", "reason"), FAULTS)
async def test_a_fault_is_found_by_its_rule(fault: str, rule: str, reason: str) -> None:
    never = reason.startswith("nothing came")
    [verdict] = await verdicts(fault, rule, patience=SHORT if never else 20.0)
    assert verdict.outcome == "fail"
    assert re.search(reason, verdict.reason, re.DOTALL), verdict.reason


async def test_what_a_one_shot_program_logs_before_its_answer_is_no_fault() -> None:
    [verdict] = await verdicts("LogsOnStdout", "oneshot.chat", patience=20.0)
    assert verdict.outcome == "pass", verdict.reason


async def test_a_program_without_sessions_is_only_checked_in_one_shot_mode() -> None:
    report = await examine(settings_for((sys.executable, "-E", str(FAULTY), "VersionAsText")), reference=True)
    outcomes = {(verdict.rule.id.partition(".")[0], verdict.outcome) for verdict in report.verdicts}
    assert outcomes == {("oneshot", "pass")}
    assert report.agent == (
        "a program (oneshot, as it did not introduce itself: result.protocolVersion is '1' and not an integer)"
    )


async def test_a_one_shot_program_may_answer_without_reading_its_request() -> None:
    line = '{"jsonrpc": "2.0", "id": 1, "result": {"content": "always this"}}'
    command = ("/bin/sh", "-c", f"exec 0<&-; echo '{line}'")
    report = await examine(settings_for(command), modes=("oneshot",), only=("oneshot.chat", "oneshot.history"))
    assert [(verdict.outcome, verdict.reason) for verdict in report.verdicts] == [("pass", "")] * 2


async def test_what_a_program_says_when_it_fails_is_told() -> None:
    command = ("/bin/sh", "-c", "echo garbage; echo 'out of cheese' >&2; exit 3")
    [verdict] = (await examine(settings_for(command), only=("oneshot.chat",))).verdicts
    assert verdict.reason == "its last line is no JSON object; it wrote last: out of cheese"


async def test_a_program_that_introduces_itself_late_is_not_passed_over_in_silence() -> None:
    command = ("/bin/sh", "-c", "sleep 60")
    with pytest.raises(
        CannotStart, match=r"did not introduce itself \(after [\d.]+ s nothing came\), so it is taken to be one-shot"
    ):
        await examine(settings_for(command, timeout=SHORT), only=("session.*",))


async def test_a_rule_that_does_not_exist_is_no_success() -> None:
    with pytest.raises(CannotStart, match="no rule is called nonsense"):
        await examine(settings_for((sys.executable, "-E", str(FAULTY), "NewerVersion")), only=("nonsense",))


async def test_a_program_that_is_not_there_cannot_be_started() -> None:
    with pytest.raises(CannotStart, match="/no/such cannot be started: No such file or directory"):
        await examine(settings_for(("/no/such",)))
