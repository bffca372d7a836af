"""What a person is offered."""

import pytest

from claw_acp.security.permission_choices import choices_for, rules_told
from claw_acp.security.verdicts import Decision
from tests.security.conftest import House


def labels(decision: Decision) -> dict[str, str]:
    return {choice.kind: choice.label for choice in choices_for(decision)}


def test_the_lasting_answers_say_exactly_what_is_remembered(house: House) -> None:
    assert labels(house.run("npm test")) == {
        "allow_once": "Allow once",
        "allow_always": "Always allow `npm test` in this project",
        "reject_once": "Reject",
        "reject_always": "Always reject `npm test` in this project",
    }
    assert labels(house.write("README.md"))["allow_always"] == "Always allow writing README.md in this project"
    assert "fetching from example.org" in labels(house.fetch("https://example.org"))["allow_always"]


def test_what_must_be_asked_each_time_has_no_lasting_answer(house: House) -> None:
    for line in ("rm -rf x", "eval x", "sudo ls"):
        assert set(labels(house.run(line))) == {"allow_once", "reject_once"}


def test_ids_are_distinct_and_labels_short(house: House) -> None:
    for line in (f"npm run {'x' * 300}", "docker ps -a", "a1 x; a2 x; a3 x"):
        choices = choices_for(house.run(line))
        assert len({choice.id for choice in choices}) == len(choices) >= 4
        assert all(len(choice.label) < 100 for choice in choices)


@pytest.mark.parametrize(
    "line",
    [
        "npm test; npm run a; npm run b; make evil FOO=bar; git push origin HEAD",
        f"npm run {'x' * 300}",
        "cd src && make",
    ],
)
def test_every_rule_that_an_answer_would_store_is_told_in_full(house: House, line: str) -> None:
    asked = house.run(line)
    choices = choices_for(asked)
    told = rules_told(choices)
    assert asked.remember
    assert all(f"- `{rule}`" in told for rule in asked.remember)
    assert all(choice.stores == asked.remember for choice in choices if choice.stores)
    labels = [choice.label for choice in choices if choice.stores]
    assert all("these 5 rules" in label or "exactly this" in label or "cd src && make" in label for label in labels)


def test_any_arguments_are_offered_only_where_none_of_them_does_harm(house: House) -> None:
    offered = {choice.id: choice.stores for choice in choices_for(house.run("docker ps -a"))}
    assert offered["allow_always"] == ("shell(docker ps -a)",)
    assert offered["allow_always_wider"] == ("shell(docker ps *)",)
    for line in ("npm test", "pytest", "make test", "git fetch origin", "docker run x", "docker psx", "go test ./..."):
        assert not house.run(line).wider


def test_what_is_too_long_to_be_read_before_agreeing_is_not_remembered(house: House) -> None:
    assert set(labels(house.run(f"npm run {'x' * 2000}"))) == {"allow_once", "reject_once"}


def test_an_unseen_character_in_a_rule_is_shown_as_an_escape(house: House) -> None:
    told = rules_told(choices_for(house.run("npm run 'a\u202eb\u3164'")))
    assert "a\\u202eb\\u3164" in told
