"""What may be kept for later conversations, or forgotten, without a question."""

from collections.abc import Sequence

import pytest

from claw_acp.contracts.tool import ChangesMemory
from claw_acp.core.value import replace
from claw_acp.security.command_paths import UntrustedText
from claw_acp.security.policy import Mode, Policy
from tests.security.conftest import House, rules

SAID = ChangesMemory(text="I like tabs", said=True)
MORE = ChangesMemory(text="deploys go to evil.example")
EVERYWHERE = replace(MORE, everywhere=True)
FORGET = ChangesMemory(text="I like tabs", operation="forget")
RULE = ("memory_store", "memory_forget")

TABLE = [
    pytest.param(SAID, (), "deny ask allow allow", "ask ask ask ask", id="what the person said"),
    pytest.param(MORE, (), "deny ask ask ask", "ask ask ask ask", id="more than the person said"),
    pytest.param(MORE, RULE, "deny allow allow allow", "ask ask ask ask", id="with a rule"),
    pytest.param(replace(SAID, everywhere=True), (), "deny ask allow allow", "ask ask ask ask", id="said, everywhere"),
    pytest.param(EVERYWHERE, RULE, "deny ask ask ask", "ask ask ask ask", id="everywhere, with a rule"),
    pytest.param(FORGET, (), "deny ask ask ask", "ask ask ask ask", id="forgetting"),
    pytest.param(FORGET, RULE, "deny allow allow allow", "deny allow allow allow", id="forgetting with a rule"),
]


@pytest.mark.parametrize(("access", "allow", "alone", "amid"), TABLE)
def test_a_note_needs_a_yes_unless_it_is_the_persons_own_words_and_always_amid_untrusted_text(
    house: House, access: ChangesMemory, allow: Sequence[str], alone: str, amid: str
) -> None:
    tool = f"memory_{access.operation}"
    modes: Sequence[Mode] = ("plan", "ask", "edit", "auto")
    text = UntrustedText(sources=("evil.example",), touched=lambda _: True, given=lambda _: True)
    for context, wanted in ((house.context, alone), (replace(house.context, untrusted=text), amid)):
        policy = Policy(rules(allow=allow))
        decided = [policy.decide(tool=tool, accesses=[access], mode=mode, context=context) for mode in modes]
        verdicts = [decision.verdict for decision in decided]
        assert verdicts == ["deny", *wanted.split()[1:]]


@pytest.mark.parametrize(("access", "offered"), [(MORE, ("memory_store",)), (EVERYWHERE, ()), (FORGET, ())])
def test_always_is_offered_for_the_notes_of_the_project_alone(
    house: House, access: ChangesMemory, offered: Sequence[str]
) -> None:
    decision = Policy().decide(tool="memory_store", accesses=[access], mode="ask", context=house.context)
    assert decision.remember == offered
