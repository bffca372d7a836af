"""The reference plugin with one fault, for the checker to find: `python faulty.py FAULT`."""
# The reference plugin is a script without types.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false

import json
import sys
import time
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

PATH = Path(__file__).parent.parent.parent / "protocol-schemas" / "provider" / "plugins" / "python" / "plugin.py"
_spec = spec_from_file_location("reference", PATH)
assert _spec is not None
assert _spec.loader is not None
_reference = module_from_spec(_spec)
_spec.loader.exec_module(_reference)
Plugin: Any = _reference.Plugin


class VersionAsText(Plugin):
    def answer(self, method: Any, request_id: Any, params: Any) -> Any:
        result = super().answer(method, request_id, params)
        return {**result, "protocolVersion": "1"} if method == "initialize" else result


class UnknownMethodsUnanswered(Plugin):
    def take(self, message: Any) -> Any:
        return message.get("method") != "no/such/method" and super().take(message)


class AnswersNotifications(Plugin):
    def take(self, message: Any) -> Any:
        return super().take({"id": None, **message})


class DiesOfGarbage(Plugin):
    def serve(self) -> None:
        for line in sys.stdin:
            if line.strip():
                self.take(json.loads(line))


class RoundsIds(Plugin):
    def write(self, message: Any) -> None:
        if isinstance(message.get("id"), int) and message["id"]:
            message = {**message, "id": float(message["id"])}
        super().write(message)


class NullContent(Plugin):
    def chat(self, request_id: Any, params: Any) -> Any:
        return {**super().chat(request_id, params), "content": None}


class DeltasDiffer(Plugin):
    def delta(self, request_id: Any, **piece: Any) -> None:
        super().delta(request_id, **({**piece, "text": piece["text"].strip()} if "text" in piece else piece))


class NoDeltas(Plugin):
    def delta(self, request_id: Any, **piece: Any) -> None:
        pass


class CallsDiffer(Plugin):
    def delta(self, request_id: Any, **piece: Any) -> None:
        super().delta(request_id, **({**piece, "name": "x"} if "name" in piece else piece))


class ForgetsThoughts(Plugin):
    def chat(self, request_id: Any, params: Any) -> Any:
        return {key: value for key, value in super().chat(request_id, params).items() if key != "reasoning"}


class LateDelta(Plugin):
    def write(self, message: Any) -> None:
        super().write(message)
        if "content" in message.get("result", ()):
            super().delta(message["id"], type="text", text="!")


class AnswersTwice(Plugin):
    def write(self, message: Any) -> None:
        super().write(message)
        if "content" in message.get("result", ()):
            super().write(message)


class ResultAndError(Plugin):
    def write(self, message: Any) -> None:
        super().write({**message, "error": {"code": 1, "message": "x"}} if "result" in message else message)


class IgnoresCancel(Plugin):
    def take(self, message: Any) -> Any:
        return message.get("method") != "$/cancel_request" and super().take(message)


class BlocksOnWait(Plugin):
    def chat(self, request_id: Any, params: Any) -> Any:
        if super().chat(request_id, params) is None:
            time.sleep(60)


class StaysAfterShutdown(Plugin):
    def take(self, message: Any) -> Any:
        super().take(message)


class StaysAfterTheEnd(Plugin):
    def serve(self) -> None:
        super().serve()
        time.sleep(60)


class FailsAtTheEnd(Plugin):
    def serve(self) -> None:
        super().serve()
        sys.exit("cannot save my settings")


class LogsOnStdout(Plugin):
    def chat(self, request_id: Any, params: Any) -> Any:
        print("asking the model")
        return super().chat(request_id, params)


class LogsAfterTheAnswer(Plugin):
    def serve(self) -> None:
        super().serve()
        print("done")


class AsksTheHost(Plugin):
    def chat(self, request_id: Any, params: Any) -> Any:
        super().write({"id": 1, "method": "host/time"})
        return super().chat(request_id, params)


class LosesLetters(Plugin):
    def say(self, request_id: Any, *pieces: Any) -> Any:
        return super().say(request_id, *(piece.encode("ascii", "replace").decode() for piece in pieces))


class OtherErrors(Plugin):
    def answer(self, method: Any, request_id: Any, params: Any) -> Any:
        try:
            return super().answer(method, request_id, params)
        except _reference.Failure as failure:
            failure.error["code"] = -32000
            raise


class NewerVersion(Plugin):
    def answer(self, method: Any, request_id: Any, params: Any) -> Any:
        result = super().answer(method, request_id, params)
        return {**result, "protocolVersion": params["protocolVersion"]} if method == "initialize" else result


class NoAnswer(Plugin):
    def answer(self, method: Any, request_id: Any, params: Any) -> Any:
        return None if method == "chat" else super().answer(method, request_id, params)


class NeverReads(Plugin):
    def serve(self) -> None:
        time.sleep(60)


if __name__ == "__main__":
    globals()[sys.argv[1]]().serve()
