"""A judge of one connection: every frame of the agent must be allowed by the protocol at that moment."""

import json
from collections.abc import Mapping
from typing import Any, Literal, TypeAlias, cast

from tests.support.judges.official_definitions import OfficialSchema
from tests.support.judges.session_order import Asked, Breach, SessionOrder
from tests.support.judges.state_order import StateOrder

__all__ = ["Breach", "Judge", "OfficialSchema"]

Frame: TypeAlias = Mapping[str, Any]

ENVELOPE = {"jsonrpc", "id", "method", "params", "result", "error"}
UNREADABLE = {-32700, -32600}  # the codes of answers to lines that hold no request, and so no id
SHOWN = 1000  # characters of a frame in a message


class Judge:
    """Follows one connection and raises `Breach`, with the frame, for anything the agent may not send.

    Feed it every frame in the order in which the client sees it. Frames of the client are only recorded, since tests
    send broken ones on purpose.

    Shapes are those of the unstable schema, which includes the stable one; parts that need a capability are refused
    where that was not offered. Token counts in the answer to a prompt need none. In protocol 2, values and kinds that
    only its open ends would allow are refused: those are for later versions to fill.

    Args:
        schema: The protocol's schema.
        late_cancel: See `SessionOrder`.
        prompted_by: See `SessionOrder`.
    """

    def __init__(
        self,
        schema: OfficialSchema,
        *,
        late_cancel: Literal["refused", "allowed"] = "refused",
        prompted_by: Literal["us", "anyone"] = "us",
    ) -> None:
        self._schema = OfficialSchema.load(schema.version, unstable=True, closed=schema.version > 1)
        self._order = (
            SessionOrder(late_cancel=late_cancel, prompted_by=prompted_by)
            if schema.version == 1
            else StateOrder(late_cancel=late_cancel)
        )
        self._asked: dict[tuple[type, object], list[Asked]] = {}
        self._agent_asked: dict[tuple[type, object], str] = {}

    @property
    def unanswered(self) -> list[str]:
        """Methods of the client's requests that have no answer yet."""
        return [str(request.method) for waiting in self._asked.values() for request in waiting]

    def client_sent(self, frame: object) -> None:
        """Record a frame to the agent; anything is allowed."""
        if not isinstance(frame, dict):
            return
        message = cast("dict[str, Any]", frame)
        params: object = message.get("params")
        known = cast("dict[str, Any]", params) if isinstance(params, dict) else {}
        if "method" not in message:
            self._agent_asked.pop(_key(message.get("id")), None)
        elif "id" in message:
            request = Asked(message["method"], known)
            self._order.asked(request)
            self._asked.setdefault(_key(message["id"]), []).append(request)
        elif message["method"] == "session/cancel":
            self._order.cancelled(known)
        elif message["method"] == "$/cancel_request":
            for request in self._asked.get(_key(known.get("requestId")), ()):
                request.withdrawn = True

    def agent_sent(self, frame: object) -> None:
        """Judge a frame from the agent.

        Raises:
            Breach: The frame is not allowed; the text says why and shows it.
        """
        try:
            self._judge(frame)
        except Breach as breach:
            text = json.dumps(frame, ensure_ascii=False, default=repr)
            shown = text if len(text) <= SHOWN else f"{text[:SHOWN]}… ({len(text)} characters)"
            raise Breach(f"{breach}\nframe: {shown}") from None

    def _judge(self, frame: object) -> None:
        if not isinstance(frame, dict):
            raise Breach("a frame must be an object; there are no batches")
        message = cast("dict[str, Any]", frame)
        if message.get("jsonrpc") != "2.0":
            raise Breach('`jsonrpc` must be "2.0"')
        if strange := set(message) - ENVELOPE:
            raise Breach(f"a frame has no key {', '.join(sorted(strange))}")
        kinds = [key for key in ("method", "result", "error") if key in message]
        if len(kinds) != 1:
            raise Breach("a frame holds exactly one of `method`, `result` and `error`")
        if "id" in message and not _is_id(message["id"]):
            raise Breach("`id` must be a string, an integer or null")
        if kinds == ["method"]:
            self._judge_call(message)
        else:
            self._judge_answer(message, kinds[0])

    # -------------------------------------------------------------- requests and notifications

    def _judge_call(self, message: Frame) -> None:
        method = message["method"]
        if not isinstance(method, str):
            raise Breach("`method` must be a string")
        if "id" in message:
            if _key(message["id"]) in self._agent_asked:
                raise Breach("`id` is that of a request which still waits for its answer")
            self._agent_asked[_key(message["id"])] = method
        params = message.get("params", {})
        if method.startswith("_"):
            if not isinstance(params, dict | list):
                raise Breach("`params` must be an object or an array")
            return
        table = self._schema.requests if "id" in message else self._schema.notifications
        definition = table.get(("client", method)) or table.get(("protocol", method))
        if definition is None:
            raise Breach(f"{method} is no {'request' if 'id' in message else 'notification'} an agent may send")
        self._fits(definition, params, what=f"params of {method}")
        self._order.agent_called(method, cast("dict[str, Any]", params))

    # -------------------------------------------------------------- answers

    def _judge_answer(self, message: Frame, kind: str) -> None:
        if "id" not in message:
            raise Breach("an answer needs an `id`")
        waiting = self._asked.get(_key(message["id"]))
        if kind == "error":
            self._fits("Error", message["error"], what="error")
        if not waiting:
            if message["id"] is None and kind == "error" and message["error"]["code"] in UNREADABLE:
                return
            raise Breach("`id` is that of no request which waits for an answer (of exactly this type and value)")
        request = waiting.pop(0)
        if not waiting:
            del self._asked[_key(message["id"])]
        if kind == "error":
            self._order.failed(request, message["error"])
            return
        self._judge_result(request, message["result"])

    def _judge_result(self, request: Asked, result: object) -> None:
        method = request.method
        if isinstance(method, str) and method.startswith("_"):
            return
        definition = self._schema.results.get(("agent", method)) if isinstance(method, str) else None
        if definition is None:
            raise Breach(f"{method} is no request an agent serves, and yet it was answered with a result")
        self._fits(definition, result, what=f"result of {method}")
        fitting = cast("dict[str, Any]", result)
        if method == "initialize" and fitting["protocolVersion"] != self._schema.version:
            raise Breach(f"this connection is judged by protocol {self._schema.version}")
        self._order.answered(request, fitting)

    def _fits(self, definition: str, value: object, *, what: str) -> None:
        if problems := self._schema.problems(definition, value):
            raise Breach(f"{what} ({definition}): {'; '.join(problems)}")


def _is_id(value: object) -> bool:
    return value is None or (isinstance(value, str | int) and not isinstance(value, bool))


def _key(value: object) -> tuple[type, object]:
    """A key that tells ids of different types apart, although 1 == 1.0 == True; an invalid id by its text."""
    return type(value), value if isinstance(value, str | int | float | None) else json.dumps(value, default=repr)
