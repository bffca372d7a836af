"""A client that counts: what it asked, what was answered, and whether every frame it got may be sent at all."""

import json
from collections import Counter, defaultdict, deque
from collections.abc import Callable, Sequence
from random import Random
from typing import Any, Protocol, cast

import anyio

from tests.fuzz.corpus import GREETING, Corpus
from tests.fuzz.mutations import Mutator, oversized
from tests.fuzz.oracle import NOBODY, Expected, Json, Key, expected, is_certain
from tests.support.judges.official_schema import OfficialSchema

PATIENCE = 30.0  # seconds until everything that was asked is answered
CHECKED = 64  # frames of each kind that are held against the official schema, and one in so many afterwards
SHOWN = 40  # lines in a report
LONGEST = 400  # bytes of each
OVERSIZED = 0.002  # of all frames are longer than the limit
ENVELOPE = {"jsonrpc", "id", "method", "params", "result", "error"}


class Found(AssertionError):
    """The program did what it must not."""


class Wire(Protocol):
    """The way to the program."""

    async def send(self, data: bytes) -> None:
        """Send bytes as they are."""
        ...


class Client:
    """One connection.

    Args:
        wire: Where bytes go.
        random: Decides everything.
        cwd: The project.
        version: Of the protocol.
        limit: Bytes of the longest frame to send.
        longer: Whether the agent takes none that is longer, and some are to be tried.
        seen: How often each kind of frame came, on this connection and those before it.
    """

    def __init__(
        self,
        wire: Wire,
        *,
        random: Random,
        cwd: str,
        version: int,
        limit: int,
        longer: bool = False,
        seen: Counter[str] | None = None,
    ) -> None:
        self.version = version
        self._limit = limit
        self._longer = longer
        self.agreed = 0
        self.corpus = Corpus(random, cwd=cwd, version=version)
        self.sent = 0
        self._wire = wire
        self._random = random
        self._mutator = Mutator(random)
        self._expected: Counter[Key] = Counter()
        self._got: Counter[Key] = Counter()
        self._methods: dict[Key, set[str | None]] = defaultdict(set)
        self._answers: dict[Key, Json] = {}
        self._questions: dict[Any, Json] = {}
        self._lines: deque[bytes] = deque(maxlen=SHOWN)
        self._texts: dict[str, str] = defaultdict(str)
        self._stopped: Counter[str] = Counter()
        self._sessions: set[str] = set()
        self._news = anyio.Event()
        self._seen: Counter[str] = Counter() if seen is None else seen
        self._schema = OfficialSchema.load(version, unstable=True)
        self.failure: Found | None = None

    # ------------------------------------------------------------------ sending

    async def fuzz(self) -> None:
        """Send one frame, broken or not."""
        message = self.corpus.any()
        whole = self._random.random() < 0.25
        data = json.dumps(message).encode() if whole else self._mutator.frame(message)
        if self._longer and self._random.random() < OVERSIZED:
            data, wanted = oversized(self._random, message, size=self._limit)
            await self._send(data, [wanted])
        elif _certain(data, limit=self._limit):
            await self.send(data)

    async def send(self, data: bytes) -> None:
        """Send lines, without the last line feed, and note what must come of them."""
        await self._send(data, [expected(line, plain_ids=self.agreed == 2) for line in data.split(b"\n")])

    async def _send(self, data: bytes, answers: Sequence[Expected | None]) -> None:
        self._lines.append(data[:LONGEST])
        for wanted in answers:
            if wanted is not None:
                self._expected[wanted.key] += 1
                self._methods[wanted.key].add(wanted.method)
        self.sent += 1
        await self._wire.send(data + b"\n")

    async def ask(self, message: Json) -> Json:
        """Send a request and wait for its answer."""
        key = Key.of(message["id"])
        self._answers.pop(key, None)
        await self.send(json.dumps(message).encode())
        await self._until(lambda: key in self._answers, f"an answer to {message['method']}")
        return self._answers[key]

    async def begin(self) -> None:
        """Initialize, and open a first session."""
        answer = await self.ask(self.corpus.initialize())
        self.agreed = answer["result"]["protocolVersion"]
        if self.agreed != self.version:
            raise Found(f"version {self.version} was asked for, {self.agreed} answered")
        await self.ask(self.corpus.opening())

    # ------------------------------------------------------------------ waiting

    async def settle(self) -> None:
        """End whatever runs, and see that everything is answered, once."""
        await self._end_turns()
        try:
            await self._until(lambda: self._got == +self._expected, "an answer to every request")
        except Found as found:
            missing, surplus = self._expected - self._got, self._got - self._expected
            methods = {key.text: sorted(map(str, self._methods[key])) for key in missing}
            raise Found(
                f"{found}\nunanswered: {_named(missing)} {methods}\nanswered for nothing: {_named(surplus)}"
            ) from None

    async def _end_turns(self) -> None:
        """Cancel every turn and answer every question, until none is left."""
        with anyio.move_on_after(PATIENCE):
            while self._got != +self._expected:
                self._check()
                for session in tuple(self._sessions):
                    await self._wire.send(_notification("session/cancel", {"sessionId": session}) + b"\n")
                for question in list(self._questions.values()):
                    await self._answer(question, {"result": {"outcome": {"outcome": "cancelled"}}})
                with anyio.move_on_after(0.25):
                    await self._until(lambda: self._got == +self._expected or bool(self._questions), "news")

    async def _until(self, condition: Callable[[], bool], what: str) -> None:
        with anyio.move_on_after(PATIENCE):
            while not condition():
                self._check()
                await self._news.wait()
            self._check()
            return
        raise Found(f"after {PATIENCE:g} s there is still not {what}")

    def _check(self) -> None:
        if self.failure is not None:
            raise self.failure

    async def converse(self) -> None:
        """An ordinary conversation; it must go as if nothing had happened."""
        answer = await self.ask(self.corpus.opening())
        session = answer["result"]["sessionId"]
        ends = self._stopped[session]
        prompt = {"sessionId": session, "prompt": [{"type": "text", "text": "hello"}]}
        answer = await self.ask(self.corpus.request("session/prompt", prompt))
        if self.version == 1:
            fine = answer.get("result", {}).get("stopReason") == "end_turn"
        else:
            await self._until(lambda: self._stopped[session] > ends, "the end of an ordinary turn")
            fine = True
        if not fine or self._texts[session] != GREETING:
            raise Found(f"an ordinary turn ended with {answer} and the text {self._texts[session]!r}")
        answer = await self.ask(self.corpus.request("session/close", {"sessionId": session}))
        if "error" in answer:
            raise Found(f"closing an ordinary session failed: {answer}")

    def report(self) -> str:
        """What was sent last."""
        return "\n".join(repr(line) for line in self._lines)

    # ------------------------------------------------------------------ receiving

    async def heard(self, line: bytes) -> None:
        """A line came."""
        try:
            message = self._judged(line)
        except Found as found:
            self.failure = Found(f"{found}\nframe: {line[:2000]!r}")
            self._tell()
            return
        if "method" in message:
            await self._called(message)
        else:
            self._answered(message)
        self._tell()

    def _tell(self) -> None:
        self._news.set()
        self._news = anyio.Event()

    def _answered(self, message: Json) -> None:
        key = Key.of(message["id"])
        self._got[key] += 1
        self._answers[key] = message
        result = message.get("result")
        session: object = cast("Json", result).get("sessionId") if isinstance(result, dict) else None
        if isinstance(session, str):
            self.corpus.sessions = [*self.corpus.sessions[-7:], session]
            self._sessions.add(session)

    async def _called(self, message: Json) -> None:
        params = message["params"]
        if message["method"] == "session/update":
            update = params["update"]
            if update["sessionUpdate"] == "agent_message_chunk":
                self._texts[params["sessionId"]] += update["content"].get("text", "")
            elif update.get("stopReason"):
                self._stopped[params["sessionId"]] += 1
        elif message["method"] == "$/cancel_request":
            self._questions.pop(params["requestId"], None)
        if "id" in message:
            self._questions[message["id"]] = message
            await self._react(message)

    async def _react(self, question: Json) -> None:
        """Answer well, badly, or later."""
        pick = self._random.random()
        if pick < 0.6:
            await self._answer(question, _good_answer(question))
        elif pick < 0.9:
            answer = {"jsonrpc": "2.0", "id": question["id"], **_good_answer(question)}
            broken = self._mutator.frame(answer)
            if _certain(broken, limit=self._limit):
                await self.send(broken)

    async def _answer(self, question: Json, outcome: Json) -> None:
        self._questions.pop(question["id"], None)
        await self.send(json.dumps({"jsonrpc": "2.0", "id": question["id"], **outcome}).encode())

    # ------------------------------------------------------------------ judging

    def _judged(self, line: bytes) -> Json:
        try:
            value = json.loads(line.decode("utf-8"), parse_constant=_refuse)
        except ValueError as error:
            raise Found(f"a line out is no JSON: {error}") from None
        message = cast("Json", value if isinstance(value, dict) else {})
        if message.get("jsonrpc") != "2.0" or set(message) - ENVELOPE:
            raise Found("a line out is no JSON-RPC message")
        if len({"method", "result", "error"} & set(message)) != 1:
            raise Found("a line out has not exactly one of method, result and error")
        if "method" in message:
            self._judge_call(message)
        else:
            self._judge_answer(message)
        return message

    def _judge_call(self, message: Json) -> None:
        method = message["method"]
        table = self._schema.requests if "id" in message else self._schema.notifications
        definition = table.get(("client", method)) or table.get(("protocol", method))
        if definition is None:
            raise Found(f"{method} is nothing that a client serves")
        kind = message.get("params", {}).get("update", {}).get("sessionUpdate", method)
        self._fits(definition, message.get("params"), kind=kind)

    def _judge_answer(self, message: Json) -> None:
        if "id" not in message:
            raise Found("an answer without an id")
        key = Key.of(message["id"])
        if self._got[key] >= self._expected[key]:
            raise Found("an answer to nothing that was asked, or one more than was asked for")
        if "error" in message:
            self._fits("Error", message["error"], kind="error")
            if message["error"]["code"] == -32603 and "see log entry" in message["error"]["message"]:
                raise Found("an internal error")
            return
        methods = self._methods[key]
        if len(methods) == 1 and key != NOBODY:
            method = next(iter(methods))
            definition = self._schema.results.get(("agent", method or ""))
            if definition is None:
                raise Found(f"{method} is nothing that an agent serves, and was answered with a result")
            self._fits(definition, message["result"], kind=f"result of {method}")

    def _fits(self, definition: str, value: object, *, kind: str) -> None:
        """Hold it against the official schema: the first of each kind, later only some, as that takes its time."""
        kind = f"{self.version}: {kind}"
        self._seen[kind] += 1
        if self._seen[kind] > CHECKED and self._seen[kind] % CHECKED:
            return
        if problems := self._schema.problems(definition, value):
            raise Found(f"{kind} is no {definition}: {'; '.join(problems)}")


def _certain(data: bytes, *, limit: int) -> bool:
    """Whether it is known what must come of it."""
    return all(len(line) <= limit and is_certain(line) for line in data.split(b"\n"))


def _good_answer(question: Json) -> Json:
    params = question["params"]
    match question["method"]:
        case "session/request_permission":
            return {"result": {"outcome": {"outcome": "selected", "optionId": params["options"][0]["optionId"]}}}
        case "fs/read_text_file":
            return {"result": {"content": "unsaved"}}
        case "terminal/create":
            return {"result": {"terminalId": "t"}}
        case "terminal/output":
            return {"result": {"output": "out", "truncated": False, "exitStatus": {"exitCode": 0}}}
        case "terminal/wait_for_exit":
            return {"result": {"exitCode": 0}}
        case "elicitation/create":
            return {"result": {"action": "cancel"}}
        case _:
            return {"result": {}}


def _notification(method: str, params: Json) -> bytes:
    return json.dumps({"jsonrpc": "2.0", "method": method, "params": params}).encode()


def _named(counts: Counter[Key]) -> str:
    return ", ".join(f"{key.text} x {count}" for key, count in list((+counts).items())[:10]) or "nothing"


def _refuse(name: str) -> float:
    raise ValueError(name)
