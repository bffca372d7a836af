"""`claw-acp cron add|list|show|run|pause|resume|remove|next`: jobs that run at set times."""

import argparse
import re
import sys
from collections.abc import Callable, Coroutine, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Final

import anyio

from claw_acp.cli.cron.view import job_lines, job_table, times_lines, undelivered_lines
from claw_acp.cli.current_settings import locations_here
from claw_acp.cli.sessions.stored import find_session, stored_sessions
from claw_acp.core.clock import SYSTEM_CLOCK
from claw_acp.core.nearest import nearest
from claw_acp.registry.entry_points import TOOLS, discover
from claw_acp.schedule.definition import parse_job
from claw_acp.schedule.job_store import next_words
from claw_acp.schedule.opened import OpenSchedules

RECENT: Final = 86_400.0  # seconds for which a list tells of results that were not delivered
NO_HUB = "No hub is running, and jobs run in one; start one with `claw-acp serve --detach`."
_SHOWN = 5
_EXAMPLES = """\
examples:
  claw-acp cron add --at +20m --prompt "Remind me of the tea"
  claw-acp cron add nightly --cron "0 2 * * 1-5" --tz Europe/Berlin --cwd ~/project \\
      --prompt "Run the tests and tell me what is broken" --deliver "command:mail -s tests me"
  claw-acp cron add watch --every 30m --heartbeat --deliver webhook:https://example.org/hook
  claw-acp cron next nightly -n 3

Jobs can also be written in `schedules.toml` in the configuration directory, a table for each:
  [jobs.nightly]
  cron = "0 2 * * 1-5"
  cwd = "~/project"
  prompt = "Run the tests and tell me what is broken"
"""


def main(argv: Sequence[str]) -> int:
    """Change or show the jobs."""
    parser = _parser()
    options = parser.parse_args(argv)
    if options.command == "add" and not Path(options.cwd).is_dir():
        parser.error(f"--cwd: {options.cwd} is not a directory")
    commands: Mapping[str, Callable[[OpenSchedules, argparse.Namespace], Coroutine[Any, Any, int]]] = {
        "add": _add, "list": _list, "show": _show, "run": _run, "pause": _pause, "resume": _resume,
        "remove": _remove, "next": _next,
    }  # fmt: skip
    return anyio.run(partial(_opened, commands[options.command], options))


async def _opened(
    work: Callable[[OpenSchedules, argparse.Namespace], Coroutine[Any, Any, int]], options: argparse.Namespace
) -> int:
    async with OpenSchedules.opened(locations_here()) as schedules:
        for problem in schedules.problems:
            print(f"claw-acp cron: {problem.text()}", file=sys.stderr)
        return await work(schedules, options)


# ------------------------------------------------------------------ commands


async def _add(schedules: OpenSchedules, options: argparse.Namespace) -> int:
    names = {each.job.name for each in await schedules.jobs.all()}
    name = options.name or _name_for(options.prompt or "heartbeat", taken=names)
    job = parse_job(name, await _with_sessions(_fields(options)), now=SYSTEM_CLOCK.now())
    stored = await schedules.jobs.add(job, source="user")
    schedules.tell_of_changes()
    print(f"{name}: {next_words(stored)}")
    _tell_without_hub(schedules)
    return 0


async def _list(schedules: OpenSchedules, _options: argparse.Namespace) -> int:
    jobs = await schedules.jobs.all()
    missing = undelivered_lines(await schedules.history.not_delivered(since=SYSTEM_CLOCK.now() - RECENT))
    if not jobs:
        print("\n".join(['there are no jobs; `claw-acp cron add --at +20m --prompt "..."` makes one', *missing]))
        return 0
    last = {each.id: await schedules.history.of_job(each.id, limit=1) for each in jobs}
    print("\n".join([*job_table(jobs, last), *missing]))
    _tell_without_hub(schedules)
    return 0


async def _show(schedules: OpenSchedules, options: argparse.Namespace) -> int:
    runs = await schedules.history.of_name(options.name, limit=options.number)
    jobs = [each for each in await schedules.jobs.all() if each.job.name == options.name]
    if not jobs and not runs:
        await schedules.jobs.find(options.name)  # says what there is instead
    print("\n".join(job_lines(jobs[0] if jobs else None, runs)))
    return 0


async def _run(schedules: OpenSchedules, options: argparse.Namespace) -> int:
    stored = await schedules.jobs.find(options.name)
    await schedules.jobs.request(stored)
    schedules.tell_of_changes()
    if not schedules.lease.held:
        print(f"{options.name} will run once a hub does.\n{NO_HUB}", file=sys.stderr)
        return 1
    print(f"{options.name} starts now; `claw-acp cron show {options.name}` tells how it went")
    return 0


async def _pause(schedules: OpenSchedules, options: argparse.Namespace) -> int:
    await schedules.jobs.pause(await schedules.jobs.find(options.name))
    schedules.tell_of_changes()
    print(f"{options.name} is paused; `claw-acp cron resume {options.name}` lets it go on")
    return 0


async def _resume(schedules: OpenSchedules, options: argparse.Namespace) -> int:
    await schedules.jobs.resume(await schedules.jobs.find(options.name))
    schedules.tell_of_changes()
    print(f"{options.name}: {next_words(await schedules.jobs.find(options.name))}")
    _tell_without_hub(schedules)
    return 0


async def _remove(schedules: OpenSchedules, options: argparse.Namespace) -> int:
    stored = await schedules.jobs.find(options.name)
    if stored.source == "file":
        print(f"claw-acp cron: {options.name} is written in {locations_here().schedules_file}; remove it there, "
              "or pause it", file=sys.stderr)  # fmt: skip
        return 1
    await schedules.jobs.remove(stored.id)
    schedules.tell_of_changes()
    print(f"{options.name} is removed")
    return 0


