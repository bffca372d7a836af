"""The checker finds nothing in a correct agent, and each fault by the rules that are about it."""

import itertools
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from claw_acp.verify.rule import CannotStart
from claw_acp.verify.run import rules
from tests.verify.checker import LONG_TIMEOUT, TIMEOUT, checked, failed, faulty, minimal, minimal_v2
from tests.verify.faults import FOUND_BY, FOUND_IN_V2_BY, TOGETHER, TOGETHER_IN_V2

NOT_SEEN = {"auth.authenticates", "auth.logout-unoffered", "auth.required-has-a-way"}
"""What a correct agent that needs no login gives no occasion for."""


@pytest.mark.spawned
async def test_a_correct_agent_passes_every_check(tmp_path: Path) -> None:
    report = await checked(minimal(), tmp_path)
    assert {
        verdict.rule.id: verdict.reason for verdict in report.verdicts if verdict.outcome != "pass"
    }.keys() == NOT_SEEN
    assert report.agent == "minimal 1.0"


@pytest.mark.timeout(180)
@pytest.mark.parametrize("faults", TOGETHER, ids="+".join)
async def test_each_fault_is_found_by_its_rules_and_by_no_other(faults: tuple[str, ...], tmp_path: Path) -> None:
    await _is_found(faulty(*faults), tmp_path, by={rule for fault in faults for rule in FOUND_BY[fault]})


@pytest.mark.timeout(180)
@pytest.mark.parametrize("faults", TOGETHER_IN_V2, ids="+".join)
async def test_each_fault_of_protocol_2_is_found_by_its_rules(faults: tuple[str, ...], tmp_path: Path) -> None:
    expected = {rule for fault in faults for rule in FOUND_IN_V2_BY[fault]}
    await _is_found(minimal_v2(*faults), tmp_path, by=expected, protocol=2)


async def _is_found(command: Sequence[str], folder: Path, *, by: set[str], protocol: int = 1) -> None:
    """On a busy machine an agent may need longer for an answer than the first timeout, which is short to be quick."""
    found: dict[str, str] = {}
    for timeout in (TIMEOUT, LONG_TIMEOUT):
        found = failed(await checked(command, folder / f"{timeout}", within=timeout, protocol=protocol))
        if found.keys() == by:
            return
    too_many = {rule: reason for rule, reason in found.items() if rule not in by}
    assert (too_many, by - found.keys()) == ({}, set())


@pytest.mark.parametrize(("together", "found_by"), [(TOGETHER, FOUND_BY), (TOGETHER_IN_V2, FOUND_IN_V2_BY)])
def test_every_fault_is_tried_once_and_shares_no_rule_with_those_beside_it(
    together: Sequence[tuple[str, ...]], found_by: Mapping[str, Sequence[str]]
) -> None:
    assert Counter(itertools.chain(*together)) == Counter(dict.fromkeys(found_by, 1))
    for faults in together:
        expected = Counter(rule for fault in faults for rule in found_by[fault])
        assert expected.total() == len(expected), faults


@pytest.mark.parametrize(("protocol", "found_by"), [(1, FOUND_BY), (2, FOUND_IN_V2_BY)])
def test_every_rule_that_a_fault_should_break_exists_and_rules_are_named_once(
    protocol: int, found_by: Mapping[str, Sequence[str]]
) -> None:
    names = Counter(rule.id for rule in rules(protocol))
    assert names.total() == len(names)
    assert {rule for found in found_by.values() for rule in found} <= names.keys()
    assert all(rule.text.endswith(".") and rule.source for rule in rules(protocol))


async def test_a_program_that_is_not_there_cannot_be_started(tmp_path: Path) -> None:
    with pytest.raises(CannotStart, match="cannot be started: No such file or directory"):
        await checked(["/no/such/agent"], tmp_path)


async def test_a_program_that_ends_without_a_word_cannot_be_started(tmp_path: Path) -> None:
    with pytest.raises(CannotStart, match="no module named nothing"):
        await checked(["/bin/sh", "-c", "echo no module named nothing >&2; exit 1"], tmp_path)


async def test_a_program_that_never_answers_fails_and_does_not_hang_the_checker(tmp_path: Path) -> None:
    hung = ["/bin/sh", "-c", "trap '' TERM; while :; do sleep 1; done"]
    report = await checked(hung, tmp_path, only=["initialize.answers"], within=0.5)
    assert failed(report) == {"initialize.answers": "after 0.5 s there is still not the answer to initialize"}
