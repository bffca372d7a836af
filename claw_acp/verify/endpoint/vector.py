"""The definition of a vector: a short conversation with a program that attaches, as language-independent data."""

from collections.abc import Mapping
from typing import Literal, TypeAlias

from claw_acp.core.json_value import JsonObject
from claw_acp.core.value import Value
from claw_acp.verify.rule import Level

CheckedRole: TypeAlias = Literal["tools", "scheduler"]


class Vector(Value):
    """One conversation, with a program that was just started on its standard input and output.

    Attributes:
        id: `role.what-holds`.
        level: How binding it is.
        role: The role that it is about.
        reference: Only the reference program of the specification can pass it.
        text: The rule, in one sentence.
        steps: The steps, in order; see `STEPS`.
    """

    id: str
    level: Level
    role: CheckedRole
    reference: bool
    text: str
    steps: tuple[JsonObject, ...]

    def as_json(self) -> JsonObject:
        """The vector in its published form."""
        return {
            "id": self.id,
            "level": self.level,
            "role": self.role,
            "reference": self.reference,
            "text": self.text,
            "steps": list(self.steps),
        }


STEPS: Mapping[str, str] = {
    "refuse": "From now on refuse: `tools`: every tool; `request`: `tools/register` and `schedule/fire` are errors.",
    "send": "Write this message as one line.",
    "sendText": "Write this text as it is.",
    "answer": "Read until the request with this id is answered. `result` or `error` is the pattern of the answer.",
    "receive": "Read until the program has sent this method, if it has not yet. `params` is the pattern of its "
    "parameters.",
    "closeInput": "Close the program's standard input.",
    "exit": "The program ends by itself within so many seconds, with exit code 0.",
}
"""The meaning of each member of a step. Meanwhile every request of the program is answered, as a hub does."""
