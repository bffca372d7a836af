"""The client's side of an agent's requests: permission, files, terminals."""

from collections.abc import Callable
from pathlib import Path
from typing import Literal, TypeAlias

from claw_acp.core.json_value import JsonObject, JsonValue
from claw_acp.rpc.message import METHOD_NOT_FOUND
from claw_acp.verify.frames import Frame, as_list, as_object, text_of

REFUSED = -32603  # what a client answers whose disk or terminal fails
PermissionAnswer = Literal["allow", "reject", "cancelled", "unoffered", "unknown", "error", "hold"]
"""`hold` leaves the question open; `unoffered` is an unknown option, `unknown` an invalid outcome."""

Answer: TypeAlias = JsonObject
"""`{"result": ...}` or `{"error": ...}`."""

EVERYTHING: JsonObject = {
    "fs": {"readTextFile": True, "writeTextFile": True},
    "terminal": True,
    "session": {"configOptions": {"boolean": {}}, "notices": {}, "compaction": {}},
}
"""The capabilities of a client with files, terminals and every stable update."""


class ClientStub:
    """Answers an agent's requests.

    Attributes:
        permission: The answer to permission questions.
        works: Whether files and terminals work; otherwise each use fails.
        root: The only directory in which files are read and written.
    """

    def __init__(self, root: Path) -> None:
        self.permission: PermissionAnswer = "allow"
        self.works = True
        self.root = root
        self._terminals = 0

    def reset(self) -> None:
        """Restore the initial behaviour."""
        self.permission, self.works = "allow", True

    def answer(self, call: Frame) -> Answer | None:
        """The answer to a request; None: not yet."""
        if call.method == "session/request_permission":
            return self.choose(call, self.permission)
        serve = self._methods().get(call.method)
        if serve is None:
            return failure(METHOD_NOT_FOUND, f"Method not found: {call.method}")
        if not self.works:
            return failure(REFUSED, f"{call.method} does not work here")
        return serve(call.params)

    def choose(self, question: Frame, how: PermissionAnswer) -> Answer | None:
        """The answer to a permission question."""
        if how == "hold":
            return None
        if how == "error":
            return failure(METHOD_NOT_FOUND, "Method not found: session/request_permission")
        if how == "cancelled":
            return {"result": {"outcome": {"outcome": "cancelled"}}}
        if how == "unknown":
            return {"result": {"outcome": {"outcome": "postponed"}}}
        option = "no-such-option" if how == "unoffered" else _option(question, how)
        return {"result": {"outcome": {"outcome": "selected", "optionId": option}}}

    # ------------------------------------------------------------------ files and terminals

    def _methods(self) -> dict[str, Callable[[JsonObject], Answer]]:
        return {
            "fs/read_text_file": self._read,
            "fs/write_text_file": self._write,
            "terminal/create": self._create,
            "terminal/output": lambda _: _ok({"output": "", "truncated": False, "exitStatus": {"exitCode": 0}}),
            "terminal/wait_for_exit": lambda _: _ok({"exitCode": 0}),
            "terminal/kill": lambda _: _ok({}),
            "terminal/release": lambda _: _ok({}),
        }

    def _read(self, params: JsonObject) -> Answer:
        try:
            return _ok({"content": self._inside(params).read_text(encoding="utf-8")})
        except (OSError, ValueError) as error:
            return failure(REFUSED, f"it cannot be read: {error}")

    def _write(self, params: JsonObject) -> Answer:
        try:
            path = self._inside(params)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text_of(params, "content"), encoding="utf-8")
        except (OSError, ValueError) as error:
            return failure(REFUSED, f"it cannot be written: {error}")
        return _ok({})

    def _inside(self, params: JsonObject) -> Path:
        path = Path(text_of(params, "path"))
        if not path.resolve().is_relative_to(self.root.resolve()):
            raise ValueError(f"{path} is outside the project")
        return path

    def _create(self, _params: JsonObject) -> Answer:
        self._terminals += 1
        return _ok({"terminalId": f"term_{self._terminals}"})


def failure(code: int, message: str) -> Answer:
    """An error as an answer."""
    return {"error": {"code": code, "message": message}}


def _ok(result: JsonValue) -> Answer:
    return {"result": result}


def _option(question: Frame, wish: str) -> str:
    """The id of the first option of the requested kind, once rather than always."""
    options = [as_object(option) for option in as_list(question.params.get("options"))]
    for kind in (f"{wish}_once", f"{wish}_always"):
        for option in options:
            if option.get("kind") == kind:
                return text_of(option, "optionId")
    return text_of(options[0], "optionId") if options else ""
