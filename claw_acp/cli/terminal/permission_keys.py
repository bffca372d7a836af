"""Answering permission questions: by a key press, or automatically with a notice."""

import os
import sys
import termios
import tty
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from typing import Literal

import anyio

from claw_acp.cli.terminal.live_view import LiveView
from claw_acp.schema.content import TextContent
from claw_acp.schema.permission import PermissionOption, PermissionOptionKind, RequestPermissionRequest
from claw_acp.schema.tool_call import Content
from claw_acp.security.permission_choices import STORED

_PREFERRED: Mapping[PermissionOptionKind, str] = {
    "allow_once": "y",
    "allow_always": "a",
    "reject_once": "n",
    "reject_always": "d",
}
DISMISS = frozenset({"\x1b", "\x04", "q"})  # Escape, Ctrl-D


def can_ask() -> bool:
    """Return whether a person can see the question and press a key."""
    return sys.stdin.isatty() and sys.stderr.isatty()


def keys_for(options: Sequence[PermissionOption]) -> dict[str, PermissionOption]:
    """A key for each answer: `y`, `a`, `n`, `d` by kind, digits for further ones of a kind."""
    keys: dict[str, PermissionOption] = {}
    for number, option in enumerate(options, start=1):
        key = _PREFERRED[option.kind]
        keys[str(number) if key in keys else key] = option
    return keys


async def chosen_by_key(keys: Mapping[str, PermissionOption], *, show: Callable[[], None]) -> PermissionOption | None:
    """Show the question and wait for one of the keys; None if it is dismissed.

    Keys pressed before are discarded: people must see what they agree to.
    """
    descriptor = sys.stdin.fileno()
    with _single_keys(descriptor):
        show()
        while True:
            await anyio.wait_readable(descriptor)
            pressed = os.read(descriptor, 64).decode("utf-8", "replace").lower()
            if not pressed or pressed[0] in DISMISS:
                return None
            if pressed[0] in keys:
                return keys[pressed[0]]


def first_of(options: Sequence[PermissionOption], *kinds: PermissionOptionKind) -> PermissionOption | None:
    """The first option of the first kind on offer."""
    return next((option for kind in kinds for option in options if option.kind == kind), None)


class PermissionPrompt:
    """Asks the person, or answers automatically; `why` is shown then.

    Where nobody can be asked the question is dismissed, not rejected: others who have the session open may answer it.
    """

    def __init__(self, view: LiveView, *, by: Literal["key", "allow", "nobody"], why: str) -> None:
        self._view = view
        self._by = by
        self._why = why

    async def answer(self, request: RequestPermissionRequest) -> PermissionOption | None:
        """The chosen option; None if the question was dismissed."""
        self._view.patch(request.tool_call)
        reasons = _reasons(request)
        for reason in reasons:
            for number, line in enumerate(_lines(reason, all_of_it=self._by == "key")):
                self._view.line(f"  {line}" if number else f"? {line}", colour="yellow", indent=4)
        self._view.said(request.tool_call.tool_call_id, reasons)
        chosen, how = None, f" (answered by itself: {self._why})"
        if self._by == "key":
            chosen, how = await self._ask(request.options), ""
        elif self._by == "allow":
            chosen = first_of(request.options, "allow_once")  # what lasts is a person's to say
        self._view.line(f"  → {chosen.name if chosen else 'Dismissed'}{how}", indent=4)
        return chosen

    async def _ask(self, options: Sequence[PermissionOption]) -> PermissionOption | None:
        keys = keys_for(options)

        def show() -> None:
            for key, option in keys.items():
                self._view.line(f"  {key}  {option.name}", indent=4)

        return await chosen_by_key(keys, show=show)


def _reasons(request: RequestPermissionRequest) -> list[str]:
    """The agent's reasons for the question; else the subject of the question."""
    content = request.tool_call.content or ()
    texts = [item.content for item in content if isinstance(item, Content)]
    reasons = [text.text for text in texts if isinstance(text, TextContent)]
    return reasons or [request.tool_call.title or "May this run?"]


def _lines(text: str, *, all_of_it: bool) -> list[str]:
    """The lines of a reason; what lasting answers store is shown only to people who can give one."""
    if text.startswith(STORED) and not all_of_it:
        return []
    lines = text.split("\n")
    block = len(lines) > 1 and lines[0].startswith("```")
    return [line for line in (lines[1:-1] if block else lines) if line.strip()]


@contextmanager
def _single_keys(descriptor: int) -> Generator[None]:
    before = termios.tcgetattr(descriptor)
    tty.setcbreak(descriptor)
    try:
        yield
    finally:
        termios.tcsetattr(descriptor, termios.TCSADRAIN, before)
