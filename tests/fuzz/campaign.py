"""Rounds of frames: each on a connection of its own, and each the same for the same seed."""

from collections import Counter
from collections.abc import Callable
from functools import partial
from pathlib import Path
from random import Random

import anyio
import anyio.lowlevel

from tests.fuzz.client import Client, Found
from tests.fuzz.in_process import Lab
from tests.fuzz.process import program

FRAMES_A_ROUND = 500
SETTLES = 50  # frames between the moments in which everything must be answered
BREATHS = 0.2  # how often the agent gets to work between two frames


async def in_process(
    *, seed: int, frames: int, folder: Path, first: int = 0, told: Callable[[int], None] | None = None
) -> int:
    """Send frames in rounds; the number that was sent.

    Args:
        seed: What decides about everything.
        frames: How many, at least.
        folder: For the engine.
        first: The number of the first round.
        told: Hears after each round how many were sent so far.

    Raises:
        Found: The program did what it must not; the text says how to see it again.
    """
    sent, number = 0, first
    seen: Counter[str] = Counter()
    async with Lab.opened(folder) as lab:
        while sent < frames:
            sent += await _round(lab, seed=seed, number=number, frames=min(FRAMES_A_ROUND, frames - sent), seen=seen)
            number += 1
            if told is not None:
                told(sent)
    return sent


async def _round(lab: Lab, *, seed: int, number: int, frames: int, seen: Counter[str]) -> int:
    random = Random(f"{seed}/{number}")
    version = random.choice((1, 1, 2))
    client: Client | None = None
    try:
        async with lab.connected(partial(Client, random=random, version=version, seen=seen)) as client:
            await client.begin()
            await play(client, random, frames=frames)
    except Found as found:
        again = f"python -m tests.fuzz --seed {seed} --round {number} --frames {frames}"
        last = client.report() if client else ""
        raise Found(f"{found}\n\nagain: {again}\nlast lines sent (protocol {version}):\n{last}") from found
    return client.sent


async def over_pipes(*, seed: int, frames: int, folder: Path, version: int) -> None:
    """The same with the program as a process of its own, in one round.

    Raises:
        Found: The program did what it must not.
    """
    random = Random(f"{seed}/pipes/{version}")
    async with program(folder, random=random, version=version) as client:
        try:
            await client.begin()
            await play(client, random, frames=frames)
        except Found as found:
            raise Found(f"{found}\nlast lines sent (protocol {version}):\n{client.report()}") from found


async def play(client: Client, random: Random, *, frames: int) -> None:
    """Send so many frames, settle now and then, and have an ordinary conversation at the end."""
    for count in range(frames):
        await client.fuzz()
        if random.random() < BREATHS:
            await anyio.lowlevel.checkpoint()
        if count % SETTLES == SETTLES - 1:
            await client.settle()
    await client.settle()
    await client.converse()
    await client.settle()
