"""What a person is offered."""

from claw_acp.security.choices import choices_for
from claw_acp.security.verdicts import Decision
from tests.security.conftest import House


def labels(decision: Decision) -> dict[str, str]:
    return {choice.kind: choice.label for choice in choices_for(decision)}


def test_the_lasting_answers_say_exactly_what_is_remembered(house: House) -> None:
    assert labels(house.run("npm test")) == {
        "allow_once": "Allow once",
        "allow_always": "Always allow `npm test …` in this project",
        "reject_once": "Reject",
        "reject_always": "Always reject `npm test …` in this project",
    }
    assert labels(house.write("README.md"))["allow_always"] == "Always allow writing README.md in this project"
    assert "fetching from example.org" in labels(house.fetch("https://example.org"))["allow_always"]


def test_what_must_be_asked_each_time_has_no_lasting_answer(house: House) -> None:
    for line in ("rm -rf x", "eval x", "sudo ls"):
        assert set(labels(house.run(line))) == {"allow_once", "reject_once"}


def test_ids_are_distinct_and_labels_short(house: House) -> None:
    choices = choices_for(house.run(f"npm run {'x' * 300}"))
    assert len({choice.id for choice in choices}) == len(choices) == 4
    assert all(len(choice.label) < 100 for choice in choices)
