"""What programs that we start find of our environment."""

import pytest

from claw_acp.config.key_reference import KeyReference
from claw_acp.core.child_environment import is_key, is_withheld, pass_on, without_keys
from claw_acp.providers.registry.services import SERVICES

KEY = "value-of-a-key"


@pytest.mark.parametrize("variable", sorted({name for service in SERVICES.values() for name in service.key_variables}))
def test_no_program_gets_a_variable_that_a_service_of_ours_takes_its_key_from(variable: str) -> None:
    assert without_keys({variable: KEY, "OTHER": "x"}) == {"OTHER": "x"}


def test_a_variable_that_the_configuration_refers_to_is_withheld_from_then_on() -> None:
    assert not is_withheld("WORK_SECRET_OF_A_TEST")
    KeyReference.parse("env:WORK_SECRET_OF_A_TEST")
    assert without_keys({"WORK_SECRET_OF_A_TEST": KEY}) == {}


def test_a_variable_that_the_person_passes_on_by_name_stays_and_its_key_is_still_masked() -> None:
    mine = {"OPENAI_API_KEY": KEY, "MINE": KEY, "ANTHROPIC_API_KEY": KEY, "CLAW_ACP_PASSPHRASE": KEY}
    pass_on(["OPENAI_API_KEY", "CLAW_ACP_PASSPHRASE"])
    try:
        assert without_keys(mine) == {"OPENAI_API_KEY": KEY}
        assert is_key("OPENAI_API_KEY")
    finally:
        pass_on(())
    assert without_keys(mine) == {}


def test_a_copy_of_a_key_under_another_name_is_withheld_as_well() -> None:
    assert without_keys({"OPENAI_API_KEY": KEY, "MINE": KEY, "SHORT_API_KEY": "no", "USES": "no"}) == {"USES": "no"}


def test_what_programs_need_stays_even_when_the_configuration_refers_to_it() -> None:
    KeyReference.parse("env:PATH")
    assert without_keys({"PATH": "/bin", "HOME": "/h"}) == {"PATH": "/bin", "HOME": "/h"}


def test_credentials_of_the_persons_own_work_stay() -> None:
    theirs = {
        "GITHUB_TOKEN": "t" * 9,
        "AWS_ACCESS_KEY_ID": "a" * 9,
        "AWS_SECRET_ACCESS_KEY": "s" * 9,
        "SSH_AUTH_SOCK": "/s",
    }
    assert without_keys({**theirs, "AWS_BEARER_TOKEN_BEDROCK": KEY}) == theirs
