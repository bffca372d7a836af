"""Each model has the fields, the required fields and the values that its official definition has, and no others.

The unstable schema is the measure: it holds all of the stable one. What of it is not served yet is listed here.
"""

from typing import Annotated, Literal, cast, get_args, get_origin

from claw_acp.schema import errors
from claw_acp.schema.base import Known, Wire
from claw_acp.schema.validation import wire_fields
from tests.schema.official import modules, our, our_model, tags
from tests.support.judges.official_definitions import BY_TAG, OfficialSchema, Schema

MARKER = "`Marker` stands for every capability that is an empty object"
ENVELOPE = "the envelope is that of JSON-RPC, which the package rpc reads and writes"
FLATTENED = "its fields stand in the object they are part of on the wire"
NOT_SERVED = "unstable, and not served yet"
PLAIN = "a plain string or integer in our models"

LEFT_OUT = {
    **dict.fromkeys(
        (
            "CompactionCapabilities",
            "BooleanConfigOptionCapabilities",
            "NoticeCapabilities",
            "ElicitationFormCapabilities",
            "ElicitationUrlCapabilities",
            "SessionListCapabilities",
            "SessionDeleteCapabilities",
            "SessionAdditionalDirectoriesCapabilities",
            "SessionResumeCapabilities",
            "SessionCloseCapabilities",
            "LogoutCapabilities",
            "SessionForkCapabilities",
            "SessionArchiveCapabilities",
            "SessionStatusCapabilities",
            "SessionTitleCapabilities",
            "SessionSystemPromptOverrideCapabilities",
            "SessionCancelCapabilities",
            "PlanCapabilities",
            "SubagentCapabilities",
            "AuthStatusCapabilities",
            "ProvidersCapabilities",
        ),
        MARKER,
    ),
    **dict.fromkeys(
        (
            "AgentRequest",
            "AgentResponse",
            "AgentNotification",
            "ClientRequest",
            "ClientResponse",
            "ClientNotification",
            "ExtRequest",
            "ExtResponse",
            "ExtNotification",
        ),
        ENVELOPE,
    ),
    **dict.fromkeys(
        (
            "ElicitationFormMode",
            "ElicitationUrlMode",
            "ElicitationSessionScope",
            "ElicitationRequestScope",
            "ElicitationAcceptAction",
            "ErrorStopReason",
        ),
        FLATTENED,
    ),
    **dict.fromkeys(
        (
            "SessionId",
            "ToolCallId",
            "TerminalId",
            "PermissionOptionId",
            "ElicitationId",
            "AuthMethodId",
            "SessionModeId",
            "SessionConfigId",
            "SessionConfigValueId",
            "SessionConfigGroupId",
            "MessageId",
            "CompactionId",
            "PlanId",
            "ProviderId",
            "McpRequestId",
            "McpServerAcpId",
        ),
        PLAIN,
    ),
    **dict.fromkeys(
        (
            "InitializeProxyRequest",
            "InitializeProxyResponse",
            "ProxyNotification",
            "ProxyRequest",
            "ProxyResponse",
            "ProxySuccessorNotification",
            "ProxySuccessorRequest",
            "ProxySuccessorResponse",
        ),
        NOT_SERVED,
    ),
    "ElicitationSchemaType": "its one value stands in `ElicitationSchema.type`",
}
"""Official definitions that have no counterpart of the same name here, and why."""

OURS_ONLY = {
    "Marker": MARKER,
    "Given": "a base: absent is not the same as null",
    "Patch": "a base: null means something of its own in updates that change what was said before",
    "ToolCallUpdated": "`ToolCallUpdate` with its tag; without one it stands in permission requests",
    "CancelledPermissionOutcome": "a variant that the official schema leaves without a name",
    "Wire": "the base",
}
"""Models of ours that have no official definition of the same name, and why."""

FIELDS_LEFT_OUT: dict[str, set[str]] = {}
"""Unstable fields of what is not served yet, likewise `TAGS_LEFT_OUT`."""

TAGS_LEFT_OUT: dict[str, set[str]] = {}

CONDITIONAL = {
    "SetSessionConfigOptionRequest": {"value"},
    "CreateElicitationRequest": {"mode"},
    "CreateElicitationResponse": {"action"},
}
"""Fields that every variant requires, so that we may do so for the object as a whole."""

UNTAGGED = {"ToolCallUpdate"}
"""Definitions that are a tagged variant, and that we also have without the tag under their own name."""

NUMBERED = {"ErrorCode"}
"""Open enumerations of integers; ours are constants, compared by a test of their own."""

SCHEMA_NAMES = sorted(OfficialSchema.load(unstable=True).source)


def _object_names() -> list[str]:
    definitions = OfficialSchema.load(unstable=True).definitions
    objects = (name for name in SCHEMA_NAMES if definitions[name].get("type") == "object" and name not in LEFT_OUT)
    return [name for name in objects if our_model(name) or BY_TAG not in definitions[name]]


def _values(schema: Schema) -> set[object] | None:
    """The constants a definition allows or names; None if it is no enumeration."""
    if "enum" in schema:
        return set(schema["enum"])
    if "const" in schema:
        return {schema["const"]}
    parts = [part for part in (*schema.get("allOf", ()), *schema.get("anyOf", ())) if part.get("type") != "null"]
    found = [values for values in map(_values, parts) if values]
    return set[object]().union(*found) if found else None


