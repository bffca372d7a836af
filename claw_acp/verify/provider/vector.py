"""The definition of a vector: a short conversation with a provider program, as language-independent data."""

from collections.abc import Mapping
from typing import Literal, get_args

from claw_acp.core.json_value import JsonObject
from claw_acp.core.value import Value
from claw_acp.verify.rule import Level

Mode = Literal["oneshot", "session"]
MODES: tuple[Mode, ...] = get_args(Mode)
Model = Literal["any", "reference"]


class Vector(Value):
    """One conversation, with a program that was just started.

    Attributes:
        id: `mode.what-holds`.
        level: How binding it is.
        mode: Its mode of the protocol.
        model: `reference`: only a program with the specification's reference model can pass it.
        text: The rule, in one sentence.
        steps: The steps, in order; see `STEPS`.
    """

    id: str
    level: Level
    mode: Mode
    model: Model
    text: str
    steps: tuple[JsonObject, ...]

    def as_json(self) -> JsonObject:
        """The vector in its published form."""
        return {
            "id": self.id,
            "level": self.level,
            "mode": self.mode,
            "model": self.model,
            "text": self.text,
            "steps": list(self.steps),
        }


STEPS: Mapping[str, str] = {
    "send": "Write this message as one line. With `pad`, as many letters `x` are put at the end of the last message.",
    "sendText": "Write this text as it is.",
    "answer": "Read until the request with this id is answered. `result` or `error` is the pattern of the answer.",
    "deltas": "Beside `answer`: the pattern of all its `chat/delta` joined (`text`, `thought`, `calls`); null: there "
    "are none.",
    "closeInput": "Close the program's standard input.",
    "line": "Read to the end of the output; the last non-empty line has this pattern.",
    "exit": "The program ends by itself within so many seconds, with exit code 0.",
}
"""The meaning of each member of a step."""
