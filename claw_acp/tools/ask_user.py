"""Questions to the person: in a form while the turn waits, or in text that ends the turn if no form can be shown."""

import re
from collections.abc import Mapping, Sequence
from typing import Final, Literal, TypeAlias, assert_never

from claw_acp.contracts.questions import (
    ChoiceField,
    FieldOption,
    FieldValue,
    Form,
    FormAnswer,
    FormField,
    TextField,
    YesNoField,
)
from claw_acp.contracts.tool import CallDraft, CallView, FormPort, Invocation, ToolContext, ToolResult
from claw_acp.core.errors import ToolError
from claw_acp.core.events import PartContent
from claw_acp.core.json_value import JsonValue
from claw_acp.core.messages import TextPart
from claw_acp.tools.display import amount, shortened
from claw_acp.tools.parameters import Parameters, TypedTool, argument

Kind: TypeAlias = Literal["text", "choice", "choices", "yes_no"]

REMARK: Final = "remark"  # the key of the field for what no choice says
ASKED: Final = "The user was asked in text; the next message answers."
DECLINED: Final = (
    "The user declined to answer. Do not ask this again; go on without it as carefully as possible, "
    "or end your turn and say what you need it for."
)
DISMISSED: Final = (
    "The user closed the questions without answering. Do not show them again; ask in plain text what they want, "
    "and end your turn."
)
NO_SECRETS: Final = (
    "Never ask for passwords, keys or other secrets: the answers are kept and sent to the model. Tell the user which "
    "environment variable or file to put it in instead. If this asks for no secret, put it in other words."
)

_CONFIDENTIAL: Final = (
    r"(?:passwords?|passphrases?|pass ?codes?|api[ _-]?keys?|private keys?|secrets?|pin|"
    r"(?:access|auth\w*|bearer) tokens?)"
)
_ASKS_FOR_SECRET: Final = re.compile(
    r"\b(?:enter|give|provide|paste|type|tell|share|send|what is|what's|your)\b[^.?!]{0,60}\b" + _CONFIDENTIAL + r"\b",
    re.IGNORECASE,
)


class Option(Parameters):
    """One choice."""

    label: str = argument(
        min_length=1, max_length=200, description="The choice in a few words; unique in its question."
    )
    description: str | None = argument(default=None, max_length=1_000, description="What it means or brings with it.")


class Question(Parameters):
    """One question."""

    question: str = argument(min_length=1, max_length=1_000, description="The whole question.")
    kind: Kind = argument(
        default="text",
        description="How it is answered: text; choice (one of `options`); choices (any number of them); yes_no.",
    )
    options: list[Option] = argument(
        default_factory=list[Option], max_length=20, description="For choice and choices: 2 to 20, the best one first."
    )
    optional: bool = argument(default=False, description="Whether it may be left open.")

    def conflict(self) -> str:
        """The fault of options that do not fit the kind of question."""
        labels = [option.label for option in self.options]
        if self.kind in {"choice", "choices"}:
            if len(labels) < 2:
                return f'kind "{self.kind}" needs at least two `options`'
            return "" if len(set(labels)) == len(labels) else "the labels of `options` must differ"
        return f'kind "{self.kind}" has no `options`; use "choice" or "choices"' if labels else ""


class AskUserParameters(Parameters):
    """A form."""

    questions: list[Question] = argument(min_length=1, max_length=4, description="What to ask, all in one form.")
    reason: str | None = argument(
        default=None, max_length=1_000, description="Why you ask, in a sentence; shown above the questions."
    )


class AskUser(TypedTool[AskUserParameters]):
    """Lets the model ask instead of guessing, without ending its turn."""

    name = "ask_user"
    draft = CallDraft(kind="other", verb="Ask")
    description = (
        "Ask the user up to four questions in one form and wait for the answers. Use it when you cannot go on well "
        "without a decision or a fact that only the user has and that you cannot find out yourself; offer choices "
        "where you can. Do not use it to ask whether you may go on or whether a plan is fine, and never for secrets."
    )
    parameters = AskUserParameters

    def bind(self, parameters: AskUserParameters, context: ToolContext) -> Invocation:
        """One form."""
        return _Asking(parameters, context=context)