async def _next(schedules: OpenSchedules, options: argparse.Namespace) -> int:
    stored = await schedules.jobs.find(options.name)
    print("\n".join(times_lines(stored, now=SYSTEM_CLOCK.now(), number=options.number)))
    return 0


def _tell_without_hub(schedules: OpenSchedules) -> None:
    if not schedules.lease.held:
        print(NO_HUB, file=sys.stderr)


# ------------------------------------------------------------------ arguments


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="claw-acp cron",
        description="Jobs that run at set times, in the hub (`claw-acp serve`).",
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    commands = parser.add_subparsers(dest="command", required=True)
    _add_job(commands.add_parser("add", help="add a job"))
    commands.add_parser("list", help="all jobs, with their next time and last run")
    for name, purpose in (
        ("show", "a job and its last runs"),
        ("next", "the next times of a job"),
        ("run", "run a job now"),
        ("pause", "let no time of a job count"),
        ("resume", "let a paused job go on"),
        ("remove", "remove a job; its runs stay known"),
    ):
        command = commands.add_parser(name, help=purpose)
        command.add_argument("name", help="the job")
        if name in {"show", "next"}:
            command.add_argument(
                "-n", dest="number", type=_positive, default=_SHOWN, help="how many (default %(default)s)"
            )
    return parser


def _add_job(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("name", nargs="?", help="its name (default: made from the prompt)")
    times = parser.add_mutually_exclusive_group(required=True)
    times.add_argument("--at", metavar="WHEN", help='once: "2026-12-01 09:00", or +20m from now on')
    times.add_argument("--every", metavar="PERIOD", help="again and again: 30m, 2h, 1d")
    times.add_argument("--cron", metavar="FIELDS", help='minute, hour, day, month, weekday: "0 9 * * 1-5"')
    parser.add_argument("--tz", dest="time_zone", metavar="ZONE", help="of --at and --cron (default: this machine's)")
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--prompt", help="what to do; - reads it from standard input")
    what.add_argument(
        "--heartbeat", action="store_const", const=True, help="do what HEARTBEAT.md of the directory holds, if anything"
    )
    parser.add_argument("--cwd", metavar="DIR", default=".", help="where to work (default: here)")
    parser.add_argument("--session", metavar="ID", help="run in this session (default: a new one for each run)")
    parser.add_argument(
        "--mode", help="plan, ask, edit or auto; what would be asked is refused (default: as configured)"
    )
    parser.add_argument("--model", metavar="PROVIDER/MODEL", help="the model that answers")
    parser.add_argument("--tools", metavar="NAME,NAME", type=_tools, help="the only tools it has")
    parser.add_argument("--budget", metavar="DOLLARS", type=float, help="the most that a run may cost")
    parser.add_argument("--timeout", metavar="TIME", help="the longest that a run may take (default 1h)")
    parser.add_argument(
        "--missed", help="what passed while nothing ran: run_once (default), skip, or run_all (at most 24 of them)"
    )
    parser.add_argument("--jitter", metavar="TIME", help="begin up to so much later")
    parser.add_argument("--retries", metavar="N", type=int, help="repeat a failed run, after 30s, 1m, 5m, 15m, 1h")
    parser.add_argument(
        "--rerun-interrupted", action="store_const", const=True, help="repeat a run that the end of the hub cut short"
    )
    parser.add_argument(
        "--deliver", metavar="WHERE", help="the result goes to session:ID, command:LINE or webhook:URL (default: none)"
    )


def _fields(options: argparse.Namespace) -> dict[str, object]:
    """The table of the job: what was given."""
    given = {name: value for name, value in vars(options).items() if value is not None}
    prompt = {"prompt": sys.stdin.read()} if options.prompt == "-" else {}
    rest = {name: value for name, value in given.items() if name not in {"command", "name"}}
    return {**rest, **prompt, "cwd": str(Path(options.cwd).expanduser().resolve())}


async def _with_sessions(fields: dict[str, object]) -> dict[str, object]:
    """The table with whole ids of the sessions that are named in it."""
    named = {"session": "", "deliver": "session:"}
    async with stored_sessions() as journal:
        for field, start in named.items():
            value = fields.get(field)
            if isinstance(value, str) and value.startswith(start):
                record = await find_session(journal, value.removeprefix(start))
                fields = {**fields, field: f"{start}{record.id}"}
    return fields


def _name_for(prompt: str, *, taken: set[str]) -> str:
    """A name made of the first words of a prompt."""
    words = re.findall(r"[a-z0-9]+", prompt.lower())[:4]
    name = "-".join(words)[:40].strip("-") or "job"
    return next(
        each for each in (name, *(f"{name}-{number}" for number in range(2, len(taken) + 3))) if each not in taken
    )


def _tools(text: str) -> list[str]:
    """The names in a list with commas; those of MCP servers, as in `github__search`, are not known here."""
    names = [name.strip() for name in text.split(",") if name.strip()]
    known = discover(*TOOLS)
    for name in names:
        if name not in known and "__" not in name:
            meant = nearest(name, known)
            hint = f'did you mean "{meant}"?' if meant else f"there are {', '.join(known)}"
            raise argparse.ArgumentTypeError(f'there is no tool "{name}"; {hint}')
    return names


def _positive(text: str) -> int:
    number = int(text)
    if not 1 <= number <= 1000:
        raise argparse.ArgumentTypeError("must be from 1 to 1000")
    return number
