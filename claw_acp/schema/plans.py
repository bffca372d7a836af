"""Plans: the whole plan as one update, or plans that are changed and removed by id."""

from typing import Annotated, Literal, TypeAlias

from claw_acp.schema.base import Items, Variants, Wire

PlanEntryPriority = Literal["high", "medium", "low"]
PlanEntryStatus = Literal["pending", "in_progress", "completed"]


class PlanEntry(Wire):
    """One step of a plan."""

    content: str
    priority: PlanEntryPriority
    status: PlanEntryStatus


class Plan(Wire):
    """The whole plan; it replaces the one before."""

    session_update: Literal["plan"] = "plan"
    entries: Items[PlanEntry]


class PlanItems(Wire):
    """All steps of one plan."""

    type: Literal["items"] = "items"
    plan_id: str
    entries: Items[PlanEntry]


class PlanFile(Wire):
    """A plan that is a file."""

    type: Literal["file"] = "file"
    plan_id: str
    uri: str


class PlanMarkdown(Wire):
    """A plan as Markdown."""

    type: Literal["markdown"] = "markdown"
    plan_id: str
    content: str


PlanUpdateContent: TypeAlias = Annotated[PlanItems | PlanFile | PlanMarkdown, Variants(tag="type")]


class PlanUpdate(Wire):
    """The current state of one plan; only with the client's capability `plan` (unstable)."""

    session_update: Literal["plan_update"] = "plan_update"
    plan: PlanUpdateContent


class PlanRemoved(Wire):
    """The removal of a plan; only with the client's capability `plan` (unstable)."""

    session_update: Literal["plan_removed"] = "plan_removed"
    plan_id: str
