"""Messages for a peer about invalid parameters: the path to the field and the fault, in plain words."""

from typing import TypeVar

from claw_acp.core.errors import InvalidRequest
from claw_acp.schema.base import Wire
from claw_acp.schema.reading import Fault, printable
from claw_acp.schema.validation import ValidationError, validate

W = TypeVar("W", bound=Wire)

SHOWN = 3  # complaints in one sentence; the rest are counted


def parse(model: type[W], params: object, *, method: str) -> W:
    """Make the model of `params`.

    Raises:
        InvalidRequest: The parameters are invalid; the text is that of `describe_invalid`.
    """
    try:
        return validate(model, params)
    except ValidationError as error:
        raise InvalidRequest(describe_invalid(error.faults, method)) from error


def describe_invalid(faults: list[Fault], method: str) -> str:
    """Describe the faults of the parameters of `method`, such as "session/new: `cwd` is missing"."""
    complaints = list(dict.fromkeys(f"{_subject(path_text(fault.path))} {fault.text}" for fault in faults))
    more = f"; and {len(complaints) - SHOWN} more" if len(complaints) > SHOWN else ""
    return f"{method}: {'; '.join(complaints[:SHOWN])}{more}"


def path_text(path: tuple[str | int, ...]) -> str:
    """A path as people write it: `mcpServers[0].name`."""
    text = ""
    for part in path:
        if isinstance(part, int):
            text += f"[{part}]"
        else:
            text += f".{printable(part)}" if text else printable(part)
    return text


def _subject(path: str) -> str:
    return f"`{path}`" if path else "params"