def _our_values(annotation: object) -> set[object] | None:
    """The same of a type, for `Literal` and for `Annotated[..., Known(...)]`."""
    if get_origin(annotation) is Literal:
        return set(get_args(annotation))
    if isinstance(annotation, Known):
        return set(annotation.values)
    found = [values for values in map(_our_values, get_args(annotation)) if values]
    return set[object]().union(*found) if found else None


def _field_values(model: type[Wire], alias: str) -> set[object] | None:
    return next((_our_values(field.annotation) for field in wire_fields(model) if field.key == alias), None)


def _place(name: str) -> tuple[Schema, str] | None:
    """The union in which a definition is a tagged variant, and the key of the tag."""
    schema = OfficialSchema.load(unstable=True)
    mine = schema.definitions[name]
    for union in schema.definitions.values():
        for member in tags(union).values():
            if any(part is mine for part in member.get("allOf", ())):
                return union, union[BY_TAG]["key"]
    return None


def _flat(schema: Schema) -> dict[str, Schema]:
    """Properties of a definition and of all its variants."""
    found: dict[str, Schema] = dict(schema.get("properties", {}))
    union = schema.get(BY_TAG, {})
    variants = (*union.get("members", {}).values(), *union.get("others", ()))
    for part in (*schema.get("allOf", ()), *schema.get("anyOf", ()), *variants):
        found = {**_flat(part), **found}
    return found


def test_each_model_has_exactly_the_official_fields() -> None:
    wrong = {name: differences for name in _object_names() if (differences := _differing_fields(name))}
    assert wrong == {}


def _differing_fields(name: str) -> set[str]:
    definition = OfficialSchema.load(unstable=True).definitions[name]
    model = our_model(name)
    if model is None:
        return {"there is no model"}
    properties, required = _flat(definition), set(definition.get("required", ())) | CONDITIONAL.get(name, set())
    place = None if name in UNTAGGED else _place(name)
    if place:
        union, key = place
        properties |= union.get("properties", {}) | {key: {}}
        required |= set(union.get("required", ()))
    fields = wire_fields(model)
    ours = {field.key for field in fields}
    needed = {field.key for field in fields if field.required}
    tag = place[1] if place else None
    left_out = FIELDS_LEFT_OUT.get(name, set[str]())
    differing = {f"{key} is only on one side" for key in (ours ^ (set(properties) - left_out)) - {"_meta"}}
    return differing | {f"{key} is required only on one side" for key in (needed ^ required) - {tag}}


def test_each_field_has_exactly_the_official_values() -> None:
    compared = 0
    for name in _object_names():
        model = our_model(name)
        for key, schema in OfficialSchema.load(unstable=True).definitions[name].get("properties", {}).items():
            values = _values(schema)
            if model and values is not None and not _is_number(values) and _holds_constants_only(schema):
                assert _field_values(model, key) == values, (name, key)
                compared += 1
    assert compared >= 12


def _is_number(values: set[object]) -> bool:
    return all(isinstance(value, int) for value in values)


def _holds_constants_only(schema: Schema) -> bool:
    return not any("properties" in part for part in (*schema.get("allOf", ()), *schema.get("anyOf", ())))


def test_every_official_definition_has_a_counterpart_or_a_reason() -> None:
    assert {name for name in SCHEMA_NAMES if our(name) is None} == set(LEFT_OUT)


def test_every_union_has_the_official_tags_and_every_enumeration_the_official_values() -> None:
    compared: set[str] = set()
    for name in SCHEMA_NAMES:
        definition = OfficialSchema.load(unstable=True).definitions[name]
        values = _values(definition)
        if name in LEFT_OUT or name in NUMBERED or our_model(name):
            continue
        left_out = TAGS_LEFT_OUT.get(name, set[str]())
        if BY_TAG in definition:
            assert _declared_tags(our(name), key=definition[BY_TAG]["key"]) == set(tags(definition)) - left_out, name
            compared.add(name)
        elif values:
            assert _our_values(our(name)) == values, name
            compared.add(name)
    assert compared >= {"SessionUpdate", "ContentBlock", "McpServer", "ToolKind", "StopReason", "NoticeSeverity"}


def _declared_tags(union: object, *, key: str) -> set[object]:
    assert get_origin(union) is Annotated
    members = cast("tuple[type[Wire], ...]", get_args(get_args(union)[0]))
    found: set[object] = set()
    for member in members:
        found |= _field_values(member, key) or set()
    return found


def test_the_error_codes_are_the_official_ones() -> None:
    ours = {value for name, value in vars(errors).items() if name.isupper()}
    assert ours == _values(OfficialSchema.load(unstable=True).definitions["ErrorCode"])


def test_every_model_has_an_official_definition_or_a_reason() -> None:
    ours = {
        name
        for module in modules()
        for name, found in vars(module).items()
        if isinstance(found, type) and issubclass(found, Wire) and not name.startswith("_")
    }
    assert ours - set(SCHEMA_NAMES) == set(OURS_ONLY)


def test_rows_of_reasons_name_official_definitions_only() -> None:
    assert {*LEFT_OUT, *CONDITIONAL, *UNTAGGED, *NUMBERED} <= set(SCHEMA_NAMES)
