"""Amazon Bedrock's Converse API: the models of many makers in one AWS account."""

from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import aclosing
from functools import partial
from typing import TYPE_CHECKING, Final

import anyio
from anyio import to_thread

from claw_acp.contracts.provider import Capabilities, ChatRequest, ModelInfo, StreamEvent
from claw_acp.contracts.provider_setup import ProviderSetup
from claw_acp.core.errors import BrokenExtension, ProviderAuthFailed
from claw_acp.core.json_value import JsonValue
from claw_acp.core.secret import Secret
from claw_acp.core.value import replace
from claw_acp.providers.bedrock.models import cache_places, offered
from claw_acp.providers.bedrock.region import configured_region
from claw_acp.providers.bedrock.request import converse_body, converse_path
from claw_acp.providers.bedrock.stream import BedrockStream
from claw_acp.providers.models.facts import known_capabilities
from claw_acp.providers.transport.http_provider import HttpProvider
from claw_acp.providers.transport.http_service import Signer, Timeouts
from claw_acp.providers.transport.streaming import StreamingProvider, stream_answer
from claw_acp.registry.lazy import Lazy
from claw_acp.registry.reference import Ref

if TYPE_CHECKING:
    from claw_acp.providers.bedrock.session import AwsSession

RUNTIME, CONTROL = "bedrock-runtime", "bedrock"
"""The first part of the host name: for requests to models, and for lists of models."""

USUAL_REGION: Final = "us-east-1"
CREDENTIALS_TIMEOUT: Final = 60.0  # seconds until a request is signed; roles and programs take their time

_SESSION: "Ref[Callable[..., AwsSession]]" = Ref("claw_acp.providers.bedrock.session:AwsSession")
_BEARERS: Final = ("BEDROCK_API_KEY", "AWS_BEARER_TOKEN_BEDROCK")
_ADDRESSES: Final = {RUNTIME: "AWS_ENDPOINT_URL_BEDROCK_RUNTIME", CONTROL: "AWS_ENDPOINT_URL_BEDROCK"}


class BedrockProvider(StreamingProvider):
    """The models of one region, with an API key (as a bearer token) or AWS credentials, which sign each request.

    Nothing is looked up before the first request; then the region is and, without a key, the credentials. Only the
    credentials need botocore.
    """

    def __init__(self, setup: ProviderSetup, *, timeouts: Timeouts | None = None) -> None:
        environ = {name: value.reveal().strip() for name, value in setup.environ}
        bearer = next((environ[name] for name in _BEARERS if environ.get(name)), "")
        self.name = setup.name
        self._setup = replace(setup, api_key=setup.api_key or (Secret(bearer) if bearer else None))
        self._environ = environ
        self._timeouts = timeouts
        self._signer: AwsSigner | None = None
        self._endpoints: dict[str, _Endpoint] = {}

    async def stream(self, request: ChatRequest) -> AsyncGenerator[StreamEvent, None]:
        """Answer piece by piece."""
        endpoint = await self._endpoint(RUNTIME)
        try:
            async with aclosing(endpoint.answer(request)) as events:
                async for event in events:
                    yield event
        except ProviderAuthFailed:
            if self._signer is not None:
                self._signer.forget()  # credentials in a file may be newer than the ones that were kept
            raise

    def capabilities(self, model: str) -> Capabilities:
        """Capabilities of `model`, by its id."""
        known = known_capabilities(model, self._setup.about(model))
        cache = "none" if cache_places(model) == "nowhere" else "explicit"
        return replace(known, cache=cache, tools=self._setup.quirks.tools is not False)

    async def models(self) -> Sequence[ModelInfo]:
        """The text models and inference profiles of the region, profiles first.

        Raises:
            ProviderError: The service cannot be reached, or refuses these credentials.
        """
        endpoint = await self._endpoint(CONTROL)
        models = await endpoint.document("/foundation-models?byOutputModality=TEXT")
        return offered(models, await endpoint.document("/inference-profiles?maxResults=1000"))

    async def aclose(self) -> None:
        """Close the connections."""
        for endpoint in self._endpoints.values():
            await endpoint.aclose()

    async def _endpoint(self, host: str) -> "_Endpoint":
        if host not in self._endpoints:
            find = partial(configured_region, self._environ, provider=self.name)
            region = self._setup.region or await to_thread.run_sync(find, abandon_on_cancel=True) or USUAL_REGION
            self._endpoints.setdefault(host, self._made(host, region=region))
        return self._endpoints[host]

    def _made(self, host: str, *, region: str) -> "_Endpoint":
        named = self._environ.get(_ADDRESSES[host]) or self._environ.get("AWS_ENDPOINT_URL", "")
        address = self._setup.base_url.replace(f"//{RUNTIME}.", f"//{host}.") or named or _address(host, region=region)
        if self._setup.api_key is None and self._signer is None:
            make = partial(_session, self._environ, provider=self.name, region=region)
            self._signer = AwsSigner(make, provider=self.name, region=region)
        return _Endpoint(replace(self._setup, base_url=address), signer=self._signer, timeouts=self._timeouts)


