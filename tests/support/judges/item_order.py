"""Tool calls, terminals and background work of one session of protocol 2, and the permitted order of their updates."""

import base64
import binascii
from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias

from tests.support.judges.session_order import Breach

Object: TypeAlias = dict[str, Any]

FINAL: Final = frozenset({"completed", "failed", "cancelled"})


@dataclass(slots=True)
class _Item:
    over: bool = False
    output: bytes = b""


@dataclass(slots=True)
class Items:
    """The state that a client knows."""

    calls: dict[str, _Item] = field(default_factory=dict[str, _Item])
    terminals: dict[str, _Item] = field(default_factory=dict[str, _Item])
    background: set[str] = field(default_factory=set[str])

    def change(self, kind: str, update: Object, *, again: bool) -> None:
        """Handle an update; `again`: it is part of a replay, which may repeat what is over."""
        if kind == "tool_call_update":
            self._change_call(update, again=again)
        elif kind == "tool_call_content_chunk":
            self._check_content([update["content"]])
            if update["toolCallId"] not in self.calls:
                raise Breach(f"tool call {update['toolCallId']} grows and was never announced")
        elif kind == "terminal_update":
            self._change_terminal(update, again=again)
        elif kind == "terminal_output_chunk":
            terminal = self.terminals.get(update["terminalId"])
            if terminal is None or terminal.over:
                raise Breach(f"terminal {update['terminalId']} prints, and does not run")
            terminal.output += _decoded(update["data"])

    def _change_call(self, update: Object, *, again: bool) -> None:
        call = self.calls.get(update["toolCallId"])
        if call is None:
            call = self.calls[update["toolCallId"]] = _Item()
            if not update.get("title"):
                raise Breach("a tool call begins without a title")
        elif call.over and not again:
            raise Breach(f"tool call {update['toolCallId']} changes after its end")
        call.over = update.get("status") in FINAL
        if call.over and _offers_cancel(update):
            raise Breach("a tool call that is over can be cancelled")
        self._check_content(update.get("content") or [])

    def _check_content(self, content: list[Object]) -> None:
        for item in content:
            if item["type"] == "terminal" and item["terminalId"] not in self.terminals:
                raise Breach(f"terminal {item['terminalId']} is shown and was never announced")
            if item["type"] == "diff":
                _check_diff(item)

    def _change_terminal(self, update: Object, *, again: bool) -> None:
        terminal = self.terminals.get(update["terminalId"])
        if terminal is None:
            terminal = self.terminals[update["terminalId"]] = _Item()
            if not update.get("command") or not update.get("cwd"):
                raise Breach("a terminal begins without its command and directory")
        elif terminal.over and not again:
            raise Breach(f"terminal {update['terminalId']} changes after its end")
        if "output" in update:
            terminal.output = _decoded(update["output"]["data"])
        terminal.over = update.get("exitStatus") is not None
        if terminal.over and _offers_cancel(update):
            raise Breach("a terminal that is over can be cancelled")

    def list_background(self, listed: list[Object] | None) -> None:
        """Handle a state update."""
        if listed is None:
            raise Breach("a state update leaves out the background work")
        now = {item["terminalId"] for item in listed}
        if len(now) != len(listed):
            raise Breach("background work is listed twice")
        for terminal in now - self.background:
            if terminal not in self.terminals or self.terminals[terminal].over:
                raise Breach(f"terminal {terminal} is listed as background work, and is not known to run")
        for terminal in self.background - now:
            if not self.terminals[terminal].over:
                raise Breach(f"terminal {terminal} is no longer listed, and its end was not told")
        self.background = now


def _offers_cancel(update: Object) -> bool:
    capabilities: Object = update.get("capabilities") or {}
    return capabilities.get("cancel") is not None


def _check_diff(diff: Object) -> None:
    patch: Object = diff.get("patch") or {}
    for change in diff["changes"]:
        if patch.get("format") == "git_patch" and change["path"].isascii():
            quoted = change["path"].replace("\\", "\\\\").replace('"', '\\"')
            if f"diff --git {change['path']} " not in patch["text"] and quoted not in patch["text"]:
                raise Breach(f"the patch does not name {change['path']} as the change does")


def _decoded(data: str) -> bytes:
    try:
        return base64.b64decode(data, validate=True)
    except binascii.Error as error:
        raise Breach("terminal output is not base64") from error
