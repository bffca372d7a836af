"""The content types a model can take.

A conversation may hold more: images from before a change of model, or from tools.

A vendor refuses a request for one such part, and would refuse every later one of the session; so requests carry a
sentence in its place.
"""

from collections.abc import Sequence

from claw_acp.contracts.provider import AUDIO_TYPES, IMAGE_TYPES, Capabilities
from claw_acp.core.messages import AudioPart, ContentPart, ImagePart, Message, ResourcePart, TextPart
from claw_acp.core.value import replace


def obstacle(part: ContentPart, *, capabilities: Capabilities) -> str | None:
    """The reason a model with these capabilities cannot take a part; None if it can."""
    match part:
        case ImagePart(mime_type=mime_type):
            return _image_obstacle(mime_type, capabilities=capabilities)
        case AudioPart(mime_type=mime_type):
            return _audio_obstacle(mime_type, capabilities=capabilities)
        case ResourcePart(uri=uri, mime_type=mime_type, text=None):
            if mime_type in IMAGE_TYPES:
                return _image_obstacle(mime_type, capabilities=capabilities)
            return f"cannot read the attached {uri} ({mime_type or 'of unknown type'}): it is neither text nor an image"
        case _:
            return None


def is_picture(part: ContentPart) -> bool:
    """True if a part needs a model with vision."""
    if isinstance(part, ResourcePart):
        return part.text is None and part.mime_type in IMAGE_TYPES
    return isinstance(part, ImagePart)


def supported_messages(messages: Sequence[Message], *, capabilities: Capabilities) -> list[Message]:
    """The conversation with each part that the model cannot take replaced by a sentence."""
    return [_supported(message, capabilities=capabilities) for message in messages]


def _supported(message: Message, *, capabilities: Capabilities) -> Message:
    obstacles = [obstacle(part, capabilities=capabilities) for part in message.parts]
    if not any(obstacles):
        return message
    parts = (
        part if reason is None else TextPart(text=f"[left out: this model {reason}]")
        for part, reason in zip(message.parts, obstacles, strict=True)
    )
    return replace(message, parts=tuple(parts))


def _image_obstacle(mime_type: str, *, capabilities: Capabilities) -> str | None:
    if not capabilities.images:
        return "does not read images"
    return None if mime_type in IMAGE_TYPES else f"cannot see images of type {mime_type}, only PNG, JPEG, GIF and WebP"


def _audio_obstacle(mime_type: str, *, capabilities: Capabilities) -> str | None:
    if not capabilities.audio:
        return "does not listen to audio"
    return None if mime_type in AUDIO_TYPES else f"cannot listen to audio of type {mime_type}, only WAV and MP3"