class _Asking(Invocation):
    def __init__(self, parameters: AskUserParameters, *, context: ToolContext) -> None:
        self._questions = parameters.questions
        self._reason = parameters.reason
        self._context = context
        self.view = CallView(title=f"Ask: {shortened(self._questions[0].question)}{self._more()}", kind="other")

    async def run(self) -> ToolResult:
        if any(question.kind == "text" and _ASKS_FOR_SECRET.search(question.question) for question in self._questions):
            raise ToolError(NO_SECRETS)
        forms = self._context.port(FormPort)
        answer = None if forms is None else await forms.ask(self._form())
        if answer is None:
            asked = (PartContent(part=TextPart(text="Asked in text; the next prompt answers.")),)
            return ToolResult(parts=(TextPart(text=ASKED),), content=asked, raw={"action": None}, asks=self._as_text())
        match answer.action:
            case "accept":
                return self._answered(answer)
            case "decline":
                return _told(DECLINED, action="decline", shown="Declined.")
            case "cancel":
                return _told(DISMISSED, action="cancel", shown="Closed without an answer.")
            case _:
                assert_never(answer.action)

    def _form(self) -> Form:
        inputs = [_field(key, question) for key, question in self._keyed()]
        if any(question.options for question in self._questions):
            inputs.append(TextField(key=REMARK, title="Something else, or a remark", required=False))
        return Form(session=self._context.session, message=self._reason or self._heading(), inputs=tuple(inputs))

    def _as_text(self) -> str:
        """The questions for an editor that shows no forms, as Markdown."""
        several = len(self._questions) > 1
        lines = [f"{self._reason}\n"] if self._reason else []
        for number, question in enumerate(self._questions, start=1):
            lines.append(f"**{f'{number}. ' if several else ''}{question.question}**\n")
            choices = [(option.label, option.description) for option in question.options]
            lines += [f"- {label}: {about}" if about else f"- {label}" for label, about in choices]
            lines += ["(more than one will do)"] if question.kind == "choices" else []
            lines += [""] if choices else []
        return "\n".join(lines).strip()

    def _answered(self, answer: FormAnswer) -> ToolResult:
        """The answers as text, each under its question."""
        given = {key: question for key, question in self._keyed() if key in answer.values}
        lines = [
            f"- {question.question} → {_in_words(answer.values[key]) if key in given else '(left open)'}"
            for key, question in self._keyed()
        ]
        remark = answer.values.get(REMARK)
        if remark is not None:
            lines.append(f"- The user adds: {_in_words(remark)}")
        answers = [
            {"question": question.question, "answer": _as_json(answer.values[key])} for key, question in given.items()
        ]
        raw: dict[str, JsonValue] = {"action": "accept", "answers": answers}
        if remark is not None:
            raw["remark"] = _as_json(remark)
        return ToolResult(parts=(TextPart(text="\n".join(["The user answered:", *lines])),), raw=raw)

    def _keyed(self) -> Sequence[tuple[str, Question]]:
        return [(f"answer_{number}", question) for number, question in enumerate(self._questions, start=1)]

    def _heading(self) -> str:
        return f"The agent has {amount(len(self._questions), 'question')} for you."

    def _more(self) -> str:
        others = len(self._questions) - 1
        return f" (and {others} more)" if others else ""


def _field(key: str, question: Question) -> FormField:
    """A question as a field; choices may stay empty, since the answer may be something else."""
    title, required = question.question, not question.optional
    match question.kind:
        case "text":
            return TextField(key=key, title=title, required=required)
        case "yes_no":
            return YesNoField(key=key, title=title, required=required)
        case "choice" | "choices":
            options = tuple(
                FieldOption(value=option.label, label=option.label, description=option.description)
                for option in question.options
            )
            return ChoiceField(key=key, title=title, options=options, required=False, many=question.kind == "choices")
        case _:
            assert_never(question.kind)


def _in_words(value: FieldValue) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return ", ".join(value) if isinstance(value, tuple) else str(value)


def _as_json(value: FieldValue) -> JsonValue:
    return list(value) if isinstance(value, tuple) else value


def _told(text: str, *, action: str | None, shown: str) -> ToolResult:
    raw: Mapping[str, JsonValue] = {"action": action}
    content = (PartContent(part=TextPart(text=shown)),)  # the text itself is for the model
    return ToolResult(parts=(TextPart(text=text),), content=content, raw=raw)
