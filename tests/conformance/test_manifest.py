"""The rules and the tests that prove them are held together, both ways."""

from collections import Counter

from tests.conformance.manifest import proofs, rules


def test_every_rule_is_proven_by_a_test_or_says_why_it_is_not_kept() -> None:
    proven = {rule for proof in proofs() for rule in proof.rules}
    assert [rule.id for rule in rules() if not rule.deviation and rule.id not in proven] == []


def test_every_rule_that_a_test_names_exists() -> None:
    known = {rule.id for rule in rules()}
    assert [f"{proof.test}: {rule}" for proof in proofs() for rule in proof.rules if rule not in known] == []


def test_every_conformance_test_names_a_rule() -> None:
    here = [proof for proof in proofs() if proof.test.startswith("conformance/")]
    unnamed = [proof.test for proof in here if not proof.rules and "test_manifest.py" not in proof.test]
    assert here
    assert unnamed == []


def test_no_rule_is_there_twice_and_each_has_a_level_and_a_source() -> None:
    rows = rules()
    assert [name for name, count in Counter(rule.id for rule in rows).items() if count > 1] == []
    assert [rule.id for rule in rows if rule.level not in {"MUST", "SHOULD"} or not rule.source or not rule.text] == []
