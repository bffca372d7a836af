"""Choices of what to drop from a conversation: pure functions over its items, measured in tokens."""

from collections.abc import Sequence
from typing import Final

from claw_acp.agent.context import Room
from claw_acp.agent.token_estimate import CHARACTERS_PER_TOKEN, message_tokens
from claw_acp.core.messages import Message
from claw_acp.session.entries import ENDS, HistoryItem

SAFE_RESULTS: Final = 40_000  # tokens of the newest results that stay whole ...
SAFE_SHARE: Final = 0.2  # ... and in a small room, this share of it
LEAST_GAIN: Final = 0.15  # of the room: less is not worth a prompt cache that has to be made anew
LASTING: Final = frozenset({"skill"})
"""Tools whose results are instructions for what comes later."""
SHORT: Final = ENDS // CHARACTERS_PER_TOKEN + 20  # tokens of a shortened result with its mark


def results_to_shorten(
    items: Sequence[HistoryItem], *, room: Room, running: str, least: int = 0, forced: bool = False
) -> Sequence[str]:
    """The calls whose results are to be shortened, in one batch; none when that gains too little.

    The newest results stay, and those of errors that are still open: no later call of the same tool succeeded, and the
    texts of skills. So do those of the running turn, unless the others gain too little: it may be all there is.

    Args:
        items: The conversation.
        room: The room that there is.
        running: The id of the running turn.
        least: The tokens to gain, if that is more than is asked of every batch.
        forced: Shorten all but the last item's, whatever is gained: the model refused the request as too long.
    """
    if forced:
        return [call for call, _ in _shortenable(items[:-1])]
    safe = min(SAFE_RESULTS, int(room.size * SAFE_SHARE))
    old = _older_than(items, tokens=safe, room=room)
    exempt = _open_errors(items) | _of_lasting_tools(items)
    for turns in (frozenset({running}), frozenset[str]()):
        found = [item for item in old if item.turn not in turns]
        calls = [(call, gain) for call, gain in _shortenable(found) if call not in exempt]
        if sum(gain for _, gain in calls) * room.scale >= max(least, room.size * LEAST_GAIN):
            return [call for call, _ in calls]
    return ()


def first_kept(items: Sequence[HistoryItem], *, room: Room, keep: int) -> int:
    """The position of the first item that stays when about `keep` tokens stay.

    Whole turns are dropped if possible; of a turn that is too long by itself, its older requests. The last item stays,
    unless `keep` is 0.
    """
    if keep <= 0 or not items:
        return len(items)
    position, taken = len(items) - 1, room.tokens(items[-1].messages)
    while position and (taken := taken + room.tokens(items[position - 1].messages)) <= keep:
        position -= 1
    starts = (at for at in range(max(position, 1), len(items)) if items[at].turn != items[at - 1].turn)
    return next(starts, position) if position else 0


def oldest_third(items: Sequence[HistoryItem], *, room: Room) -> int:
    """The position of the first item that stays when the oldest third is dropped, but never the last item."""
    whole = sum(room.tokens(item.messages) for item in items)
    return min(len(items) - 1, max(1, first_kept(items, room=room, keep=whole - whole // 3)))


def _older_than(items: Sequence[HistoryItem], *, tokens: int, room: Room) -> Sequence[HistoryItem]:
    """The items before those that hold the newest `tokens` of results; never the last one."""
    seen = 0
    for position in range(len(items) - 1, 0, -1):
        seen += room.tokens(_results(items[position]))
        if seen >= tokens:
            return items[:position]
    return ()


def _shortenable(items: Sequence[HistoryItem]) -> Sequence[tuple[str, int]]:
    """The results that would become shorter: the id of each call, and the gain in estimated tokens."""
    results = (result for item in items for result in _results(item))
    gains = ((result.tool_call_id or "", message_tokens(result) - SHORT) for result in results)
    return [(call, gain) for call, gain in gains if gain > SHORT]


def _open_errors(items: Sequence[HistoryItem]) -> frozenset[str]:
    """The failed calls of tools without a later successful call."""
    works: set[str | None] = set()
    still_open: set[str] = set()
    for item in reversed(items):
        for result in reversed(_results(item)):
            if not result.failed:
                works.add(result.tool_name)
            elif result.tool_name not in works:
                still_open.add(result.tool_call_id or "")
    return frozenset(still_open)


def _of_lasting_tools(items: Sequence[HistoryItem]) -> frozenset[str]:
    results = (result for item in items for result in _results(item))
    return frozenset(result.tool_call_id or "" for result in results if result.tool_name in LASTING)


def _results(item: HistoryItem) -> Sequence[Message]:
    return [message for message in item.messages if message.role == "tool"]
