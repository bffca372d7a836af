"""OpenAI's models at Azure: chat completions at the address of a resource, with deployments as models.

There are two APIs. The v1 API is OpenAI's own under `/openai/v1`, and needs no version; it is used unless the
configuration names a dated `api_version`, or an address below `/openai/deployments`, which belong to the older API
(https://learn.microsoft.com/azure/ai-foundry/openai/api-version-lifecycle and
https://learn.microsoft.com/azure/ai-foundry/openai/reference).
"""

from collections.abc import AsyncGenerator, Sequence
from urllib.parse import quote

from claw_acp.contracts.provider import ChatRequest, ModelInfo, StreamEvent
from claw_acp.contracts.provider_setup import ProviderSetup, Quirks
from claw_acp.core.errors import ServiceMisconfigured
from claw_acp.core.value import replace
from claw_acp.providers.openai.request import chat_completion
from claw_acp.providers.openai.stream import OpenAIStream
from claw_acp.providers.transport.http_provider import HttpProvider
from claw_acp.providers.transport.http_service import Timeouts
from claw_acp.providers.transport.streaming import stream_answer
from claw_acp.providers.transport.whole_answers import chat_chunks

API_VERSION = "2024-10-21"
"""The newest stable version of the older API."""

V1 = "/openai/v1"
DEPLOYMENTS = "/openai/deployments"
CHAT = "/chat/completions"
QUIRKS = Quirks(max_tokens="max_completion_tokens")


class AzureProvider(HttpProvider):
    """A resource at `https://NAME.openai.azure.com`; a model is the name of a deployment.

    The key is sent in the header `api-key`. A token of Entra ID is sent in the configured headers (`authorization`),
    without a key.
    """

    def __init__(self, setup: ProviderSetup, *, timeouts: Timeouts | None = None) -> None:
        resource, self._deployment = _parts(setup.base_url)
        self._version = setup.api_version
        self._classic = "/deployments/" in setup.base_url or setup.api_version[:1].isdecimal()
        super().__init__(
            replace(setup, base_url=resource, quirks=setup.quirks.over(QUIRKS)),
            base_url="",
            authorization=("api-key", ""),
            timeouts=timeouts,
        )

    def stream(self, request: ChatRequest) -> AsyncGenerator[StreamEvent, None]:
        """Answer piece by piece.

        Raises:
            ServiceMisconfigured: The address of the resource is not configured.
            RequestRejected: The request cannot be sent.
        """
        if not self._setup.base_url:
            raise ServiceMisconfigured(
                f"{self.name} needs the address of your Azure resource. Set base_url (or AZURE_OPENAI_ENDPOINT) to "
                "https://NAME.openai.azure.com.",
                provider=self.name,
                model=request.model,
            )
        return stream_answer(
            self._service,
            request,
            path=self._path(request.model),
            body=self._body(chat_completion(request, quirks=self._setup.quirks, provider=self.name)),
            parser=OpenAIStream(provider=self.name, model=request.model, clock=self._clock, secrets=self._secrets),
            unfold=chat_chunks,
        )

    async def models(self) -> Sequence[ModelInfo]:
        """None: the service lists what could be deployed, not the deployments."""
        return ()

    def _path(self, model: str) -> str:
        if self._setup.quirks.path:
            return f"/{self._setup.quirks.path.lstrip('/')}"
        if self._classic:
            deployment = quote(self._deployment or model, safe="")
            return f"{DEPLOYMENTS}/{deployment}{CHAT}?api-version={quote(self._version or API_VERSION, safe='')}"
        version = f"?api-version={quote(self._version, safe='')}" if self._version else ""
        return f"{V1}{CHAT}{version}"


def _parts(address: str) -> tuple[str, str]:
    """The address of a resource and the deployment, from an address with the path of either API, or none."""
    address = address.partition("?")[0].rstrip("/").removesuffix(CHAT)
    resource, found, deployment = address.partition(f"{DEPLOYMENTS}/")
    if found:
        return resource, deployment.strip("/")
    return resource.removesuffix(V1).removesuffix("/openai"), ""
