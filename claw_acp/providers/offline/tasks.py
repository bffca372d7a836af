"""Carrying out a request to the offline assistant: wish by wish, up to the first failure.

After a failure the person decides how to go on: nothing is retried.
"""

from collections.abc import Sequence
from typing import assert_never

from claw_acp.providers.offline.commands import STEPS, repair, run
from claw_acp.providers.offline.files import append, create, read, replace
from claw_acp.providers.offline.known_requests import (
    Append,
    Conditional,
    CreateFile,
    FindFiles,
    Help,
    ListFiles,
    MakePlan,
    ReadFile,
    Repair,
    Replace,
    Run,
    Search,
    Summarize,
    Wish,
    describe,
)
from claw_acp.providers.offline.looking import find_files, list_files, search, summarize
from claw_acp.providers.offline.task_steps import Move, Task
from claw_acp.providers.offline.words import ABILITIES, HOW_TO_CONNECT, NOT_UNDERSTOOD
from claw_acp.providers.offline.worker import Doing, Worker


def task_for(wishes: Sequence[Wish], *, offered: frozenset[str]) -> Task:
    """The task for `wishes` with the tools on offer. Without wishes: a description of what is possible."""
    if not wishes:
        yield Move(text=f"{NOT_UNDERSTOOD}\n\n{ABILITIES}\n\n{HOW_TO_CONNECT}\n")
        return
    worker = Worker([step for wish in wishes for step in _steps(wish)], plans="plan" in offered)
    if len(wishes) > 1:
        worker.think(f"These are {len(wishes)} things to do; I take them in order.")
    for number, wish in enumerate(wishes, start=1):
        done = yield from _perform(wish, worker)
        later = wishes[number:]
        if later and not (done and _may_go_on(wish, later[0], worker)):
            worker.say(f"I stopped there. Not done: {'; '.join(describe(wish) for wish in later)}.")
            break
    yield from worker.finish()


def _steps(wish: Wish) -> Sequence[str]:
    match wish:
        case Repair():
            return STEPS
        case Conditional(wish=then):
            return _steps(then)
        case _:
            return (describe(wish),)


def _may_go_on(wish: Wish, following: Wish, worker: Worker) -> bool:
    """Return whether to go on: after a failed command only with a wish for that case."""
    return not (isinstance(wish, Run) and worker.last_failed) or isinstance(following, Conditional)


def _perform(wish: Wish, worker: Worker) -> Doing:
    match wish:
        case Repair(command=command):
            return (yield from repair(command, worker))
        case Conditional(wish=then) if worker.last_failed:
            return (yield from _perform(then, worker))
        case Conditional(wish=then):
            worker.say("It did not fail, so nothing is left to do about that.")
            worker.step_done(len(_steps(then)))
            return True
        case CreateFile() | Append() | Replace() | Run() | MakePlan():
            done = yield from _change(wish, worker)
        case ListFiles() | FindFiles() | Search() | ReadFile() | Summarize() | Help():
            done = yield from _look(wish, worker)
        case _:
            assert_never(wish)
    if done:
        worker.step_done()
    return done


def _change(wish: CreateFile | Append | Replace | Run | MakePlan, worker: Worker) -> Doing:
    match wish:
        case CreateFile(path=path, content=content):
            return (yield from create(path, content, worker))
        case Append(path=path, content=content):
            return (yield from append(path, content, worker))
        case Replace(path=path, old=old, new=new):
            return (yield from replace(path, old=old, new=new, worker=worker))
        case Run(command=command):
            return (yield from run(command, worker))
        case MakePlan(entries=entries):
            return (yield from _make_plan(entries, worker))


def _look(wish: ListFiles | FindFiles | Search | ReadFile | Summarize | Help, worker: Worker) -> Doing:
    match wish:
        case ListFiles(path=path):
            return (yield from list_files(path, worker))
        case FindFiles(pattern=pattern):
            return (yield from find_files(pattern, worker))
        case Search(text=text, path=path):
            return (yield from search(text, path, worker))
        case ReadFile(path=path, explain=explain):
            return (yield from read(path, explain=explain, worker=worker))
        case Summarize():
            return (yield from summarize(worker))
        case Help():
            worker.say(f"{ABILITIES}\n\n{HOW_TO_CONNECT}")
            return True


def _make_plan(entries: Sequence[str], worker: Worker) -> Doing:
    rows = [{"content": entry, "status": "pending"} for entry in entries]
    if (yield from worker.result("make the plan", "plan", entries=rows)) is None:
        return False
    worker.say(f"I made a plan with {len(entries)} entr{'y' if len(entries) == 1 else 'ies'}.")
    return True
