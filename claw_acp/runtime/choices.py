"""What a person can choose in a session: its mode and its model."""

from collections.abc import Sequence

from claw_acp.contracts.command import Option
from claw_acp.core.errors import InvalidRequest
from claw_acp.providers.resolve import available_models
from claw_acp.runtime.engine import OpenSession

MODES: Sequence[Option] = (
    Option(value="plan", name="Plan", description="Reads and plans; changes nothing"),
    Option(value="ask", name="Ask", description="Asks before it changes files or runs commands"),
    Option(value="edit", name="Edit", description="Changes files in the project by itself; asks before commands"),
    Option(value="auto", name="Auto", description="Works by itself; still asks before anything dangerous"),
)


def models(opened: OpenSession) -> Sequence[Option]:
    """The models on offer; the one in use is always among them."""
    current = opened.session.record.model
    options = [
        Option(value=name, name=label, description=text) for name, label, text in available_models(opened.settings)
    ]
    if all(option.value != current for option in options):
        options.insert(0, Option(value=current, name=current))
    return options


async def choose_mode(opened: OpenSession, mode: str) -> None:
    """Switch the mode, from the next tool call on.

    Raises:
        InvalidRequest: There is no such mode.
    """
    _check(mode, MODES, what="mode")
    await opened.session.change(mode=mode)


async def choose_model(opened: OpenSession, model: str) -> None:
    """Switch the model, from the next prompt on.

    Raises:
        InvalidRequest: The model is not on offer.
    """
    _check(model, models(opened), what="model")
    await opened.session.change(model=model)


def _check(value: str, options: Sequence[Option], *, what: str) -> None:
    if all(option.value != value for option in options):
        known = ", ".join(option.value for option in options)
        raise InvalidRequest(f"there is no {what} {value!r}; choose one of {known}")
