"""The offline assistant and pictures: they are taken, and what is done about them is said."""

import pytest

from claw_acp.contracts.provider import ChatRequest
from claw_acp.contracts.provider_setup import ProviderSetup
from claw_acp.core.messages import ImagePart, Message, TextPart
from claw_acp.providers.offline import MODEL, UNSEEN, OfflineProvider


@pytest.mark.parametrize(("text", "then"), [("", "offline assistant"), ("hello", "Hello")])
async def test_a_picture_is_answered_with_what_cannot_be_done_with_it(text: str, then: str) -> None:
    offline = OfflineProvider(ProviderSetup(name="offline", kind="offline"))
    assert offline.capabilities(MODEL).images
    picture = ImagePart(data="aGk=", mime_type="image/png")
    asked = Message(role="user", parts=(*([TextPart(text=text)] if text else []), picture))
    answer = await offline.chat(ChatRequest(model=MODEL, messages=(asked,)))
    assert answer.text.startswith(UNSEEN)
    assert then in answer.text
    later = await offline.chat(ChatRequest(model=MODEL, messages=(asked, Message.user("help"))))
    assert UNSEEN not in later.text
