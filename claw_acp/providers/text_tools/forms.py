"""The table of forms in which models write tool calls: how each begins, what stands in it, how it ends.

An opener begins a call only if the beginning of a body stands behind it. A form without openers of its own is found by
its body. Vendors' special characters are written as escapes.
"""

import re
from collections.abc import Callable
from functools import partial
from typing import Final, Literal, TypeAlias

from claw_acp.core.value import Value
from claw_acp.providers.text_tools.found_call import Section
from claw_acp.providers.text_tools.json_calls import HeadedForm, read_headed, read_objects
from claw_acp.providers.text_tools.literal_calls import read_code, read_gemma, read_lines, read_perl, read_python
from claw_acp.providers.text_tools.offered_tools import OfferedTools
from claw_acp.providers.text_tools.tagged_calls import GAP, N, TaggedForm, read_tagged

LONGEST_HEAD: Final = 256  # characters behind an opener in which its body must begin

Place: TypeAlias = Literal["line", "start", "whole"]
"""Where a form may stand: where a line begins, at the beginning of the answer, or as all of it."""
Read: TypeAlias = "Callable[[str, int, Form, OfferedTools], Section]"


class Body(Value):
    """Something that may stand behind an opener; `head` matches its beginning. Its group `known` is a tool on offer."""

    head: "re.Pattern[str]"
    read: Read


class Form(Value):
    """One form. Its text is read from behind the opener; `keeps` means from the opener on.

    `cautious` means that only what fits a tool is a call: the same marks stand around other things, too.
    """

    openers: tuple[str, ...]
    bodies: tuple[Body, ...]
    closers: tuple[str, ...] = ()
    place: Place = "line"
    keeps: bool = False
    cautious: bool = False


def _objects(text: str, at: int, form: Form, _: OfferedTools) -> Section:
    return read_objects(text, at, openers=form.openers, closers=form.closers)


def _tagged(text: str, at: int, form: Form, offered: OfferedTools, *, tags: TaggedForm) -> Section:
    return read_tagged(text, at, form=tags, closers=form.closers, known=offered.takes)


def _headed(text: str, at: int, form: Form, _: OfferedTools, *, headed: HeadedForm) -> Section:
    return read_headed(text, at, form=headed, closers=form.closers)


def _plain(text: str, at: int, form: Form, _: OfferedTools, *, read: Callable[..., Section]) -> Section:
    return read(text, at, closers=form.closers)


def _tags_body(tags: TaggedForm, *, head: str = "") -> Body:
    return Body(head=re.compile(GAP + (head or tags.head)), read=partial(_tagged, tags=tags))


def _head_body(head: str, tail: str = "", *, known: bool = False) -> Body:
    headed = HeadedForm(head=re.compile(head), tail=re.compile(rf"\s*{tail}" if tail else r"(?!)"))
    begins = head.replace("?P<name>", "?P<known>") if known else head
    return Body(head=re.compile(rf"\s*(?:{begins})"), read=partial(_headed, headed=headed))


def _plain_body(head: str, read: Callable[..., Section]) -> Body:
    return Body(head=re.compile(head), read=partial(_plain, read=read))


_NS: Final = "antml" + ":"  # of Anthropic's models
_A: Final = f"(?:{_NS})?"
_D: Final = "\uff5cDSML\uff5c ?"
_M: Final = r"\]<\]minimax\[>\["
_FUNCTION: Final = TaggedForm(
    head=rf"<function(?:=|\s+name=[\"']?)(?P<name>{N})[\"']?\s*>",
    param=rf"<parameter(?:=|\s+name=[\"']?)(?P<key>{N})[\"']?\s*>",
    tail="</parameter>",
    end="</function>",
)
_INVOKE: Final = TaggedForm(
    head=rf"<{_A}invoke name=[\"'](?P<name>{N})[\"']\s*>",
    param=rf"<{_A}parameter name=[\"'](?P<key>{N})[\"']\s*>",
    tail=f"</{_A}parameter>",
    end=f"</{_A}invoke>",
)
_DSML: Final = TaggedForm(
    head=rf"<{_D}invoke name=\"(?P<name>{N})\"\s*>",
    param=rf"<{_D}parameter name=\"(?P<key>{N})\"(?: string=\"(?P<kind>true|false)\")?\s*>",
    tail=f"</{_D}parameter>",
    end=f"</{_D}invoke>",
)
_NAMED_TAGS: Final = TaggedForm(
    head=rf"{_M}<invoke name=[\"'](?P<name>{N})[\"']\s*>",
    param=rf"{_M}<(?P<key>[A-Za-z_][\w.-]{{0,127}})>",
    tail=f"{_M}</%s>",
    end=f"{_M}</invoke>",
    lacking=False,
)
_TOOL_TAGS: Final = TaggedForm(
    head=r"<(?P<name>[A-Za-z_][\w.-]{0,127})>",
    param=r"<(?P<key>[A-Za-z_][\w.-]{0,127})>",
    tail="</%s>",
    end="</%s>",
    nested="(?!)",
    lacking=False,
)
_PAIRS: Final = TaggedForm(
    head=rf"(?P<name>{N}){GAP}(?=<arg_key>|</tool_call>)",
    param=rf"<arg_key>\s*(?P<key>{N})\s*</arg_key>{GAP}<arg_value>",
    tail="</arg_value>",
    end="</tool_call>",
    nested=rf"<tool_call>{GAP}{N}{GAP}(?=<arg_key>)",
    lacking=False,
    one_call=True,
)
_OPEN_CLOSE: Final = TaggedForm(
    head=rf"<\|open\|>call tool=\"(?P<name>{N})\"[^<>\n]{{0,64}}<\|sep\|>",
    param=rf"<\|open\|>argument key=\"(?P<key>{N})\"(?: type=\"(?P<kind>\w+)\")?[^<>\n]{{0,64}}<\|sep\|>",
    tail=r"<\|close\|>argument<\|sep\|>",
    end=r"<\|close\|>call<\|sep\|>",
    lacking=False,
)

