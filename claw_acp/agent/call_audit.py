"""The tool calls of a turn in the audit log: before each runs, and how it ended."""

import logging
from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING

import anyio
from anyio import CapacityLimiter, to_thread

from claw_acp.agent.call_entry import CallEntry
from claw_acp.audit.log import AuditLog, AuditUnwritable
from claw_acp.contracts.questions import Choice
from claw_acp.core.events import ToolStatus
from claw_acp.core.json_value import JsonValue
from claw_acp.core.mode import Mode
from claw_acp.core.redaction import Redactor
from claw_acp.security.verdicts import Decision

if TYPE_CHECKING:
    from claw_acp.net.proxy.verdict import NetworkRecord

log = logging.getLogger(__name__)


class CallAudit:
    """Records the calls of one turn. A line that has to reach the disk is written in a worker thread.

    Args:
        log: The audit log.
        who: The session, the client and the way by which its prompt came.
        mode: Returns the mode in force.
        redactor: Removes keys from what people and rules say.
    """

    def __init__(
        self, log: AuditLog, *, who: Mapping[str, JsonValue], mode: Callable[[], Mode],
        redactor: Redactor,
    ) -> None:  # fmt: skip
        self._log = log
        self._who = who
        self._mode = mode
        self._redactor = redactor
        self._one = CapacityLimiter(1)

    async def begins(self, entry: CallEntry, decision: Decision, *, place: str) -> None:
        """Record a call that is going to run; `place` says where its commands do, if there is a sandbox.

        Raises:
            AuditUnwritable: It cannot be recorded, so it must not run.
        """
        facts: dict[str, JsonValue] = {
            **self._of(entry), "arguments": entry.arguments, "decision": decision.verdict, "mode": self._mode(),
            "reason": self._redactor(decision.reason), "rule": self._rule(decision.rule),
        }  # fmt: skip
        if decision.reach is not None:
            facts |= {"reach": decision.reach, "sandbox": place or "none"}
        await self._record("call", facts, durable=entry.tool is None or not entry.tool.parallel)

    async def answered(self, entry: CallEntry, decision: Decision, choice: Choice | None) -> None:
        """Record what a person answered to the question whether a call may run; None: nothing.

        Raises:
            AuditUnwritable: It cannot be recorded.
        """
        answer: dict[str, JsonValue] = {"answer": "none"}
        if choice is not None:
            answer = {
                "answer": choice.kind,
                "by": choice.by,
                "stores": [self._redactor(rule) for rule in choice.stores],
            }
        facts = {**self._of(entry), **answer, "asked_because": self._redactor(decision.reason)}
        await self._record("permission", facts, durable=False)

    async def connected(self, entry: CallEntry, record: "NetworkRecord") -> None:
        """Record a connection of a command: that it is going to be made or is refused, and its end.

        Raises:
            AuditUnwritable: It cannot be recorded, so it must not be made.
        """
        to = record.destination
        facts: dict[str, JsonValue] = {
            **self._of(entry),
            "connection": record.outcome,
            "host": to.host,
            "port": to.port,
        }
        facts |= {"rule": self._rule(record.rule or None), "reason": record.reason or None}
        if record.outcome == "ended":
            facts |= {"sent": record.sent, "received": record.received}
        await self._record("network", facts, durable=record.outcome == "allowed")

    async def ended(self, entry: CallEntry, *, status: ToolStatus, seconds: float) -> None:
        """Record the outcome of a call, or that it was refused. If that fails, no other call begins."""
        facts: dict[str, JsonValue] = self._of(entry)
        if entry.begun:
            facts |= {"seconds": round(seconds, 3), "status": status}
        else:
            facts |= {"arguments": entry.arguments, "mode": self._mode(), "status": "not run"}
        if entry.refusal is not None:
            facts["reason"] = entry.refusal
        try:
            with anyio.CancelScope(shield=True):  # it did happen; writing a line takes no time worth cancelling
                await self._record("outcome", facts, durable=False)
        except AuditUnwritable as error:
            log.error("an outcome is not in the audit log", extra={"call": entry.call.id, "reason": error.message})  # noqa: TRY400

    def _of(self, entry: CallEntry) -> dict[str, JsonValue]:
        return {**self._who, "call": entry.call.id, "tool": entry.call.name}

    def _rule(self, rule: str | None) -> str | None:
        return None if rule is None else self._redactor(rule)

    async def _record(self, kind: str, facts: Mapping[str, JsonValue], *, durable: bool) -> None:
        if self._log.section.use == "off":
            return
        if not durable and self._log.record_at_once(kind, facts):
            return
        write = partial(self._log.record, kind, facts, durable=durable)
        await to_thread.run_sync(write, limiter=self._one)
