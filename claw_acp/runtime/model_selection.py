"""The model that answers a prompt: the session's model, the one its route leads to, or the vision model."""

from collections.abc import Sequence

from claw_acp.config.secret_cache import SecretCache
from claw_acp.config.settings import Settings
from claw_acp.contracts.content_support import is_picture, obstacle
from claw_acp.contracts.provider import Capabilities, Provider
from claw_acp.core.errors import AuthRequired, ConfigError, InvalidRequest
from claw_acp.core.messages import AudioPart, ContentPart, ImagePart, TextPart
from claw_acp.core.value import replace
from claw_acp.providers.selection.resolve import resolve_ready
from claw_acp.providers.selection.resolved_model import ResolvedModel
from claw_acp.runtime.provider_pool import ProviderPool


async def choose_answerer(
    settings: Settings, *, model: str, prompt: Sequence[ContentPart], pool: ProviderPool, secrets: SecretCache
) -> ResolvedModel:
    """The model for a prompt. Images go to the session's model if it sees, else to the configured `vision_model`.

    Raises:
        AuthRequired: That model has no usable key.
        ConfigError: There is no such model, or it is not configured completely.
    """
    said = "".join(part.text for part in prompt if isinstance(part, TextPart))
    choice = pool.successions.applied((await resolve_ready(settings, model=model, secrets=secrets)).for_message(said))
    seeing = settings.vision_model
    if seeing is None or not any(is_picture(part) for part in prompt):
        return choice
    if pool.get(choice).capabilities(choice.target.model).images:
        return choice
    try:
        return replace(await resolve_ready(settings, model=seeing, secrets=secrets), sees=True)
    except AuthRequired as error:
        raise AuthRequired(_blind(choice, seeing, error.message)) from error
    except ConfigError as error:
        raise ConfigError(_blind(choice, seeing, error.message)) from error


def capabilities_of(provider: Provider, choice: ResolvedModel) -> Capabilities:
    """The capabilities of the model that will be asked.

    The configured `vision_model` always counts as one that sees.
    """
    known = provider.capabilities(choice.target.model)
    return replace(known, images=True) if choice.sees else known


def check_attachments(provider: Provider, choice: ResolvedModel, prompt: Sequence[ContentPart]) -> None:
    """Check that the model accepts the images and sounds of a prompt. Unreadable documents are described to the model.

    Raises:
        InvalidRequest: It does not accept one of them.
    """
    capabilities = capabilities_of(provider, choice)
    for part in prompt:
        reason = obstacle(part, capabilities=capabilities)
        if reason and isinstance(part, ImagePart | AudioPart):
            raise InvalidRequest(f"{choice.name} {reason}; leave it out or choose another model")


def _blind(choice: ResolvedModel, seeing: str, reason: str) -> str:
    return f'{choice.name} does not read images, and vision_model = "{seeing}" cannot be used: {reason}'
