"""Checks that a value has exactly the shape of the protocol.

The models implement the leniency that the protocol asks of readers (a malformed optional value counts as absent, a bad
array element is left out). A checker must see just these faults, so here nothing is lenient and unknown keys are
reported.
"""

from claw_acp.schema.base import Wire
from claw_acp.schema.invalid import describe_invalid, path_text
from claw_acp.schema.reading import Reading
from claw_acp.schema.validation import reader


def problems(model: type[Wire], value: object, *, what: str) -> str:
    """The faults of a value for this model, in one sentence; empty if there are none."""
    reading = Reading(exact=True)
    reader(model)(value, reading)
    return describe_invalid(reading.faults, what) if reading.faults else ""


def unknown_keys(model: type[Wire], value: object) -> list[str]:
    """Paths of the keys that the protocol does not define, in an otherwise valid value."""
    reading = Reading(exact=True)
    reader(model)(value, reading)
    return [] if reading.faults else [path_text(path) for path in reading.unknown]
