"""An S3 in this process, which counts requests and refuses some when it is told to."""

from __future__ import annotations

import logging
import threading
import xml.etree.ElementTree as ET
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from io import BytesIO
from typing import Any
from urllib.parse import parse_qs

from moto.server import DomainDispatcherApplication, create_backend_app
from werkzeug.serving import BaseWSGIServer, make_server

NAMESPACE = "http://s3.amazonaws.com/doc/2006-03-01/"
# By the keys of the query. The first that fits counts.
_BY_QUERY = {
    ("POST", "delete"): "DeleteObjects",
    ("GET", "list-type"): "ListObjects",
    ("GET", "uploads"): "ListUploads",
    ("POST", "uploads"): "CreateUpload",
    ("PUT", "partNumber"): "UploadPart",
    ("POST", "uploadId"): "CompleteUpload",
    ("DELETE", "uploadId"): "AbortUpload",
}
_STATUS = {"AccessDenied": "403 Forbidden", "InternalError": "500 Internal Server Error"}
_BY_METHOD = {"GET": "GetObject", "HEAD": "HeadObject", "PUT": "PutObject"}


@dataclass(frozen=True)
class Request:
    """A request: its key, or the prefix of a listing, and the keys of a bulk delete."""

    kind: str
    bucket: str
    key: str
    keys: tuple[str, ...] = ()


@dataclass
class Fault:
    """What the server does instead of what it was asked for.

    Args:
        matches: Which requests.
        status: Of the response.
        code: The error.
        most: How many times; all, if there is no number.
    """

    matches: Callable[[Request], bool]
    status: str
    code: str
    most: int | None = None
    hits: int = 0

    def take(self, request: Request) -> bool:
        if (self.most is not None and self.hits >= self.most) or not self.matches(request):
            return False
        self.hits += 1
        return True


@dataclass
class Keep:
    """Keys that are not deleted, each at most so many times. Bulk deletes report them as errors."""

    matches: Callable[[str], bool]
    code: str
    most: int | None = None
    hits: Counter[str] = field(default_factory=Counter)

    def take(self, key: str) -> bool:
        if not self.matches(key) or (self.most is not None and self.hits[key] >= self.most):
            return False
        self.hits[key] += 1
        return True


class FaultyS3:
    """A WSGI application around another one."""

    def __init__(self, app: Any) -> None:
        self._app = app
        self._lock = threading.Lock()
        self._seen: list[Request] = []
        self._faults: list[Fault] = []
        self._kept: list[Keep] = []

    def __call__(self, environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
        body = environ["wsgi.input"].read(int(environ.get("CONTENT_LENGTH") or 0))
        environ["wsgi.input"] = BytesIO(body)
        request = _request(environ, body)
        with self._lock:
            self._seen.append(request)
            fault = next((fault for fault in self._faults if fault.take(request)), None)
            kept = [
                (key, rule.code)
                for key in request.keys or (request.key,) * (request.kind == "DeleteObject")
                if (rule := next((rule for rule in self._kept if rule.take(key)), None))
            ]
        if kept and request.kind == "DeleteObject":
            fault = Fault(bool, _STATUS[kept[0][1]], kept[0][1])
        if fault:
            start_response(fault.status, [("Content-Type", "application/xml")])
            return [f"<Error><Code>{fault.code}</Code><Message>told to</Message></Error>".encode()]
        if kept:
            return self._delete_some(environ, start_response, request, dict(kept))
        return self._app(environ, start_response)

    def _delete_some(
        self, environ: dict[str, Any], start_response: Any, request: Request, kept: dict[str, str]
    ) -> Iterable[bytes]:
        others = [key for key in request.keys if key not in kept]
        errors = "".join(
            f"<Error><Key>{_escaped(key)}</Key>"
            f"<Code>{code}</Code><Message>told to</Message></Error>"
            for key, code in kept.items()
        )
        if others:
            objects = "".join(f"<Object><Key>{_escaped(key)}</Key></Object>" for key in others)
            body = f'<Delete xmlns="{NAMESPACE}"><Quiet>true</Quiet>{objects}</Delete>'.encode()
            inner = {**environ, "wsgi.input": BytesIO(body), "CONTENT_LENGTH": str(len(body))}
            statuses: list[str] = []
            b"".join(self._app(inner, lambda status, *_: statuses.append(status)))
            assert statuses[0].startswith("200"), statuses
        start_response("200 OK", [("Content-Type", "application/xml")])
        return [f'<DeleteResult xmlns="{NAMESPACE}">{errors}</DeleteResult>'.encode()]

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
    def refusing(
        self,
        matches: Callable[[Request], bool],
        status: str = "403 Forbidden",
        code: str = "AccessDenied",
        most: int | None = None,
    ) -> Iterator[Fault]:
        fault = Fault(matches, status, code, most)
        self._faults.append(fault)
        try:
            yield fault
        finally:
            self._faults.remove(fault)

    def slowing_down(self, kind: str, most: int) -> Any:
        return self.refusing(
            lambda request: request.kind == kind, "503 Slow Down", "SlowDown", most
        )

    @contextmanager
    def keeping(
        self, matches: Callable[[str], bool], code: str = "AccessDenied", most: int | None = None
    ) -> Iterator[Keep]:
        keep = Keep(matches, code, most)
        self._kept.append(keep)
        try:
            yield keep
        finally:
            self._kept.remove(keep)


def _escaped(key: str) -> str:
    return key.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def _request(environ: dict[str, Any], body: bytes) -> Request:
    query = parse_qs(environ.get("QUERY_STRING", ""), keep_blank_values=True)
    # WSGI has the bytes of a path as Latin-1.
    path = environ["PATH_INFO"].encode("latin-1").decode()
    bucket, _, key = path.lstrip("/").partition("/")
    method = environ["REQUEST_METHOD"]
    kind = next(
        (kind for (m, word), kind in _BY_QUERY.items() if m == method and word in query), ""
    )
    keys: tuple[str, ...] = ()
    if kind == "DeleteObjects":
        keys = tuple(
            element.text or ""
            for element in ET.fromstring(body).iter()
            if element.tag.endswith("Key")
        )
    if method == "DELETE" and not kind:
        kind = "DeleteObject"
    return Request(
        kind or _BY_METHOD.get(method, method), bucket, key or query.get("prefix", [""])[0], keys
    )


@contextmanager
def started() -> Iterator[tuple[FaultyS3, str]]:
    """Start a server on a free port; what it does, and its address."""
    app = FaultyS3(DomainDispatcherApplication(create_backend_app))
    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    server: BaseWSGIServer = make_server("127.0.0.1", 0, app, threaded=True)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield app, f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        thread.join()
