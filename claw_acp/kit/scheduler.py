"""A program that has a hub run prompts when they are due: on standard input and output, or on the hub's socket."""

import traceback
from collections.abc import Callable, Coroutine
from functools import partial
from inspect import iscoroutinefunction
from typing import Any, TypeAlias

import anyio
from anyio import to_thread
from jsonrpcserver import Error, InvalidParams, Result, Success
from pydantic import ValidationError

from claw_acp.kit.attached_program import INTERNAL_ERROR, AttachedProgram
from claw_acp.kit.endpoint_wire import FinishedParams, FireParams

Source: TypeAlias = Callable[[], Coroutine[Any, Any, None]]
Taker: TypeAlias = Callable[[FinishedParams], Any]


class Scheduler(AttachedProgram):
    """One program that knows when prompts are due.

        scheduler = Scheduler("backup")

        @scheduler.source
        async def each_night() -> None:
            while True:
                await scheduler.fire(f"backup-{date.today()}", "Check last night's backup.", folder="/srv/backup")
                await anyio.sleep(3600)  # the hub runs each id once

        @scheduler.finished
        def tell(result: FinishedParams) -> None: print(result.status, result.text)

        scheduler.run()

    Args:
        name: Its name, for people.
        version: Its own version.
        instance: Tells several running copies apart; one that attaches again with the same replaces the older.
    """

    role = "scheduler"

    def __init__(self, name: str, *, version: str = "", instance: str | None = None) -> None:
        super().__init__(name, version=version, instance=instance, methods={"schedule/finished": self._finished})
        self._sources: list[Source] = []
        self._takers: list[Taker] = []

    def source(self, function: Source) -> Source:
        """Run a function while the program is attached; it fires what is due."""
        self._sources.append(function)
        return function

    def finished(self, function: Taker) -> Taker:
        """Call a function with each result; one may come twice."""
        self._takers.append(function)
        return function

    async def fire(self, fire_id: str, prompt: str, **more: Any) -> bool:  # noqa: ANN401 - members of `FireParams`
        """Have a prompt run now; False if the hub knows the id already.

        Raises:
            HubRefused: Something is wrong with it, or too many wait.
        """
        params = FireParams.model_validate({"fire_id": fire_id, "prompt": prompt, **more})
        return not (await self.request("schedule/fire", params))["known"]

    async def attached(self) -> None:
        """Run the sources."""
        async with anyio.create_task_group() as tasks:
            for source in self._sources:
                tasks.start_soon(source)

    async def _finished(self, _id: object, **params: object) -> Result:
        try:
            result = FinishedParams.model_validate(params)
            for take in self._takers:
                if iscoroutinefunction(take):
                    await take(result)
                else:
                    await to_thread.run_sync(partial(take, result), abandon_on_cancel=True)
        except ValidationError as error:
            return InvalidParams(str(error.errors(include_url=False)[0]["msg"]))
        except Exception as error:  # noqa: BLE001 - the author's code may raise anything; they see all of it
            traceback.print_exc()
            return Error(INTERNAL_ERROR, f"the result was not taken: {type(error).__name__}: {error}")
        return Success({})
