"""A process that writes a session's journal and says what was acknowledged; killed at any moment by the tests.

Usage: journal_child.py PATH SESSION MODE. Prints `ready`, waits for a line on stdin, then one acknowledged seq a line.
MODE `mixed` alternates streamed text with committed events; `held` takes the session's lock and waits.
"""

import sys
from pathlib import Path

import anyio

from claw_acp.core.events import MessageStarted, TextDelta
from claw_acp.session.journal import Journal
from claw_acp.session.lock import SessionLock


async def write(path: Path, session: str) -> None:
    async with Journal.opened(path) as journal:
        seq = max((event.seq for event in await journal.read(session)), default=0)
        print("ready", flush=True)
        sys.stdin.readline()
        for _ in range(1_000_000):  # until killed
            for _ in range(3):
                seq += 1
                await journal.append(session, TextDelta(item=f"m{seq // 4}", seq=seq, text=f"[{seq}]"), wait=False)
            seq += 1
            await journal.append(session, MessageStarted(item=f"u{seq}", seq=seq, role="user"), wait=True)
            print(seq, flush=True)


def hold(path: Path, session: str) -> None:
    with SessionLock(path).hold(session):
        print("ready", flush=True)
        sys.stdin.readline()


if __name__ == "__main__":
    place, name, mode = Path(sys.argv[1]), sys.argv[2], sys.argv[3]
    if mode == "held":
        hold(place, name)
    else:
        anyio.run(write, place, name)
