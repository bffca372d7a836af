"""The table of control methods."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from claw_acp.gateway.control import permission_methods, process_methods, schedule_methods, session_methods, wire
from claw_acp.gateway.control.method import Method

METHODS: Final[Mapping[str, Method]] = MappingProxyType({
    "hub/status": Method(
        scope="read", params=wire.Nothing, result=wire.Status, run=process_methods.status,
        summary="The server and what it does.",
    ),
    "hub/health": Method(
        scope="read", params=wire.Nothing, result=wire.Health, run=process_methods.health,
        summary="Tries the parts that everything needs.",
    ),
    "hub/metrics": Method(
        scope="read", params=wire.Nothing, result=wire.MetricsText, run=process_methods.metrics,
        summary="Figures about turns, models, tools and the server, for Prometheus.",
    ),
    "hub/shutdown": Method(
        scope="control", params=wire.Nothing, result=wire.Nothing, run=process_methods.shutdown,
        summary="Ends the server; sessions stay stored.",
    ),
    "pairing/begin": Method(
        scope="control", params=wire.BeginPairing, result=wire.PairingCode, run=process_methods.begin_pairing,
        may=process_methods.may_begin_pairing,
        summary="Makes a code that `POST /pair` turns into a token, once.",
    ),
    "sessions/list": Method(
        scope="read", params=wire.SessionsQuery, result=wire.SessionPage, run=session_methods.list_sessions,
        summary="A page of the stored sessions, the last changed first.",
    ),
    "sessions/open": Method(
        scope="read", params=wire.Nothing, result=wire.SessionPage, run=session_methods.open_sessions,
        summary="The sessions in use.",
    ),
    "sessions/show": Method(
        scope="read", params=wire.ShowSession, result=wire.SessionDetail, run=session_methods.show_session,
        summary="A session with its last messages.",
    ),
    "sessions/cancel": Method(
        scope="control", params=wire.SessionId, result=wire.Cancelled, run=session_methods.cancel,
        summary="Cancels the running turn of a session and those that wait.",
    ),
    "sessions/close": Method(
        scope="control", params=wire.SessionId, result=wire.Nothing, run=session_methods.close,
        summary="Closes a session for all clients; it stays stored.",
    ),
    "sessions/archive": Method(
        scope="control", params=wire.SessionId, result=wire.Nothing, run=session_methods.archive,
        summary="Closes a session, and leaves it out of ordinary lists.",
    ),
    "sessions/unarchive": Method(
        scope="control", params=wire.SessionId, result=wire.Nothing, run=session_methods.unarchive,
        summary="Shows a session in ordinary lists again.",
    ),
    "sessions/delete": Method(
        scope="control", params=wire.SessionId, result=wire.Nothing, run=session_methods.delete,
        summary="Closes a session and removes it for good.",
    ),
    "permissions/list": Method(
        scope="read", params=wire.Nothing, result=wire.WaitingList, run=permission_methods.list_permissions,
        summary="The questions that wait for a person.",
    ),
    "permissions/answer": Method(
        scope="control", params=wire.Answer, result=wire.Nothing, run=permission_methods.answer,
        summary="Answers a question, as one more person who is asked: the first answer counts.",
    ),
    "schedules/list": Method(
        scope="read", params=wire.Nothing, result=wire.JobList, run=schedule_methods.list_jobs,
        summary="The scheduled jobs.",
    ),
    "schedules/run": Method(
        scope="control", params=wire.JobName, result=wire.Nothing, run=schedule_methods.run,
        summary="Runs a job now.",
    ),
    "schedules/pause": Method(
        scope="control", params=wire.JobName, result=wire.Nothing, run=schedule_methods.pause,
        summary="Lets no occurrence of a job run.",
    ),
    "schedules/resume": Method(
        scope="control", params=wire.JobName, result=wire.Nothing, run=schedule_methods.resume,
        summary="Lets a paused job go on.",
    ),
})  # fmt: skip
