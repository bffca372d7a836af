"""A subscriber that records events and is never behind."""

from claw_acp.core.events import Event


class Seen:
    """See `claw_acp.session.subscribers.Subscriber`."""

    behind = False
    lost = False

    def __init__(self) -> None:
        self.events: list[Event] = []
        self.closed = False

    async def on_event(self, event: Event) -> None:
        self.events.append(event)

    async def caught_up(self) -> None:
        raise AssertionError("nobody has to wait for this one")

    def drop(self) -> None:
        raise AssertionError("there is no reason to drop this one")

    def on_closed(self) -> None:
        self.closed = True