_OBJECTS = Body(head=re.compile(r"\s*(?:\{|\[\s*\{)"), read=_objects)
_OBJECT = Body(head=re.compile(r"\s*\{"), read=_objects)
_PYTHON = _plain_body(rf"\s*\[\s*{N}\(", read_python)
_ONE_KEY: Final = (
    r"\{\s*\"(?:(?:name|tool_name|tool)\"\s*:\s*\"(?P<known>[^\"\\]{1,128})\""
    r"|(?:type|id|function|tool_calls|arguments|parameters)\"\s*:)"
)
_TAGS: Final = ("tool_call", "tool_calls", "toolcall", "tool-call", "seed:tool_call", "function_call")
_CLOSING_TAGS: Final = tuple(f"</{tag}>" for tag in (*_TAGS, "minimax:tool_call", "minimax:toolcall"))
_INVOKING: Final = ("function_calls", f"{_NS}function_calls", "minimax:tool_call", "minimax:toolcall")
_SECTION_D: Final = ("function_calls", "tool_calls", " calls", "calls", " function_calls", " tool_calls")

FORMS: Final[tuple[Form, ...]] = (
    Form(
        openers=tuple(f"<{tag}>" for tag in _TAGS),
        bodies=(
            _OBJECTS,
            _tags_body(_FUNCTION),
            _tags_body(_INVOKE),
            _tags_body(_PAIRS, head=rf"(?P<known>{N}){GAP}</tool_call>"),
            _tags_body(_PAIRS, head=rf"{N}{GAP}<arg_key>"),
            _head_body(r"(?P<name>[\w.-]{1,128})\s*/?\s*(?=\{)", known=True),
            _plain_body(r"\s*(?P<known>[\w.-]{1,128})/[\w.-]{1,128}>", read_lines),
            _plain_body(r"\s*(?P<known>[\w.-]{1,128})\(", read_python),
            _PYTHON,
            _tags_body(_TOOL_TAGS, head=r"<(?P<known>[A-Za-z_][\w.-]{0,127})>"),
        ),
        closers=_CLOSING_TAGS,
    ),
    Form(openers=("<tools>",), bodies=(_OBJECTS,), closers=("</tools>",), cautious=True),
    Form(
        openers=tuple(f"<{tag}>" for tag in _INVOKING),
        bodies=(_tags_body(_INVOKE), _OBJECTS),
        closers=tuple(f"</{tag}>" for tag in (*_INVOKING, "tool_call")),
    ),
    Form(
        openers=tuple(f"<\uff5cDSML\uff5c{tag}>" for tag in _SECTION_D),
        bodies=(_tags_body(_DSML),),
        closers=tuple(f"</\uff5cDSML\uff5c{tag}>" for tag in _SECTION_D),
    ),
    Form(
        openers=("]<]minimax[>[<tool_call>", "]<]minimax[>[<tool_calls>"),
        bodies=(_tags_body(_NAMED_TAGS),),
        closers=("]<]minimax[>[</tool_call>", "]<]minimax[>[</tool_calls>"),
    ),
    Form(openers=("<function=", "<function name="), bodies=(_tags_body(_FUNCTION),), keeps=True),
    Form(openers=("<invoke name=", f"<{_NS}invoke name="), bodies=(_tags_body(_INVOKE),), keeps=True),
    Form(
        openers=("<|open|>tools<|sep|>",),
        bodies=(_tags_body(_OPEN_CLOSE),),
        closers=("<|close|>tools<|sep|>",),
    ),
    Form(
        openers=("<|tool_calls_section_begin|>", "<|tool_call_begin|>"),
        bodies=(
            _head_body(
                rf"(?:<\|tool_call_begin\|>)?\s*(?P<name>{N})\s*<\|tool_call_argument_begin\|>",
                r"<\|tool_call_end\|>",
            ),
        ),
        closers=("<|tool_calls_section_end|>",),
    ),
    Form(
        openers=("<\uff5ctool\u2581calls\u2581begin\uff5c>", "<\uff5ctool\u2581call\u2581begin\uff5c>"),
        bodies=(
            _head_body(
                "(?:<\uff5ctool\u2581call\u2581begin\uff5c>)?\\s*function<\uff5ctool\u2581sep\uff5c>"
                rf"(?P<name>{N})\s*```(?:json)?",
                "(?:```)?\\s*<\uff5ctool\u2581call\u2581end\uff5c>",
            ),
            _head_body(
                rf"(?:<\uff5ctool\u2581call\u2581begin\uff5c>)?\s*(?P<name>{N}?)\s*<\uff5ctool\u2581sep\uff5c>",
                "<\uff5ctool\u2581call\u2581end\uff5c>",
            ),
        ),
        closers=("<\uff5ctool\u2581calls\u2581end\uff5c>",),
    ),
    Form(
        openers=("[TOOL_CALLS]",),
        bodies=(
            _head_body(r"(?:\[TOOL_CALLS\])?(?P<name>[^\s\[\]<>\"']{1,128})(?:\[CALL_ID\]\w{1,64})?\[ARGS\]"),
            _OBJECTS,
        ),
    ),
    Form(openers=("<|python_tag|>",), bodies=(_OBJECTS, _PYTHON)),
    Form(openers=("functools",), bodies=(_OBJECTS,), place="start"),
    Form(openers=("<|tool_call|>",), bodies=(_OBJECTS,), closers=("</|tool_call|>", "<|/tool_call|>"), place="start"),
    Form(
        openers=("<|tool_call>",),
        bodies=(_plain_body(r"\s*call:[\w.:-]{1,128}\s*\{", read_gemma),),
        closers=("<tool_call|>",),
    ),
    Form(openers=("<|tool_call_start|>",), bodies=(_OBJECTS, _PYTHON), closers=("<|tool_call_end|>",)),
    Form(
        openers=("<|action_start|><|plugin|>", "<|action_start|> <|plugin|>"),
        bodies=(_OBJECTS,),
        closers=("<|action_end|>",),
    ),
    Form(openers=("<|START_ACTION|>",), bodies=(_OBJECTS,), closers=("<|END_ACTION|>",)),
    Form(
        openers=("<|start|>assistant<|channel|>", "<|channel|>"),
        bodies=(
            _head_body(
                r"(?:<\|start\|>assistant)?(?:<\|channel\|>)?(?:commentary|analysis)\s+to="
                rf"(?P<name>{N})(?:\s|<\|constrain\|>|json)*<\|message\|>",
                r"<\|call\|>",
            ),
        ),
    ),
    Form(openers=("\u25c1",), bodies=(_OBJECT,), closers=("\u25b7",)),
    *(
        Form(openers=(f"```{tag}",), bodies=(_OBJECTS,), closers=("```",))
        for tag in ("tool_call", "tool_calls", "toolcall", "tool-call", "invoke")
    ),
    Form(
        openers=("```tool ",),
        bodies=(_head_body(rf"(?P<name>{N})[ \t]*\n(?=\s*\{{)"),),
        closers=("```",),
    ),
    Form(
        openers=("[TOOL_CALL]",),
        bodies=(_plain_body(r"\s*\{\s*tool\s*=>", read_perl), _OBJECTS),
        closers=("[/TOOL_CALL]",),
    ),
    Form(
        openers=("<FunctionCall>", "<functioncall>"),
        bodies=(_plain_body(rf"\s*{N}\s*<code>", read_code), _OBJECTS),
        closers=("</FunctionCall>", "</functioncall>"),
    ),
    Form(
        openers=("{", "["),
        bodies=(
            Body(head=re.compile(rf"\s*(?:\[\s*)?{_ONE_KEY}"), read=_objects),
            _plain_body(r"\s*\[\s*(?P<known>[A-Za-z_][\w.]{0,127})\(", read_python),
        ),
        place="whole",
        keeps=True,
    ),
)

ENDS_OF_ANSWERS: Final = (
    "<|im_end|>", "<|eot_id|>", "<|eom_id|>", "<|endoftext|>", "<|end_of_text|>", "<end_of_turn>", "<turn|>", "</s>",
    "<|user|>", "<|observation|>", "<\uff5cend\u2581of\u2581sentence\uff5c>",
)  # fmt: skip
"""Marks that end an answer. A model that goes on behind one plays somebody else."""

END_MARKS: Final = (
    *_CLOSING_TAGS, *ENDS_OF_ANSWERS, "</function_calls>", "<eom>", "<|eom|>", "<|end|>", "<|call|>",
    "<|tool_calls_section_end|>", "<\uff5ctool\u2581calls\u2581end\uff5c>", "<|close|>message<|sep|>",
)  # fmt: skip
"""Marks behind calls that say nothing: the ends of answers, of sections without a beginning."""
