"""The schema of the database, as a list of migrations.

Step N brings a database of version N to version N + 1. Released steps are never edited: a change of the schema is a new
step. SQL stays within what SQLite 3.34 knows.
"""

from typing import Final

from claw_acp.core.value import Value


class Schema(Value):
    """The schema of one kind of database.

    Attributes:
        application_id: `PRAGMA application_id` of its files.
        steps: The statements of each migration; a step is one transaction.
        store: Its name in messages.
    """

    application_id: int
    steps: tuple[tuple[str, ...], ...]
    store: str

    @property
    def version(self) -> int:
        """`PRAGMA user_version` of a current file."""
        return len(self.steps)


APPLICATION_ID: Final = 0x434C4157
"""`PRAGMA application_id` of our files ("CLAW"), unlike those of other programs."""

_SESSIONS_AND_EVENTS: Final = (
    """
    CREATE TABLE session (
        id                     TEXT PRIMARY KEY NOT NULL,
        cwd                    TEXT NOT NULL,
        additional_directories TEXT NOT NULL,  -- JSON array of paths
        title                  TEXT,
        mode                   TEXT NOT NULL,
        model                  TEXT NOT NULL,
        created_at             REAL NOT NULL,  -- seconds since the epoch
        updated_at             REAL NOT NULL
    ) WITHOUT ROWID
    """,
    "CREATE INDEX session_by_update ON session (updated_at, id)",
    "CREATE INDEX session_by_cwd ON session (cwd, updated_at, id)",
    # Clustered by session, so that a replay reads neighbouring pages.
    """
    CREATE TABLE event (
        session_id TEXT NOT NULL REFERENCES session (id) ON DELETE CASCADE,
        seq        INTEGER NOT NULL,
        kind       TEXT NOT NULL,
        item       TEXT NOT NULL,
        body       TEXT NOT NULL,              -- JSON object
        PRIMARY KEY (session_id, seq)
    ) WITHOUT ROWID
    """,
)

_WHAT_A_CLIENT_DECIDES: Final = (
    "ALTER TABLE session ADD COLUMN archived INTEGER NOT NULL DEFAULT 0",
    "ALTER TABLE session ADD COLUMN title_given INTEGER NOT NULL DEFAULT 0",  # by a person: we never change it
    "ALTER TABLE session ADD COLUMN options TEXT NOT NULL DEFAULT '{}'",  # JSON object: further settings
    "ALTER TABLE session ADD COLUMN instructions TEXT",  # JSON object: mode, text
    "ALTER TABLE session ADD COLUMN parent TEXT",  # the session it was copied from, which may be gone
)

_WHAT_REQUESTS_COST: Final = (
    # Sums, so that it stays small. Sessions may be gone: what they cost is not.
    """
    CREATE TABLE spending (
        day          TEXT NOT NULL,            -- of whoever spent, by local time: 2026-11-22
        session_id   TEXT NOT NULL,
        model        TEXT NOT NULL,            -- provider/model
        requests     INTEGER NOT NULL,
        input        INTEGER NOT NULL,         -- tokens; cached ones are part of it
        output       INTEGER NOT NULL,
        cached_read  INTEGER NOT NULL,
        cached_write INTEGER NOT NULL,
        thought      INTEGER NOT NULL,         -- part of the output
        cost         INTEGER NOT NULL,         -- picodollars, of requests whose price is known
        unpriced     INTEGER NOT NULL,         -- requests whose price is not
        PRIMARY KEY (day, session_id, model)
    ) WITHOUT ROWID
    """,
    "CREATE INDEX spending_by_session ON spending (session_id)",
)

_WHAT_RUNS_BY_ITSELF: Final = (
    """
    CREATE TABLE schedule_job (
        id         TEXT PRIMARY KEY NOT NULL,
        name       TEXT NOT NULL UNIQUE,
        source     TEXT NOT NULL,              -- who keeps it: user, model, file
        definition TEXT NOT NULL,              -- JSON object
        paused     INTEGER NOT NULL DEFAULT 0,
        requested  INTEGER NOT NULL DEFAULT 0, -- somebody wants a run now
        next_at    REAL,                       -- the next occurrence, in seconds since the epoch
        last_for   REAL,                       -- the last occurrence that was run or passed over
        retry_at   REAL,                       -- when a failed run is repeated,
        retry_for  REAL,                       -- for which occurrence,
        attempt    INTEGER NOT NULL DEFAULT 0, -- and how often it has been already
        created_at REAL NOT NULL
    ) WITHOUT ROWID
    """,
    # Jobs may be gone: what they did is not. Bounded by deleting the oldest.
    """
    CREATE TABLE schedule_run (
        id              TEXT PRIMARY KEY NOT NULL,
        job_id          TEXT NOT NULL,
        job_name        TEXT NOT NULL,
        scheduled_for   REAL NOT NULL,
        attempt         INTEGER NOT NULL,
        started_at      REAL NOT NULL,
        ended_at        REAL,
        status          TEXT NOT NULL,
        session_id      TEXT,
        own_session     INTEGER NOT NULL DEFAULT 0,   -- the session was made for this run, and goes with it
        text            TEXT NOT NULL DEFAULT '',
        detail          TEXT NOT NULL DEFAULT '',
        input           INTEGER NOT NULL DEFAULT 0,
        output          INTEGER NOT NULL DEFAULT 0,
        cost            INTEGER NOT NULL DEFAULT 0,   -- picodollars
        deliver_to      TEXT NOT NULL DEFAULT 'none',
        deliver_at      REAL,                         -- when delivery is tried; NULL: it is not, or no more
        deliver_attempt INTEGER NOT NULL DEFAULT 0,
        delivered       TEXT NOT NULL DEFAULT ''      -- the outcome, for people
    ) WITHOUT ROWID
    """,
    "CREATE UNIQUE INDEX schedule_run_at_once ON schedule_run (job_id) WHERE status = 'running'",
    "CREATE INDEX schedule_run_by_job ON schedule_run (job_id, started_at)",
    "CREATE INDEX schedule_run_to_deliver ON schedule_run (deliver_at) WHERE deliver_at IS NOT NULL",
)

MIGRATIONS: Final[tuple[tuple[str, ...], ...]] = (
    _SESSIONS_AND_EVENTS,
    _WHAT_A_CLIENT_DECIDES,
    _WHAT_REQUESTS_COST,
    _WHAT_RUNS_BY_ITSELF,
)
"""The statements of each step; a step is one transaction."""

VERSION: Final = len(MIGRATIONS)
"""`PRAGMA user_version` of the current schema."""

SESSIONS: Final = Schema(application_id=APPLICATION_ID, steps=MIGRATIONS, store="session store")
