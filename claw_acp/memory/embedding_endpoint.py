"""Vectors from a service: OpenAI's interface, which many services speak, and Ollama's own."""

import json
import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Final, cast
from urllib.parse import urlsplit

import anyio
from anyio import to_thread

from claw_acp.config.memory_section import EmbeddingSection
from claw_acp.config.secret_cache import SecretCache
from claw_acp.contracts.memory import Embedding
from claw_acp.core.clock import Clock
from claw_acp.core.errors import ConfigError, StoreError, ToolError
from claw_acp.core.json_value import JsonObject, JsonValue
from claw_acp.net.address_guard import AddressGuard
from claw_acp.net.page import Page, SendRequest
from claw_acp.registry.reference import Ref
from claw_acp.store.failures import StoreRefused

SEND: Final = Ref[SendRequest]("claw_acp.net.fetch:send")

REST: Final = 60.0
"""Seconds for which a service that failed is not asked again: words are found without it."""

MOST_NUMBERS: Final = 16_384
"""Numbers of a vector."""

SHORT_REST: Final = 10.0
"""The same for one that was too slow: it may have been loading its model."""

_OLLAMA: Final = "/api/embed"
_OPENAI: Final = "/embeddings"
_OK: Final = 200
_REFUSED: Final = frozenset({400, 413, 422})  # mostly because of a text that is too long for the model


class EmbeddingEndpoint:
    """A service at an address. See `Embedding`.

    Args:
        section: Its address, model and key.
        secrets: Reads a key that takes time to get.
        environ: Where a key may be.
        clock: Time.
    """

    def __init__(
        self, section: EmbeddingSection, *, secrets: SecretCache, environ: Mapping[str, str], clock: Clock
    ) -> None:
        self.name = section.model or ""
        self._address = _address(section.url or "")
        self._key = section.key
        self._secrets = secrets
        self._environ = environ
        self._clock = clock
        self._rests_until = -math.inf

    async def embed(self, texts: Sequence[str], *, within: float) -> Sequence[Sequence[float]]:
        """See `Embedding`."""
        if self._clock.monotonic() < self._rests_until:
            raise StoreError(f"{self._address} failed a moment ago and is not asked for now")
        rest = REST
        try:
            send = await to_thread.run_sync(SEND.load)  # apart: the first time it takes longer than a query waits
            with anyio.fail_after(within):
                page = await self._asked(send, texts)
            return _vectors(page, count=len(texts))
        except StoreRefused:
            raise
        except (ToolError, ConfigError) as error:
            problem = error.message.rstrip(".")
        except TimeoutError:
            problem, rest = f"no answer within {within:g} s", SHORT_REST
        except ValueError as error:
            problem = str(error)
        self._rests_until = self._clock.monotonic() + rest
        raise StoreError(f"no vectors for memories from {self._address}: {problem}")

    async def _asked(self, send: SendRequest, texts: Sequence[str]) -> Page:
        key = await to_thread.run_sync(self._read_key, abandon_on_cancel=True)
        body: JsonObject = {"model": self.name, "input": [*texts]}
        return await send(
            self._address,
            guard=AddressGuard(allow_hosts=(urlsplit(self._address).hostname or "",)),
            method="POST",
            headers={"Content-Type": "application/json", **({"Authorization": f"Bearer {key}"} if key else {})},
            body=json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode(errors="replace"),
        )

    def _read_key(self) -> str:
        if self._key is None:
            return ""
        slow = self._key.slow
        found = self._secrets.fetch(self._key, self._environ) if slow else self._key.resolve(self._environ)
        return found.reveal()


def _address(url: str) -> str:
    """The address to ask: that of a service is taken for one that speaks OpenAI's interface."""
    whole = url.rstrip("/")
    if whole.endswith((_OLLAMA, _OPENAI)):
        return whole
    return f"{whole}{_OPENAI}" if urlsplit(whole).path else f"{whole}/v1{_OPENAI}"


def _vectors(page: Page, *, count: int) -> Sequence[Sequence[float]]:
    """The vectors in an answer.

    Raises:
        StoreRefused: The service takes no such text.
        ValueError: There are none, or not one for each text.
    """
    if page.status in _REFUSED:
        raise StoreRefused(f"no vectors for memories: the service refuses a text, with status {page.status}")
    if page.status != _OK:
        raise ValueError(f"it answered with status {page.status}; check the address, the model and the key")
    found: JsonValue = None if page.truncated else json.loads(page.body)
    vectors = [_numbers(each) for each in _rows(found)]
    if len(vectors) != count or len({len(each) for each in vectors}) != 1:
        raise ValueError("its answer has not one vector for each text")
    return vectors


def _rows(answer: JsonValue) -> Sequence[JsonValue]:
    if isinstance(answer, dict):
        if isinstance(rows := answer.get("embeddings"), list):
            return rows
        if isinstance(rows := answer.get("data"), list):
            whole = [row for row in rows if isinstance(row, dict)]
            return [row.get("embedding") for row in sorted(whole, key=_index)]
    raise ValueError("its answer has no vectors")


def _index(row: Mapping[str, JsonValue]) -> int:
    index = row.get("index")
    return index if isinstance(index, int) else 0


def _numbers(row: JsonValue) -> Sequence[float]:
    if not isinstance(row, list) or not 0 < len(row) <= MOST_NUMBERS:
        raise ValueError("its answer has something else than vectors")
    numbers = cast("list[object]", row)
    if not all(type(number) in {int, float} and math.isfinite(cast("float", number)) for number in numbers):
        raise ValueError("its vectors have something else than numbers")
    return cast("list[float]", numbers)


if TYPE_CHECKING:
    _conforms: type[Embedding] = EmbeddingEndpoint
