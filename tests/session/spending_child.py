"""A process that spends: spending_child.py PATH SESSION COUNT|crash. Prints `ready`, waits for a line, then spends.

With `crash` it spends once, commits the next event of its session and kills itself.
"""

import os
import signal
import sys
from pathlib import Path

import anyio
import anyio.lowlevel

from claw_acp.core.events import MessageStarted
from claw_acp.core.messages import Usage
from claw_acp.session.journal import Journal
from claw_acp.session.record import SessionRecord


async def spend(path: Path, session: str, how: str) -> None:
    async with Journal.opened(path) as journal:
        await journal.create(
            SessionRecord(id=session, cwd="/w", mode="ask", model="p/m", created_at=1.0, updated_at=1.0)
        )
        print("ready", flush=True)
        sys.stdin.readline()
        for _ in range(1 if how == "crash" else int(how)):
            journal.ledger.add(session, model="p/m", usage=Usage(input_tokens=10), cost=1)
            await anyio.lowlevel.checkpoint()
            if how != "crash":
                await journal.flush()
        if how == "crash":
            await journal.append(session, MessageStarted(item="u", seq=1, role="user"), wait=True)
            os.kill(os.getpid(), signal.SIGKILL)


anyio.run(spend, Path(sys.argv[1]), sys.argv[2], sys.argv[3])
