"""A model with a narrow window, for long sessions: it refuses what a vendor would, and knows only what it is sent.

It measures each request, checks that a vendor would take it, and counts how often the beginning of the conversation is
another than in the request before: each time, a prompt cache would have to be made anew. Prompts say what it does:

    read PATH COUNT     one call of `read_file` for each of COUNT requests, then a few words
    recall NAME         the value of the fact `NAME=value`, from whatever it is sent; `unknown` when it is not there
    anything else       a few words

A request for a summary is answered with the headings asked for, and below `Facts` with every fact that it is sent.
"""

import json
import re
from collections.abc import Callable, Sequence
from typing import Any, cast

from tests.support.foreign.models import check_valid
from tests.support.servers.model_replies import Call, Json, ReceivedRequest, Reply, Say, Tokens, failure

BYTES_PER_TOKEN = 3.0  # unlike our own estimate, so that this has to be learned
FACT = re.compile(r"\b([a-z]\w+)=(\w+)")
HEADING = re.compile(r"^## ([A-Z][\w ]+)$", re.MULTILINE)

Message = dict[str, Any]


class NarrowModel:
    """A responder for `ModelServer.always`.

    Attributes:
        sizes: The tokens of each request, in order.
        asked: The last message of a person in each.
        said: The last answer without calls.
        refused: How many of them were longer than the window.
        remade: How many did not begin with the conversation of the one before.
        summaries: How many asked for a summary.
        records: The parts of conversations that it was to put into its words.
        archives: Answers requests for that.
        cold: How many of these did not begin with the conversation of the request before.
    """

    def __init__(self, *, window: int) -> None:
        self.window = window
        self.sizes: list[int] = []
        self.asked: list[str] = []
        self.said = ""
        self.refused = self.remade = self.summaries = self.cold = 0
        self.silent = False
        """Set to have requests for summaries answered without any heading."""
        self.records: list[str] = []
        self.archives: Callable[[ReceivedRequest], Reply] = lambda _: saved("It was about something.")
        self._last: Sequence[Message] = ()

    def __call__(self, request: ReceivedRequest) -> Reply:
        """Answer one request."""
        check_valid(request)
        tokens = round(len(request.body) / BYTES_PER_TOKEN)
        self.sizes.append(tokens)
        if tokens > self.window:
            self.refused += 1
            text = f"This model's maximum context length is {self.window} tokens. Please reduce the length."
            return failure(400, {"error": {"message": text, "code": "context_length_exceeded"}})
        messages = cast("list[Message]", request.json["messages"])
        asked = _text(next(message for message in reversed(messages) if message["role"] == "user"))
        if asked.startswith("<record>"):
            self.records.append(asked)
            return self.archives(request)
        self.asked.append(asked)
        if HEADING.search(asked) and "replaced by a summary" in asked:
            self.summaries += 1
            self.cold += messages[: len(self._last)] != self._last
            return self._say(self._summary(messages, asked), tokens)
        self.remade += bool(self._last) and messages[: len(self._last)] != self._last
        self._last = messages
        return self._answer(messages, asked.rpartition("\n")[2], tokens)

    def _answer(self, messages: Sequence[Message], asked: str, tokens: int) -> Say:
        match asked.split():
            case ["read", path, count]:
                since = next(n for n, message in enumerate(reversed(messages)) if message["role"] == "user")
                if since // 2 < int(count):
                    call = Call(
                        name="read_file", arguments={"path": path, "line": since // 2 + 1}, id=f"call_{len(self.sizes)}"
                    )
                    return Say(calls=(call,), usage=Tokens(input=tokens, output=20))
            case ["recall", name]:
                return self._say(dict(FACT.findall(json.dumps(messages))).get(name, "unknown"), tokens)
            case _:
                pass
        return self._say("All is well.", tokens)

    def _say(self, text: str, tokens: int) -> Say:
        self.said = text
        return Say(text=(text,), usage=Tokens(input=tokens, output=round(len(text) / BYTES_PER_TOKEN)))

    def _summary(self, messages: Sequence[Message], asked: str) -> str:
        if self.silent:
            return "I would rather not."
        facts = dict.fromkeys(
            f"- {name}={value}" for message in messages for name, value in FACT.findall(_text(message))
        )
        below = {"Facts": "\n".join(facts) or "- none"}
        return "\n\n".join(f"## {name}\n{below.get(name, '- none')}" for name in HEADING.findall(asked))


def saved(entry: Json, *notes: Json) -> Say:
    """The answer that keeps a part of a conversation in these words."""
    return Say(calls=(Call(name="save_memory", arguments={"history_entry": entry, "notes": [*notes]}, id="call_s"),))


def _text(message: Message) -> str:
    content = message.get("content") or ""
    return content if isinstance(content, str) else "".join(part.get("text", "") for part in content)
