"""The control interface over HTTP: `POST /rpc`, `POST /pair`, `GET /metrics` and `GET /healthz`."""

from collections.abc import Awaitable, Callable, Mapping
from typing import Final

from anyio import CapacityLimiter, to_thread

from claw_acp.core.errors import ClawError, ConfigError
from claw_acp.gateway.access.client import Client
from claw_acp.gateway.access.pairing import PairingLocked, WrongCode
from claw_acp.gateway.app import Route
from claw_acp.gateway.control.server import ControlledServer
from claw_acp.gateway.http.exchange import Exchange
from claw_acp.gateway.http.http_error import HttpError
from claw_acp.gateway.http.json_body import JSON, JsonBodies, answer_json
from claw_acp.gateway.http.limits import Limits
from claw_acp.gateway.http.receive_budget import BUSY, one_of
from claw_acp.registry.reference import Ref

ANSWER_TEXT: "Ref[Callable[..., Awaitable[str]]]" = Ref("claw_acp.gateway.control.api:answer_text")

FIGURES_TEXT: "Ref[Callable[..., tuple[bytes, str]]]" = Ref("claw_acp.telemetry.prometheus:figures_text")

_LONGEST: Final = 1024 * 1024  # bytes of a request or a batch
_LONGEST_PAIRING: Final = 4096
_AT_ONCE: Final = 32  # texts with requests; one more is refused


class ControlRoutes:
    """Answers them for one server.

    Args:
        server: The server.
        limits: Bounds.
    """

    def __init__(self, server: ControlledServer, *, limits: Limits) -> None:
        self._server = server
        self._requests = JsonBodies(limits, longest=_LONGEST)
        self._room = CapacityLimiter(_AT_ONCE)
        self._codes = JsonBodies(limits, longest=_LONGEST_PAIRING)

    def routes(self) -> Mapping[str, Route]:
        """The routes by path."""
        return {
            "/rpc": Route(scope="read", methods={"POST": self._rpc}),
            "/pair": Route(scope=None, methods={"POST": self._pair}),
            "/metrics": Route(scope="read", methods={"GET": self._metrics}),
            "/healthz": Route(scope=None, methods={"GET": _alive, "HEAD": _alive}),
        }

    async def _rpc(self, exchange: Exchange, client: Client) -> None:
        text = await self._requests.text(exchange)
        answer_text = await to_thread.run_sync(ANSWER_TEXT.load)
        with one_of(self._room, "requests are being answered; try again in a moment"):
            answer = await answer_text(text, self._server, client=client)
        kind = {"content-type": JSON} if answer else {}
        await exchange.answer(200 if answer else 204, answer.encode(), {**kind, "cache-control": "no-store"})

    async def _metrics(self, exchange: Exchange, _client: Client) -> None:
        if (metrics := self._server.metrics) is None:
            raise HttpError(503, "the figures are not there yet; try again in a moment", headers=BUSY)
        figures_text = await to_thread.run_sync(FIGURES_TEXT.load)
        body, kind = figures_text(metrics, exchange.head.headers.get("accept", ""))
        await exchange.answer(200, body, {"content-type": kind, "cache-control": "no-store"})

    async def _pair(self, exchange: Exchange, _client: Client) -> None:
        if (pairing := self._server.pairing) is None:
            raise HttpError(404, "this server needs no token")
        content = await self._codes.content(exchange)
        code, name = content.get("code"), content.get("name")
        if not isinstance(code, str) or not isinstance(name, str):
            raise HttpError(400, "`code` and `name` must be texts")
        try:
            token, scopes = pairing.finish(code, name.strip(), address=exchange.head.address)
        except WrongCode as error:
            raise HttpError(403, error.message) from error
        except PairingLocked as error:
            raise HttpError(429, error.message) from error
        except ConfigError as error:
            raise HttpError(503, "the token cannot be stored; the log says why") from error
        except ClawError as error:
            raise HttpError(400, error.message) from error
        await answer_json(exchange, {"token": token.reveal(), "name": name.strip(), "scopes": sorted(scopes)})


async def _alive(exchange: Exchange, _client: Client) -> None:
    await exchange.answer(200, b"ok\n", {"content-type": "text/plain; charset=utf-8", "cache-control": "no-store"})
