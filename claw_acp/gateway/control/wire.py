"""The control interface as types. Its OpenRPC document is generated from here."""

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field
from pydantic.alias_generators import to_camel

from claw_acp.gateway.access.scope import Scope


class Wire(BaseModel):
    """The base of parameters and results: unknown members are ignored, absent ones left out when writing."""

    model_config = ConfigDict(alias_generator=to_camel, populate_by_name=True, extra="ignore", frozen=True)


class Nothing(Wire):
    """An object without members."""


# ------------------------------------------------------------------ the server


class AttachedProgram(Wire):
    """A program that is attached and is neither an editor nor a control client."""

    role: str
    name: str
    version: str
    instance: str
    tools: list[str] = Field(description="The tools that it lends, as models know them.")


class SupervisedProgram(Wire):
    """A program of the configuration, which the hub starts."""

    name: str = Field(description="Its name in the configuration.")
    state: str = Field(description="starting, running, waiting (for its next start), given up, or not started.")
    reason: str = Field(description="Why it ended last, or what is wrong with its section of the configuration.")


class Status(Wire):
    """The server and what it does."""

    version: str
    pid: int
    uptime_seconds: float
    attached: int = Field(description="Programs on the Unix socket.")
    remote: int = Field(description="ACP connections over the network.")
    sessions: int = Field(description="Sessions in use.")
    turns: int = Field(description="Sessions with a turn that runs or waits.")
    programs: list[AttachedProgram] = Field(description="Programs that lend tools or fire schedules.")
    supervised: list[SupervisedProgram] = Field(description="Programs that the hub starts itself.")


class Check(Wire):
    """One part of the server."""

    name: str
    ok: bool
    detail: str = Field(default="", description="The trouble, for people.")


class Health(Wire):
    """The state of the parts that everything needs."""

    ok: bool
    checks: list[Check]


class MetricsText(Wire):
    """Figures in the text format of Prometheus."""

    text: str


# ------------------------------------------------------------------ sessions


class SessionsQuery(Wire):
    """Filters of a list."""

    cwd: str | None = Field(default=None, description="Only sessions that work in this directory.")
    archived: Literal["exclude", "include", "only"] = "exclude"
    cursor: str | None = Field(default=None, description="The `nextCursor` of the page before.")


class SessionId(Wire):
    """Names one session."""

    session_id: str


class SessionFacts(Wire):
    """A session. Times are ISO 8601 in UTC."""

    session_id: str
    title: str | None = None
    cwd: str
    mode: str
    model: str
    created_at: str
    updated_at: str
    archived: bool = False
    open: bool = Field(description="It is in use.")
    turns: int = Field(default=0, description="The turn that runs, and those that wait behind it.")
    watching: int = Field(default=0, description="Clients that have it open.")


class SessionPage(Wire):
    """A page of sessions, the last changed first."""

    sessions: list[SessionFacts]
    next_cursor: str | None = None


class ShowSession(Wire):
    """Names one session, and how much of it is wanted."""

    session_id: str
    messages: int = Field(default=20, ge=0, le=1000, description="The last messages to return.")


class SessionMessage(Wire):
    """A message, as text."""

    role: Literal["user", "assistant"]
    text: str


class SessionDetail(Wire):
    """A session with its last messages."""

    session: SessionFacts
    messages: list[SessionMessage]


class Cancelled(Wire):
    """The number of cancelled turns."""

    turns: int


# ------------------------------------------------------------------ permissions


class Option(Wire):
    """One possible answer."""

    option_id: str
    name: str
    kind: str


class Waiting(Wire):
    """A question that waits for an answer."""

    permission_id: str
    session_id: str
    tool_call_id: str
    title: str
    reason: str
    kind: str
    command: str | None = Field(default=None, description="The command line that would run.")
    asked_at: str
    options: list[Option]


class WaitingList(Wire):
    """All questions that wait."""

    permissions: list[Waiting]


class Answer(Wire):
    """The answer to a question."""

    permission_id: str
    option_id: str


# ------------------------------------------------------------------ schedules


class JobName(Wire):
    """Names one job."""

    name: str


class JobFacts(Wire):
    """A job."""

    name: str
    source: str = Field(description="Who keeps it: user, model or file.")
    cwd: str
    prompt: str
    paused: bool
    next: str = Field(description="When it runs next, in words.")
    last_status: str | None = None
    last_session_id: str | None = None


class JobList(Wire):
    """All jobs by name."""

    running: bool = Field(description="A process fires them.")
    jobs: list[JobFacts]


# ------------------------------------------------------------------ access


class BeginPairing(Wire):
    """The token that a code is for."""

    scopes: list[Scope] = Field(min_length=1)
    lifetime_seconds: int | None = Field(default=None, gt=0, le=10 * 366 * 86_400)


class PairingCode(Wire):
    """A code; `POST /pair` makes a token of it."""

    code: str
    valid_seconds: int
    url: str = Field(description="The page of the server, which takes the code; other machines may need another name.")
