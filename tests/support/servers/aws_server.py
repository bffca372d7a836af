"""Amazon Bedrock on loopback: checks signatures, plays event streams, lists models.

Signatures are checked by code of its own, from the wire, as the documentation of AWS describes them.
"""

import hmac
import json
from collections import deque
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from hashlib import sha256
from typing import Any
from urllib.parse import quote

from tests.support.servers.event_stream import encoded
from tests.support.servers.loopback import Answered, Asked, Loopback, serving
from tests.support.servers.model_replies import Call, Json, Tokens

STREAM = "application/vnd.amazon.eventstream"


def event(kind: str, **payload: Json) -> bytes:
    """An event of a stream, padded as the service pads them."""
    headers = {":event-type": kind, ":content-type": "application/json", ":message-type": "event"}
    return encoded(json.dumps({**payload, "p": "abcdefgh"}).encode(), headers)


def exception(kind: str, message: str) -> bytes:
    """An exception in a stream."""
    headers = {":exception-type": kind, ":content-type": "application/json", ":message-type": "exception"}
    return encoded(json.dumps({"message": message}).encode(), headers)


def frames(
    *text: str,
    thinking: Sequence[str] = (),
    signature: str = "sig",
    redacted: str = "",
    calls: Sequence[Call] = (),
    stop: str = "",
    usage: Tokens | None = None,
) -> list[bytes]:
    """An answer as the events of a Converse stream."""
    blocks: list[tuple[Json, list[Json]]] = []
    if thinking:
        signed: list[Json] = [{"reasoningContent": {"text": piece}} for piece in thinking]
        blocks.append((None, [*signed, {"reasoningContent": {"signature": signature}}] if signature else signed))
    if redacted:
        blocks.append((None, [{"reasoningContent": {"redactedContent": redacted}}]))
    if text:
        blocks.append((None, [{"text": piece} for piece in text]))
    for number, call in enumerate(calls):
        start: Json = {"toolUse": {"toolUseId": call.id or f"tooluse_{number}", "name": call.name}}
        blocks.append((start, [{"toolUse": {"input": part}} for part in ("", *call.fragments())]))
    made = [event("messageStart", role="assistant")]
    for index, (start, deltas) in enumerate(blocks):
        if start is not None:
            made.append(event("contentBlockStart", contentBlockIndex=index, start=start))
        made += [event("contentBlockDelta", contentBlockIndex=index, delta=delta) for delta in deltas]
        made.append(event("contentBlockStop", contentBlockIndex=index))
    made.append(event("messageStop", stopReason=stop or ("tool_use" if calls else "end_turn")))
    tokens = usage or Tokens()
    counts: Json = {
        "inputTokens": tokens.input,
        "outputTokens": tokens.output,
        "totalTokens": tokens.input + tokens.output,
        "cacheReadInputTokens": tokens.cache_read,
        "cacheWriteInputTokens": tokens.cache_write,
    }
    return [*made, event("metadata", usage=counts, metrics={"latencyMs": 12})]


class AwsServer(Loopback):
    """Accepts `keys` (access key to secret key) and `bearers`; answers models with the next reply."""

    def __init__(self) -> None:
        super().__init__(self._answer)
        self.keys: dict[str, str] = {"AKIDEXAMPLE": "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY"}
        self.bearers = {"bedrock-api-key-0123456789"}
        self.region = "us-east-1"
        self.lists: dict[str, Json] = {}
        self.script: deque[Answered] = deque()

    def will_say(self, *text: str, **options: Any) -> None:
        """Answer the next request to a model with these events; see `frames`."""
        self.script.append(Answered(frames(*text, **options), kind=STREAM))

    def will_fail(self, status: int, kind: str, message: str) -> None:
        """Refuse the next request to a model."""
        self.script.append(refusal(status, kind, message))

    @property
    def bodies(self) -> list[Any]:
        """The bodies of requests to models."""
        return [json.loads(asked.body) for asked in self.asked if asked.method == "POST"]

    def _answer(self, asked: Asked) -> Answered:
        refused = self._refused(asked)
        if refused is not None:
            return refused
        if asked.method == "GET":
            path = asked.path.partition("?")[0]
            if path in self.lists:
                return Answered([json.dumps(self.lists[path]).encode()])
            return refusal(404, "ResourceNotFoundException", f"nothing at {path}")
        if self.script:
            return self.script.popleft()
        return refusal(400, "ValidationException", "the test scripted no reply for this request")

    def _refused(self, asked: Asked) -> Answered | None:
        given = asked.headers.get("authorization", "")
        if given.startswith("Bearer "):
            known = given.removeprefix("Bearer ") in self.bearers
            return None if known else refusal(403, "AccessDeniedException", "Authentication failed: bad API key")
        if not given.startswith("AWS4-HMAC-SHA256 "):
            return refusal(403, "MissingAuthenticationTokenException", "Missing Authentication Token")
        fields = dict(part.strip().split("=", 1) for part in given.removeprefix("AWS4-HMAC-SHA256 ").split(","))
        key = fields["Credential"].split("/")[0]
        if key not in self.keys:
            return refusal(403, "UnrecognizedClientException", "The security token included in the request is invalid.")
        if fields["Signature"] == self._signature(asked, secret=self.keys[key], names=fields["SignedHeaders"]):
            return None
        words = "The request signature we calculated does not match the signature you provided."
        return refusal(403, "InvalidSignatureException", words)

    def _signature(self, asked: Asked, *, secret: str, names: str) -> str:
        path, _, query = asked.path.partition("?")
        segments = "/".join(quote(segment, safe="-_.~") for segment in path.split("/"))
        parameters = "&".join(sorted(query.split("&"))) if query else ""
        assert {"host", "x-amz-date"} <= set(names.split(";"))
        head = "".join(f"{name}:{asked.headers[name].strip()}\n" for name in names.split(";"))
        request = "\n".join([asked.method, segments, parameters, head, names, sha256(asked.body).hexdigest()])
        date = asked.headers["x-amz-date"]
        scope = f"{date[:8]}/{self.region}/bedrock/aws4_request"
        text = f"AWS4-HMAC-SHA256\n{date}\n{scope}\n{sha256(request.encode()).hexdigest()}"
        key = ("AWS4" + secret).encode()
        for part in scope.split("/"):
            key = hmac.digest(key, part.encode(), "sha256")
        return hmac.digest(key, text.encode(), "sha256").hex()


def refusal(status: int, kind: str, message: str) -> Answered:
    """An error reply, with its kind in the header where AWS puts it."""
    headers: Mapping[str, str] = {"x-amzn-errortype": f"{kind}:http://internal.amazon.com/coral/com.amazon.bedrock/"}
    return Answered([json.dumps({"message": message}).encode()], status=status, headers=headers)


@contextmanager
def running_aws() -> Generator[AwsServer]:
    """A server."""
    server = AwsServer()
    with serving(server):
        yield server