class AwsSigner:
    """Signs requests with the current AWS credentials; see `Signer`.

    Args:
        make: Makes the session that finds the credentials. Blocks, as the session does.
        provider: The name of the provider, for errors.
        region: The region that the requests go to.
    """

    def __init__(self, make: "Callable[[], AwsSession]", *, provider: str, region: str) -> None:
        self._make = make
        self._provider = provider
        self._region = region
        self._session = Lazy(make)

    def forget(self) -> None:
        """Drop the credentials, which were refused, and look for them again before the next request."""
        self._session = Lazy(self._make)

    async def sign(self, method: str, url: str, *, headers: Mapping[str, str], body: bytes) -> Mapping[str, str]:
        """The headers of the signature."""
        session = self._session

        def signed() -> Mapping[str, str]:
            return session().sign(method, url, headers=headers, body=body, region=self._region)

        try:
            with anyio.fail_after(CREDENTIALS_TIMEOUT):
                return await to_thread.run_sync(signed, abandon_on_cancel=True)
        except TimeoutError as error:
            self.forget()
            text = f"{self._provider}: no AWS credentials could be obtained within {CREDENTIALS_TIMEOUT:g} s."
            raise ProviderAuthFailed(
                f"{text} Try again, or set AWS_BEARER_TOKEN_BEDROCK.", provider=self._provider
            ) from error


def _session(environ: Mapping[str, str], *, provider: str, region: str) -> "AwsSession":
    try:
        make = _SESSION.load()
    except BrokenExtension as error:
        raise ProviderAuthFailed(
            f"{provider}: AWS credentials need botocore, which is not installed; run pip install 'claw-acp[bedrock]', "
            "or set AWS_BEARER_TOKEN_BEDROCK.",
            provider=provider,
        ) from error
    return make(environ, provider=provider, region=configured_region(environ, provider=provider) or region)


class _Endpoint(HttpProvider):
    """One host of the service."""

    def __init__(self, setup: ProviderSetup, *, signer: Signer | None, timeouts: Timeouts | None) -> None:
        super().__init__(
            setup,
            base_url=setup.base_url,
            authorization=("authorization", "Bearer "),
            signer=signer,
            timeouts=timeouts,
        )

    def answer(self, request: ChatRequest) -> AsyncGenerator[StreamEvent, None]:
        return stream_answer(
            self._service,
            request,
            path=converse_path(request.model),
            body=self._body(converse_body(request, provider=self.name, quirks=self._setup.quirks)),
            parser=BedrockStream(provider=self.name, model=request.model, secrets=self._secrets),
        )

    async def document(self, path: str) -> JsonValue:
        return await self._service.get_json(path)


def _address(host: str, *, region: str) -> str:
    """The host's address. Source: https://docs.aws.amazon.com/general/latest/gr/bedrock.html."""
    return f"https://{host}.{region}.amazonaws.com{'.cn' if region.startswith('cn-') else ''}"
