"""A proxy before a server: requests fail, and files look older, when it is told to."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from http.client import HTTPConnection
from pathlib import Path
from typing import Any

from stores.servers.faulty import Environ, Faulty, Handle, Handler, Request

HEADERS = "stores.headers"
START_SECONDS = 60
# They are about one connection.
_HOP_BY_HOP = {"connection", "keep-alive", "transfer-encoding"}


class RawHeaders(Handler):
    """WSGI takes an underscore in the name of a header for a hyphen."""

    def make_environ(self) -> Environ:
        return {**super().make_environ(), HEADERS: self.headers.items()}


class Proxy(Faulty):
    """Passes requests on to a server on a port of this machine."""

    changes: frozenset[str]
    """The kinds of requests that make a file anew."""

    def __init__(self, port: int) -> None:
        super().__init__(self._pass_on)
        self._port = port
        self._times: dict[str, float] = {}

    def set_time(self, key: str, when: float) -> None:
        """Have a file look as old as it is told to, until it is written again."""
        self._times[key] = when

    def handle(self, environ: Environ, request: Request) -> Handle:
        if request.kind in self.changes:
            self._times.pop(request.key, None)
        return super().handle(environ, request)

    def aged(self, request: Request, headers: dict[str, str], body: bytes) -> bytes:
        """An answer with the times that files are to have, in its headers too."""
        raise NotImplementedError

    def _pass_on(self, environ: Environ, start_response: Any) -> Iterable[bytes]:
        body = environ["wsgi.input"].read()
        server = HTTPConnection("127.0.0.1", self._port)
        try:
            server.putrequest(
                environ["REQUEST_METHOD"],
                environ["REQUEST_URI"],
                skip_host=True,
                skip_accept_encoding=True,
            )
            for name, value in environ[HEADERS]:
                if name.lower() not in _HOP_BY_HOP:
                    server.putheader(name, value)
            if environ.get("wsgi.input_terminated"):
                server.putheader("Content-Length", str(len(body)))
            server.endheaders(body)
            answer = server.getresponse()
            data = answer.read()
        finally:
            server.close()
        headers = {
            name.lower(): value
            for name, value in answer.getheaders()
            if name.lower() not in _HOP_BY_HOP
        }
        if self._times and answer.status < 300:
            data = self.aged(self.parse(environ, body), headers, data)
            if environ["REQUEST_METHOD"] != "HEAD":
                headers["content-length"] = str(len(data))
        start_response(f"{answer.status} {answer.reason or 'None'}", list(headers.items()))
        return [data]


@contextmanager
def process(command: Sequence[str | Path], port: int, log: Path) -> Iterator[None]:
    """Run a server until it is not needed any more."""
    with log.open("w") as output:
        server = subprocess.Popen(
            [str(part) for part in command], stdout=output, stderr=subprocess.STDOUT
        )
        try:
            _wait_for(port, server, log)
            yield
        finally:
            server.terminate()
            server.wait()


def _wait_for(port: int, server: subprocess.Popen[bytes], log: Path) -> None:
    end = time.monotonic() + START_SECONDS
    while True:
        connection = HTTPConnection("127.0.0.1", port)
        try:
            return connection.connect()
        except ConnectionRefusedError:
            assert server.poll() is None and time.monotonic() < end, log.read_text()
            time.sleep(0.1)
        finally:
            connection.close()
