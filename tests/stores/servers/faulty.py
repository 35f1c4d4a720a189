"""A server between Spark and a store: it counts requests, and lets some fail when told to."""

from __future__ import annotations

import logging
import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from io import BytesIO
from typing import Any

from werkzeug.serving import BaseWSGIServer, WSGIRequestHandler, make_server

Environ = dict[str, Any]
Handle = Callable[[Any], Iterable[bytes]]
"""Does what was asked for, given WSGI's function that starts the response."""
Answer = Callable[[Handle, Any], Iterable[bytes]]
# Answers that are held until the request comes again do not wait for ever.
PATIENCE_SECONDS = 60


@dataclass(frozen=True)
class Request:
    """A request: its key, or the prefix of a listing, and the keys of a bulk delete."""

    kind: str
    bucket: str
    key: str
    keys: tuple[str, ...] = ()


Matches = Callable[[Request], bool]


@dataclass
class Fault:
    """What the server does instead of what it was asked for.

    Args:
        matches: Which requests.
        answer: What the server does.
        most: How many times; all, if there is no number.
    """

    matches: Matches
    answer: Answer
    most: int | None = None
    hits: int = 0

    def take(self, request: Request) -> bool:
        if (self.most is not None and self.hits >= self.most) or not self.matches(request):
            return False
        self.hits += 1
        return True


class Faulty(ABC):
    """A WSGI application around another one."""

    busy: tuple[str, str]
    """The status and the code of a store that has too much to do."""

    def __init__(self, app: Any) -> None:
        self._app = app
        self._lock = threading.Lock()
        self._seen: list[Request] = []
        self._faults: list[Fault] = []

    @abstractmethod
    def parse(self, environ: Environ, body: bytes) -> Request: ...

    @abstractmethod
    def error(self, status: str, code: str) -> Answer:
        """Refuse as the store does."""

    def slowing_down(self, kind: str, most: int) -> AbstractContextManager[Fault]:
        """Be too busy for requests of a kind, as the store says it."""
        return self.refusing(lambda request: request.kind == kind, *self.busy, most=most)

    def handle(self, environ: Environ, request: Request) -> Handle:
        return lambda start_response: self._app(environ, start_response)

    def __call__(self, environ: Environ, start_response: Any) -> Iterable[bytes]:
        is_chunked = environ.get("wsgi.input_terminated")
        length = None if is_chunked else int(environ.get("CONTENT_LENGTH") or 0)
        body = environ["wsgi.input"].read(length)
        environ["wsgi.input"] = BytesIO(body)
        request = self.parse(environ, body)
        with self._lock:
            self._seen.append(request)
            fault = next((fault for fault in self._faults if fault.take(request)), None)
        handle = self.handle(environ, request)
        return fault.answer(handle, start_response) if fault else handle(start_response)

    @contextmanager
    def recording(self) -> Iterator[list[Request]]:
        """The requests of a while."""
        with self._lock:
            first = len(self._seen)
        seen: list[Request] = []
        try:
            yield seen
        finally:
            with self._lock:
                seen.extend(self._seen[first:])

    @contextmanager
    def answering(
        self, matches: Matches, answer: Answer, most: int | None = None
    ) -> Iterator[Fault]:
        fault = Fault(matches, answer, most)
        self._faults.append(fault)
        try:
            yield fault
        finally:
            self._faults.remove(fault)

    def refusing(
        self,
        matches: Matches,
        status: str = "403 Forbidden",
        code: str = "AccessDenied",
        most: int | None = None,
    ) -> AbstractContextManager[Fault]:
        return self.answering(matches, self.error(status, code), most)

    def losing(self, matches: Matches, most: int | None = None) -> AbstractContextManager[Fault]:
        """Do what was asked for, and break the connection before the answer."""
        return self.answering(matches, lose_answer, most)

    def breaking(self, matches: Matches, most: int | None = None) -> AbstractContextManager[Fault]:
        """Break the connection, and do nothing."""
        return self.answering(matches, break_connection, most)

    def preceded_by(self, action: Callable[[], object], matches: Matches) -> Any:
        """Let something happen right before the first such request is done."""

        def answer(handle: Handle, start_response: Any) -> Iterable[bytes]:
            action()
            return handle(start_response)

        return self.answering(matches, answer, most=1)

    @contextmanager
    def late(self, matches: Matches) -> Iterator[Fault]:
        """Do the first such request, and answer it only when the client has sent it again."""
        held: list[Request] = []
        again = threading.Event()

        def is_first(request: Request) -> bool:
            if held or not matches(request):
                return False
            held.append(request)
            return True

        def hold(handle: Handle, start_response: Any) -> Iterable[bytes]:
            answer = b"".join(handle(start_response))
            again.wait(PATIENCE_SECONDS)
            return [answer]

        def release(handle: Handle, start_response: Any) -> Iterable[bytes]:
            again.set()
            return handle(start_response)

        with self.answering(is_first, hold), self.answering(held.__contains__, release) as repeated:
            try:
                yield repeated
            finally:
                again.set()


def lose_answer(handle: Handle, start_response: Any) -> Iterable[bytes]:
    b"".join(handle(lambda *_: None))
    raise ConnectionResetError


def break_connection(handle: Handle, start_response: Any) -> Iterable[bytes]:
    raise ConnectionResetError


class Handler(WSGIRequestHandler):
    """Closes a connection that is to break, while the client waits for an answer."""

    def connection_dropped(self, error: BaseException, environ: Environ | None = None) -> None:
        self.close_connection = True


@contextmanager
def serving(app: Any, port: int = 0, handler: type[Handler] = Handler) -> Iterator[str]:
    """Serve an application on a port, a free one if there is no number; its address."""
    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    server: BaseWSGIServer = make_server(
        "127.0.0.1", port, app, threaded=True, request_handler=handler
    )
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        thread.join()
