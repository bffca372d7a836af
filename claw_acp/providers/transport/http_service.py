"""HTTP requests to one model service. httpx errors become errors of the core here."""

import json
import logging
import os
import ssl
from collections.abc import AsyncGenerator, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Protocol
from urllib.request import getproxies

import anyio
import httpx
from anyio import to_thread

from claw_acp.contracts.provider_setup import Cassette, ConnectionOptions
from claw_acp.core.address import bare_address, secrets_in
from claw_acp.core.clock import SYSTEM_CLOCK, Clock
from claw_acp.core.errors import (
    MalformedReply,
    ProviderAuthFailed,
    ProviderError,
    ProviderTimeout,
    ProviderUnavailable,
    ProviderUnreachable,
    ServiceMisconfigured,
    StreamInterrupted,
)
from claw_acp.core.json_value import JsonObject, JsonValue
from claw_acp.core.value import Value
from claw_acp.net.closing import closing
from claw_acp.net.redaction import masked
from claw_acp.net.trust import trusted, trusted_besides
from claw_acp.providers.transport.recording import Tape
from claw_acp.providers.transport.refusals import read_refusal, refusal_error, refusal_in_reply

CONNECT_TIMEOUT = 10.0  # seconds until TCP and TLS stand
FIRST_BYTE_TIMEOUT = 120.0  # seconds until the service begins to answer; large prompts are read before that
IDLE_TIMEOUT = 90.0  # seconds between two reads of an answer under way
CLOSING_TIMEOUT = 1.0  # seconds to let go of a connection
KEEP_ALIVE = 120.0  # seconds an idle connection is kept, so that the next turn saves the handshake
ERROR_BODY_TIMEOUT = 5.0  # seconds to hear why a request was refused; the status alone says enough after that
LIST_TIMEOUT = 15.0  # seconds for a list of models, from the first byte sent to the last received
ERROR_BODY_LIMIT = 64 * 1024  # bytes of an error reply that are read
JSON_BODY_LIMIT = 8 * 1024 * 1024  # bytes of a list of models

log = logging.getLogger(__name__)


class Timeouts(Value):
    """Timeouts of a request, in seconds: `first_byte` until the reply begins, `idle` between two reads of it."""

    connect: float = CONNECT_TIMEOUT
    first_byte: float = FIRST_BYTE_TIMEOUT
    idle: float = IDLE_TIMEOUT


DEFAULT_TIMEOUTS = Timeouts()
USUAL_CONNECTION = ConnectionOptions()


class Signer(Protocol):
    """Adds the authorization of one request, where a constant header is not enough."""

    async def sign(self, method: str, url: str, *, headers: Mapping[str, str], body: bytes) -> Mapping[str, str]:
        """The headers to add; `headers` are all others of the request, by lower-case name.

        Raises:
            ProviderError: There are no credentials to sign with.
        """
        ...


