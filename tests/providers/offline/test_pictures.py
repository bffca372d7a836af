"""The offline assistant, pictures and sound: they are taken, and what is done about them is said."""

import pytest

from claw_acp.contracts.content_support import obstacle
from claw_acp.contracts.provider import ChatRequest
from claw_acp.contracts.provider_setup import ProviderSetup
from claw_acp.core.messages import AudioPart, ImagePart, Message, TextPart
from claw_acp.providers.offline.provider import MODEL, UNSEEN, OfflineProvider

PICTURE = ImagePart(data="aGk=", mime_type="image/png")
SOUND = AudioPart(data="aGk=", mime_type="audio/wav")


@pytest.mark.parametrize("part", [PICTURE, SOUND], ids=["picture", "sound"])
@pytest.mark.parametrize(("text", "then"), [("", "offline assistant"), ("hello", "Hello")])
async def test_what_it_cannot_see_or_hear_is_answered_with_that(
    text: str, then: str, part: ImagePart | AudioPart
) -> None:
    offline = OfflineProvider(ProviderSetup(name="offline", kind="offline"))
    assert obstacle(part, capabilities=offline.capabilities(MODEL)) is None
    asked = Message(role="user", parts=(*([TextPart(text=text)] if text else []), part))
    answer = await offline.chat(ChatRequest(model=MODEL, messages=(asked,)))
    assert answer.text.startswith(UNSEEN)
    assert then in answer.text
    later = await offline.chat(ChatRequest(model=MODEL, messages=(asked, Message.user("help"))))
    assert UNSEEN not in later.text
