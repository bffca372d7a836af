"""The contract of a program that attaches to the hub: its roles, and the bounds of its connection."""

from typing import Final, Literal, TypeAlias, get_args

PROTOCOL: Final = 1
"""The version of the attach protocol."""

Role: TypeAlias = Literal["editor", "control", "tools", "scheduler", "channel", "peripheral"]
ROLES: Final[tuple[Role, ...]] = get_args(Role)
OWN: Final[tuple[Role, ...]] = ("editor", "control")
"""The roles of our own programs, which only the hub's socket serves."""

SERVED: Final[tuple[Role, ...]] = ("tools", "scheduler")
"""The other roles that a hub of this version serves; the rest are specified, and refused."""

TOOL_PREFIX: Final = "remote__"
"""Stands before the names of lent tools, so that they never shadow another."""

ANSWER_TIMEOUT: Final = 5.0
"""Seconds for the answer to `initialize`."""

PING_EVERY: Final = 30.0
"""Seconds between two pings."""

PING_TIMEOUT: Final = 10.0
"""Seconds for the answer to a ping."""

LEAVE_SECONDS: Final = 2.0
"""Seconds to leave after `shutdown`."""

LARGEST_FRAME: Final = 8 * 1024 * 1024
"""Bytes of a line from a program that is no editor; longer ones are dropped."""

MOST_TOOLS: Final = 64
"""Tools that are lent at a time, by all programs together."""

MOST_CALLS: Final = 32
"""Calls under way in one program; further ones end with an error."""

CALL_SECONDS: Final = 30.0
"""Seconds for a call, unless the tool says otherwise, and for taking a result."""

MOST_MALFORMED: Final = 32
"""Lines that are no JSON-RPC until a program is let go."""

LOG_LINES: Final = 100
"""Lines of a program that are logged in `LOG_SECONDS`; the others are counted."""

LOG_SECONDS: Final = 10.0
