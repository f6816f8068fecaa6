"""A real HTTP server that speaks /v1/chat/completions and /v1/embeddings; its replies come from a function, faults
included.

    def reply(body):                      # the request as the endpoint gets it
        return "Answer: A"                # or a list of texts, one per choice, or one of the faults below

    with serve(reply) as server:
        llm = ChatLlm(Endpoint(server.url, "test-model"))
        ...
        assert server.requests[0]["messages"][0]["role"] == "system"

Tokens are counted as words. Requests are answered at the same time, each in a thread of its own.
"""

import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

ReplyFunction = Callable[[dict[str, Any]], "str | list[str] | list[list[float]] | Answer"]


@dataclass(frozen=True)
class Answer:
    """What goes over the wire. `cut`: send only that many bytes of the body, then close; `delay`: seconds before the
    first byte; `pause`: seconds between single bytes of the body."""

    body: bytes
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    cut: int | None = None
    delay: float = 0.0
    pause: float = 0.0


def completion(texts: str | list[str], body: dict[str, Any] | None = None, **changes: Any) -> dict[str, Any]:
    """The JSON of a good answer to `body`; `changes` replace its top-level fields, None removes one."""
    texts = [texts] if isinstance(texts, str) else texts
    prompt = len(prompt_text(body).split()) if body else 1
    written = sum(len(text.split()) for text in texts)
    values = {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1,
        "model": body["model"] if body else "test-model",
        "choices": [
            {"index": i, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}
            for i, text in enumerate(texts)
        ],
        "usage": {"prompt_tokens": prompt, "completion_tokens": written, "total_tokens": prompt + written},
    }
    return {name: value for name, value in (values | changes).items() if value is not None}


def good(text: str = "fine", *, delay: float = 0.0, pause: float = 0.0, **changes: Any) -> Answer:
    """A good answer, perhaps slow (`delay`) or in single bytes (`pause`), with fields changed (`usage=None`)."""
    return Answer(json.dumps(completion(text, **changes)).encode(), delay=delay, pause=pause)


def cut_off(text: str = "fine", after: int = 40) -> Answer:
    return Answer(json.dumps(completion(text)).encode(), cut=after)


def failure(status: int, message: str = "no", **headers: str) -> Answer:
    """An error as OpenAI words it; headers as keywords: `failure(429, retry_after="1")`."""
    body = {"error": {"message": message, "type": "error", "param": None, "code": None}}
    return Answer(json.dumps(body).encode(), status, {name.replace("_", "-"): text for name, text in headers.items()})


def malformed() -> Answer:
    return Answer(b'{"choices": [{"message": {"content": "fi')


def empty_choices() -> Answer:
    return good(choices=[])


def prompt_text(body: dict[str, Any]) -> str:
    """All texts of a request's messages, one per line."""
    contents = [message["content"] for message in body["messages"]]
    parts = [[{"type": "text", "text": c}] if isinstance(c, str) else c for c in contents]
    return "\n".join(part["text"] for content in parts for part in content if part["type"] == "text")


def embedded(vectors: list[list[float]], body: dict[str, Any]) -> dict[str, Any]:
    """The JSON of a good answer with a vector per text; the last text first, as the order is the endpoint's matter."""
    rows = [{"object": "embedding", "index": i, "embedding": vector} for i, vector in enumerate(vectors)]
    words = sum(len(text.split()) for text in body["input"])
    usage = {"prompt_tokens": words, "total_tokens": words}
    return {"object": "list", "data": rows[::-1], "model": body["model"], "usage": usage}


ANSWERS: dict[str, Callable[..., dict[str, Any]]] = {"/v1/chat/completions": completion, "/v1/embeddings": embedded}


class LlmServer:
    """A running server; `requests`, `headers` and `times` (monotonic seconds) have one entry per request, in order."""

    def __init__(self, reply: ReplyFunction) -> None:
        self.reply = reply
        self.requests: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        self.paths: list[str] = []  # with their queries
        self.times: list[float] = []
        self.busy = 0
        self.most_busy = 0  # requests in work at the same time, at most
        self.lock = threading.Lock()
        self.closing = threading.Event()
        self.http = ThreadingHTTPServer(("127.0.0.1", 0), type("Handler", (_Handler,), {"server_state": self}))
        self.http.daemon_threads = True
        self.url = f"http://127.0.0.1:{self.http.server_address[1]}/v1"


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server_state: LlmServer

    def do_POST(self) -> None:
        state = self.server_state
        raw = self.rfile.read(int(self.headers["Content-Length"]))
        path = self.path.partition("?")[0]
        if path not in ANSWERS:
            self._send(failure(404, f"there is no {self.path}"))
            return
        body = json.loads(raw)
        with state.lock:
            state.requests.append(body)
            state.paths.append(self.path)
            state.headers.append({name.lower(): value for name, value in self.headers.items()})
            state.times.append(time.monotonic())
            state.busy += 1
            state.most_busy = max(state.most_busy, state.busy)
        try:
            given = state.reply(body)
            answer = given if isinstance(given, Answer) else Answer(json.dumps(ANSWERS[path](given, body)).encode())
            state.closing.wait(answer.delay)
        finally:
            with state.lock:
                state.busy -= 1
        try:
            self._send(answer)
        except (BrokenPipeError, ConnectionResetError):  # the client has given up, as some tests want
            self.close_connection = True

    def _send(self, answer: Answer) -> None:
        self.send_response(answer.status)
        for name, value in ({"Content-Type": "application/json"} | answer.headers).items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(answer.body)))
        self.end_headers()
        sent = answer.body if answer.cut is None else answer.body[: answer.cut]
        pieces = [sent[i : i + 1] for i in range(len(sent))] if answer.pause else [sent]
        for piece in pieces:
            self.wfile.write(piece)
            self.wfile.flush()
            if self.server_state.closing.wait(answer.pause):
                break
        if answer.cut is not None:
            self.close_connection = True

    def log_message(self, format: str, *args: Any) -> None:
        """Nothing on standard error."""


@contextmanager
def serve(reply: ReplyFunction) -> Iterator[LlmServer]:
    """The server, until the block ends."""
    server = LlmServer(reply)
    thread = threading.Thread(target=server.http.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.closing.set()
        server.http.shutdown()
        server.http.server_close()
        thread.join()


def in_turn(*replies: "str | list[str] | Answer") -> ReplyFunction:
    """A reply function that gives these one after the other, the last one for ever."""
    left = list(replies)
    lock = threading.Lock()

    def reply(body: dict[str, Any]) -> "str | list[str] | Answer":
        with lock:
            return left.pop(0) if len(left) > 1 else left[0]

    return reply