class HttpService:
    """One service at one base URL, with the headers of every request.

    The client is created at the first request and keeps connections between requests; proxies come from the
    environment, or from `connection`. `secrets` are never shown in an error. With a `cassette` exchanges are recorded,
    or replayed.
    """

    def __init__(
        self,
        *,
        provider: str,
        base_url: str,
        headers: Mapping[str, str],
        secrets: Sequence[str] = (),
        timeouts: Timeouts = DEFAULT_TIMEOUTS,
        connection: ConnectionOptions = USUAL_CONNECTION,
        signer: Signer | None = None,
        cassette: Cassette | None = None,
        clock: Clock = SYSTEM_CLOCK,
    ) -> None:
        self.provider = self._provider = provider
        self._base_url = base_url.rstrip("/")
        self._headers = {"user-agent": "claw-acp", "accept-encoding": "identity", **headers}
        self._secrets = (*secrets, *secrets_in(base_url), *secrets_in(connection.proxy))
        self._timeouts = timeouts
        self._connection = connection
        self._signer = signer
        self._tape = Tape(cassette, provider=provider, secrets=self._secrets) if cassette else None
        self._clock = clock
        self._client: httpx.AsyncClient | None = None

    async def stream(
        self, path: str, *, body: JsonObject, model: str = "", documents: bool = False
    ) -> AsyncGenerator[bytes, None]:
        """POST a JSON body; yields the bytes of each read of the reply. Close it with `contextlib.aclosing`.

        Errors name `model`. With `documents` the reply's type may also be JSON.

        Raises:
            ProviderError: The service could not be reached, refused, stopped sending or disconnected.
        """
        response = await self._open("POST", path, content=_encoded(body), model=model)
        try:
            await self._refuse_unstreamed(response, model=model, documents=documents)
            # aiter_raw hands over what was read; aiter_bytes costs a decoder, needed only where we were not obeyed
            compressed = response.headers.get("content-encoding", "identity") != "identity"
            async with closing(response.aiter_bytes() if compressed else response.aiter_raw()) as chunks:
                async for chunk in chunks:
                    yield chunk
        except httpx.HTTPError as error:
            raise self._broken(error, model=model) from error
        finally:
            with anyio.move_on_after(CLOSING_TIMEOUT, shield=True):
                await response.aclose()

    async def get_json(self, path: str) -> JsonValue:
        """GET a JSON document of at most `JSON_BODY_LIMIT` bytes.

        Raises:
            ProviderError: As for `stream`; MalformedReply when it is no JSON.
        """
        return await self._json("GET", path, content=None)

    async def post_json(self, path: str, *, body: JsonObject) -> JsonValue:
        """POST a JSON body; the reply is a JSON document, as for `get_json`.

        Raises:
            ProviderError: As for `get_json`.
        """
        return await self._json("POST", path, content=_encoded(body))

    async def _json(self, method: str, path: str, *, content: bytes | None) -> JsonValue:
        try:
            with anyio.fail_after(LIST_TIMEOUT):
                body = await self._whole(method, path, content=content)
        except TimeoutError as error:
            text = f"{self._provider}: {self._where()} did not answer {bare_address(path)} within {LIST_TIMEOUT:g} s."
            raise ProviderTimeout(f"{text} Try again in a moment.", provider=self._provider) from error
        try:
            return json.loads(body)
        except (ValueError, RecursionError) as error:
            raise MalformedReply(
                f"{self._provider} answered {bare_address(self._base_url + path)} with something that is not JSON. "
                "Check base_url in the configuration.",
                provider=self._provider,
            ) from error

    async def aclose(self) -> None:
        """Close all connections. The service may be used again afterwards."""
        client, self._client = self._client, None
        if client is not None:
            await client.aclose()

    def trouble(self) -> str:
        """A failure of recording, reported once; else empty."""
        return self._tape.trouble() if self._tape else ""

    # ------------------------------------------------------------------ requests

    async def _open(self, method: str, path: str, *, content: bytes | None, model: str = "") -> httpx.Response:
        """Send a request; returns a successful response with an unread body.

        Raises:
            ProviderError: The request failed.
        """
        self._check_headers()
        timeout = httpx.Timeout(self._timeouts.connect, read=self._timeouts.first_byte)
        headers = {"content-type": "application/json"} if content is not None else {}
        try:
            client = self._client or await self._first_client()
            request = client.build_request(
                method, self._base_url + path, content=content, headers=headers, timeout=timeout
            )
            if self._signer is not None:
                sent = {name.lower(): value for name, value in request.headers.items()}
                request.headers.update(
                    await self._signer.sign(method, str(request.url), headers=sent, body=content or b"")
                )
            tape = self._tape
            response = await (tape.send(client, request, path=path) if tape else client.send(request, stream=True))
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            raise self._unanswered(error, model=model) from error
        # httpcore looks this up again when the body is first read: from now on the bound is the one between reads
        request.extensions["timeout"]["read"] = self._timeouts.idle
        if response.is_success:
            return response
        try:
            raise await self._refused(response, model=model)
        finally:
            with anyio.move_on_after(CLOSING_TIMEOUT, shield=True):
                await response.aclose()

    async def _whole(self, method: str, path: str, *, content: bytes | None) -> bytes:
        response = await self._open(method, path, content=content)
        try:
            return await self._read(response, limit=JSON_BODY_LIMIT)
        finally:
            with anyio.move_on_after(CLOSING_TIMEOUT, shield=True):
                await response.aclose()

    async def _first_client(self) -> httpx.AsyncClient:
        """A client created in a thread: imports and certificates take some 100 ms, too long to block other sessions."""
        made = await to_thread.run_sync(self._make_client, abandon_on_cancel=True)
        if self._client is None:  # else another request was faster, and ours was never opened
            self._client = made
        return self._client

    def _make_client(self) -> httpx.AsyncClient:
        limits = httpx.Limits(max_connections=None, max_keepalive_connections=20, keepalive_expiry=KEEP_ALIVE)
        try:
            return httpx.AsyncClient(
                headers=self._headers, limits=limits, verify=self._trust(), proxy=self._connection.proxy or None
            )
        except (ImportError, ValueError) as error:
            raise ServiceMisconfigured(
                f"{self._provider}: the proxy settings of the environment cannot be used ({error}). "
                "Correct or unset HTTP_PROXY, HTTPS_PROXY and ALL_PROXY.",
                provider=self._provider,
            ) from error

    def _trust(self) -> ssl.SSLContext:
        """The certificates to trust; none at all (and no time spent on them) if no TLS is possible.

        Raises:
            ServiceMisconfigured: The file of additional ones cannot be read.
        """
        if self._base_url.startswith("http://") and not getproxies() and not self._connection.proxy:
            return ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        file = self._connection.ca_file
        try:
            return trusted() if file is None else trusted_besides(file)
        except OSError as error:  # an SSLError is one
            reason = error.strerror or str(error)
            raise ServiceMisconfigured(
                f"{self._provider}: the certificates in {file} cannot be used ({reason}). Correct ca_file.",
                provider=self._provider,
            ) from error

    def _check_headers(self) -> None:
        """Refuse headers that cannot be sent, before httpx does: its error would quote the key."""
        for name, value in self._headers.items():
            if not (value.isascii() and value.isprintable()):
                raise ProviderAuthFailed(
                    f"the {name} header for {self._provider} holds a character that cannot be sent "
                    "(a line break, or not ASCII). Check the key configured for this provider.",
                    provider=self._provider,
                )

    async def _read(self, response: httpx.Response, *, limit: int) -> bytes:
        parts: list[bytes] = []
        size = 0
        try:
            async with closing(response.aiter_bytes()) as chunks:
                async for chunk in chunks:
                    parts.append(chunk)
                    size += len(chunk)
                    if size > limit:
                        break
        except httpx.HTTPError as error:
            raise self._broken(error) from error
        return b"".join(parts)[:limit]

    # ------------------------------------------------------------------ failures

    async def _refused(self, response: httpx.Response, *, model: str) -> ProviderError:
        body = b""
        with suppress(ProviderError), anyio.move_on_after(ERROR_BODY_TIMEOUT):
            body = await self._read(response, limit=ERROR_BODY_LIMIT)
        refusal = read_refusal(
            response.status_code, headers=response.headers, body=body, clock=self._clock, secrets=self._secrets
        )
        log.info("model request refused", extra={"provider": self._provider, "status": refusal.status})
        return refusal_error(refusal, provider=self._provider, model=model)

    async def _refuse_unstreamed(self, response: httpx.Response, *, model: str, documents: bool) -> None:
        """Refuse successful replies that are no answer: web pages, errors as plain JSON."""
        kind = response.headers.get("content-type", "")
        if "application/json" in kind and documents:
            return  # whoever reads it finds the error in it, if there is one
        if "application/json" in kind:
            error = _error_in(await self._read(response, limit=ERROR_BODY_LIMIT))
            if error is not None:
                raise refusal_error(
                    refusal_in_reply(error, secrets=self._secrets), provider=self._provider, model=model
                )
        elif "text/html" not in kind:
            return
        what = "a web page" if "text/html" in kind else "one JSON document"
        raise MalformedReply(
            f"{self._provider}: {self._where()} answered with {what} instead of a stream. "
            "Check base_url in the configuration, and that the service can stream.",
            provider=self._provider,
            status=response.status_code,
        )

    def _unanswered(self, error: httpx.HTTPError | httpx.InvalidURL, *, model: str) -> ProviderError:
        """The error for a request without any reply."""
        name, where = self._provider, self._where()
        who = f"{name} ({model})" if model else name
        log.info("model request unanswered", extra={"provider": name, "error": type(error).__name__})
        match error:
            case httpx.ConnectTimeout():
                text = f"{who}: no connection to {where} within {self._timeouts.connect:g} s."
                return ProviderTimeout(f"{text} Check the network and base_url.", provider=name)
            case httpx.TimeoutException():
                text = f"{who}: {where} did not begin to answer within {self._timeouts.first_byte:g} s."
                return ProviderTimeout(f"{text} Try again, or choose a faster model.", provider=name)
            case httpx.UnsupportedProtocol() | httpx.InvalidURL():
                text = f"{who}: {bare_address(self._base_url)!r} is not an http:// or https:// address."
                return ServiceMisconfigured(f"{text} Correct base_url in the configuration.", provider=name)
            case httpx.ConnectError() | httpx.ProxyError():
                text = f"{who}: no connection to {where} ({self._reason(error)})."
                return ProviderUnreachable(
                    f"{text} Check that the service runs, the network, and base_url.", provider=name
                )
            case _:
                text = f"{who}: {where} closed the connection without an answer ({self._reason(error)})."
                return ProviderUnavailable(f"{text} Try again in a moment.", provider=name)

    def _broken(self, error: httpx.HTTPError, *, model: str = "") -> ProviderError:
        """The error for an incomplete reply."""
        name, where = self._provider, self._where()
        who = f"{name} ({model})" if model else name
        log.info("model reply broken", extra={"provider": name, "error": type(error).__name__})
        if isinstance(error, httpx.TimeoutException):
            text = f"{who}: {where} fell silent for {self._timeouts.idle:g} s in the middle of an answer."
            return ProviderTimeout(f"{text} Send the prompt again.", provider=name)
        text = f"{who}: the connection to {where} broke off in the middle of an answer ({self._reason(error)})."
        return StreamInterrupted(f"{text} Send the prompt again.", provider=name)

    def _where(self) -> str:
        """Host and port, for people."""
        try:
            url = httpx.URL(self._base_url)
        except httpx.InvalidURL:
            return bare_address(self._base_url)
        return f"{url.host}:{url.port or (443 if url.scheme == 'https' else 80)}"

    def _reason(self, error: Exception) -> str:
        """The most specific text in a chain of causes: `Connection refused`, not `All connection attempts failed`."""
        words = [text for cause in _causes(error) if (text := _words(cause))]
        return masked(words[-1] if words else type(error).__name__, secrets=self._secrets)


def _encoded(body: JsonObject) -> bytes:
    return json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__


def _words(error: BaseException) -> str:
    """The message of an exception; the system's own if asyncio hides it (`Connect call failed (...)`)."""
    if isinstance(error, ConnectionError) and error.errno:
        return os.strerror(error.errno)
    return str(getattr(error, "strerror", None) or error)


def _error_in(body: bytes) -> JsonValue:
    """The `error` of a JSON body, or None."""
    try:
        value: JsonValue = json.loads(body)
    except (ValueError, RecursionError):
        return None
    return value.get("error") if isinstance(value, Mapping) else None
