"""An S3 in this process."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from io import BytesIO
from typing import Any
from urllib.parse import parse_qs

from moto.server import DomainDispatcherApplication, create_backend_app

from stores.servers.faulty import Answer, Environ, Faulty, Handle, Request, serving

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


class FaultyS3(Faulty):
    """S3 in memory."""

    busy = ("503 Slow Down", "SlowDown")

    def __init__(self, app: Any) -> None:
        super().__init__(app)
        self._kept: list[Keep] = []

    def parse(self, environ: Environ, body: bytes) -> Request:
        return _request(environ, body)

    def error(self, status: str, code: str) -> Answer:
        def answer(handle: Handle, start_response: Any) -> Iterable[bytes]:
            start_response(status, [("Content-Type", "application/xml")])
            return [f"<Error><Code>{code}</Code><Message>told to</Message></Error>".encode()]

        return answer

    def handle(self, environ: Environ, request: Request) -> Handle:
        with self._lock:
            kept = [
                (key, rule.code)
                for key in request.keys or (request.key,) * (request.kind == "DeleteObject")
                if (rule := next((rule for rule in self._kept if rule.take(key)), None))
            ]
        whole = super().handle(environ, request)
        if not kept:
            return whole
        if request.kind == "DeleteObject":
            refuse = self.error(_STATUS[kept[0][1]], kept[0][1])
            return lambda start_response: refuse(whole, start_response)
        return lambda start_response: self._delete_some(
            environ, start_response, request, dict(kept)
        )

    def _delete_some(
        self, environ: Environ, start_response: Any, request: Request, kept: dict[str, str]
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


def _request(environ: Environ, body: bytes) -> Request:
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
    with serving(app) as url:
        yield app, url
