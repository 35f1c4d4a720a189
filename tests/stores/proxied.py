"""The stores whose servers are processes of their own, behind a proxy."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import quote, urlencode
from urllib.request import Request as HttpRequest
from urllib.request import urlopen

from stores.profiles import Store
from stores.servers import azure
from stores.servers.faulty import Request
from stores.servers.proxy import Proxy


def send(url: str, method: str = "GET", body: bytes | None = None, **headers: str) -> bytes:
    names = {name.replace("_", "-"): value for name, value in headers.items()}
    with urlopen(HttpRequest(url, body, names, method=method)) as answer:
        data: bytes = answer.read()
    return data


class Proxied(Store):
    """Spark comes through the proxy, and tests come behind it."""

    writes: frozenset[str]
    """The kinds of requests that bring data."""

    def __init__(self, root: str, server: Proxy) -> None:
        super().__init__(root)
        self.server = server

    def prefix(self, table: str) -> str:
        return table.removeprefix(f"{self.root}/") + "/"

    def set_time(self, table: str, name: str, when: float) -> None:
        self.server.set_time(self.prefix(table) + name, when)

    def full(self, table: str) -> Any:
        prefix = self.prefix(table)

        def is_data(request: Request) -> bool:
            return (
                request.kind in self.writes
                and request.key.startswith(prefix)
                and not request.key.startswith(f"{prefix}_delta_log")
            )

        return self.server.refusing(is_data)

    def leftovers(self, table: str) -> list[str]:
        """The store itself ends what nobody finishes."""
        return []


class Azure(Proxied):
    writes = frozenset({"PutBlock", "PutBlockList"})

    def __init__(self, server: Proxy, behind: str, container: str) -> None:
        super().__init__(f"abfs://{container}@{azure.ACCOUNT}.dfs.core.windows.net", server)
        self._container = f"{behind}/{container}"
        send(self._url(restype="container"), "PUT")

    def _url(self, key: str = "", **query: str) -> str:
        pairs = f"{azure.signature()}&{urlencode(query)}"
        return f"{self._container}{'/' * bool(key)}{quote(key)}?{pairs}"

    def files(self, table: str) -> dict[str, int]:
        prefix = self.prefix(table)
        listing = self._url(restype="container", comp="list", include="metadata", prefix=prefix)
        found, marker = {}, ""
        while True:
            page = send(f"{listing}&{urlencode({'marker': marker})}")
            for key, size, is_directory in azure.entries(page):
                if not is_directory:
                    found[key[len(prefix) :]] = size
            following = re.search(rb"<NextMarker>(.+?)</NextMarker>", page)
            if not following:
                return found
            marker = following[1].decode()

    def read(self, table: str, name: str) -> bytes:
        return send(self._url(self.prefix(table) + name))

    def put(self, table: str, files: Mapping[str, bytes]) -> None:
        for name, data in files.items():
            url = self._url(self.prefix(table) + name)
            send(url, "PUT", data, x_ms_blob_type="BlockBlob", Content_Type="")


class Gcs(Proxied):
    writes = frozenset({"Create", "Upload"})

    def __init__(self, server: Proxy, behind: str, bucket: str) -> None:
        super().__init__(f"gs://{bucket}", server)
        self._behind = behind
        self._bucket = bucket
        made = json.dumps({"name": bucket}).encode()
        send(f"{behind}/storage/v1/b?project=p", "POST", made, Content_Type="application/json")

    def files(self, table: str) -> dict[str, int]:
        prefix = self.prefix(table)
        found = self._entries(prefix)
        # Not the markers of directories.
        return {
            entry["name"][len(prefix) :]: int(entry["size"])
            for entry in found
            if not entry["name"].endswith("/")
        }

    def _entries(self, prefix: str) -> Iterator[dict[str, Any]]:
        query = {"prefix": prefix}
        while True:
            url = f"{self._behind}/storage/v1/b/{self._bucket}/o?{urlencode(query)}"
            page = json.loads(send(url))
            yield from page.get("items", ())
            if "nextPageToken" not in page:
                return
            query["pageToken"] = page["nextPageToken"]

    def read(self, table: str, name: str) -> bytes:
        key = quote(self.prefix(table) + name, safe="")
        return send(f"{self._behind}/storage/v1/b/{self._bucket}/o/{key}?alt=media")

    def put(self, table: str, files: Mapping[str, bytes]) -> None:
        upload = f"{self._behind}/upload/storage/v1/b/{self._bucket}/o?"
        for name, data in files.items():
            query = urlencode({"uploadType": "media", "name": self.prefix(table) + name})
            send(upload + query, "POST", data, Content_Type="application/octet-stream")
