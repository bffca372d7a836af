"""What is known of a session besides its events."""

from claw_acp.core.value import Value


class SessionRecord(Value):
    """One session as the store keeps it; times are seconds since the epoch, `model` is `provider/model`."""

    id: str
    cwd: str
    additional_directories: tuple[str, ...] = ()
    title: str | None = None
    mode: str
    model: str
    created_at: float
    updated_at: float
