"""The port through which a turn asks a person: for permission, or to fill in a form."""

from collections.abc import Mapping
from typing import Literal, Protocol, TypeAlias

from claw_acp.core.events import Location, ToolContent, ToolKind
from claw_acp.core.json_value import JsonValue
from claw_acp.core.value import Value

ChoiceKind = Literal["allow_once", "allow_always", "reject_once", "reject_always"]


class Choice(Value):
    """One possible answer; `label` is shown to the person, `stores` holds the rules that remember it.

    `by` is the client where a person gave it.
    """

    id: str
    label: str
    kind: ChoiceKind
    stores: tuple[str, ...] = ()
    by: str = ""


class AskedCommand(Value):
    """The command line of a question, and its working directory."""

    line: str
    cwd: str


class PermissionQuestion(Value):
    """The question whether the announced tool call `call_id` may run.

    Nothing in it is masked, cut or invisible: people must see what they agree to. `content` (such as the diff) is what
    the call would do; `reason` is why the person is asked; `stored` is what the lasting answers would remember
    (Markdown; empty: nothing); `command` is set when the call would run one.
    """

    session: str
    call_id: str
    title: str
    reason: str
    content: tuple[ToolContent, ...]
    choices: tuple[Choice, ...]
    stored: str = ""
    kind: ToolKind = "other"
    locations: tuple[Location, ...] = ()
    raw_input: JsonValue = None
    command: AskedCommand | None = None


# ------------------------------------------------------------------ forms


class _Field(Value):
    """A question with a title, named by its key in the answer."""

    key: str
    title: str
    description: str | None = None
    required: bool = True


class TextField(_Field):
    """A line of text; `pattern` is a regular expression it must match. Never used for secrets (ACP)."""

    default: str | None = None
    pattern: str | None = None
    format: Literal["email", "uri", "date", "date-time"] | None = None


class NumberField(_Field):
    """A number, whole if `whole`; both bounds included."""

    whole: bool = False
    minimum: float | None = None
    maximum: float | None = None


class YesNoField(_Field):
    """A switch."""

    default: bool | None = None


class FieldOption(Value):
    """One value a choice can take; `label` is shown to the person."""

    value: str
    label: str
    description: str | None = None


class ChoiceField(_Field):
    """One of several values, or any number of them if `many`."""

    options: tuple[FieldOption, ...]
    many: bool = False
    default: str | None = None


FormField: TypeAlias = TextField | NumberField | YesNoField | ChoiceField
FieldValue: TypeAlias = str | int | float | bool | tuple[str, ...]


class Form(Value):
    """A question with fields to fill in; `call_id` names the tool call that asks."""

    session: str
    message: str
    inputs: tuple[FormField, ...]
    title: str | None = None
    call_id: str | None = None


class FormAnswer(Value):
    """The person's answer to a form. `values` holds, by key, only fields that exist and only values that fit them."""

    action: Literal["accept", "decline", "cancel"]
    values: Mapping[str, FieldValue] = {}


class Asker(Protocol):
    """A person, or a client in the place of one, who answers questions."""

    async def permission(self, question: PermissionQuestion) -> Choice | None:
        """The chosen answer; None for anything that is not a clear choice (dismissed, unknown, no client)."""
        ...

    async def form(self, form: Form) -> FormAnswer | None:
        """The filled-in form; None when no client can show it, or the answer was no answer."""
        ...
