"""A small web server on 127.0.0.1 for pages of our own: a folder or one document, never anything above it.

Untrusted HTML is never opened by file://, where it could frame any file of the disk.
"""

from __future__ import annotations

import http.server
import mimetypes
import sys
import threading
import urllib.parse
from pathlib import Path
from types import TracebackType
from typing import Any, Self

#: Types that the system's own table may lack or get wrong; a module script of another type does not run.
TYPES = {
    ".html": "text/html; charset=utf-8",
    ".htm": "text/html; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".mjs": "text/javascript; charset=utf-8",
    ".json": "application/json",
    ".svg": "image/svg+xml",
    ".wasm": "application/wasm",
    ".webp": "image/webp",
    ".woff": "font/woff",
    ".woff2": "font/woff2",
}


class _Quiet(http.server.ThreadingHTTPServer):
    """A server whose visitors may go in the middle of an answer, as frames do that a page removes."""

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say nothing of a connection that the browser closed."""
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)


class Server:
    """Serves a folder, or documents by path, from a thread of its own until `close`.

    `documents` are paths ("/", "/second.html") with their HTML; they come before the folder's files.
    """

    def __init__(self, folder: Path | None = None, documents: dict[str, str] | None = None) -> None:
        self.folder = folder.resolve() if folder is not None else None
        self.documents = dict(documents or {})
        self._server = _Quiet(("127.0.0.1", 0), self._handler())
        self._server.daemon_threads = True
        self._server.block_on_close = False
        self.port: int = self._server.server_address[1]
        self.address = f"http://127.0.0.1:{self.port}"
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True)
        self._thread.start()

    def answer(self, path: str) -> tuple[int, str, bytes]:
        """Status, content type and body for a decoded path."""
        if path in self.documents:
            return 200, TYPES[".html"], self.documents[path].encode()
        held = self.file(path)
        if held is None:
            return 404, "text/plain; charset=utf-8", b"not here"
        return 200, content_type(held), held.read_bytes()

    def file(self, path: str) -> Path | None:
        """The file that a path names inside the folder; None where there is none, or where it would lead out."""
        if self.folder is None or "\x00" in path:
            return None
        try:
            held = (self.folder / path.lstrip("/")).resolve()
            if not held.is_relative_to(self.folder):
                return None
            if held.is_dir():
                held = held / "index.html"
            return held if held.is_file() else None
        except OSError:
            return None

    def close(self) -> None:
        """Stop; requests that are still open are dropped."""
        self._server.shutdown()
        self._server.server_close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def _handler(self) -> type[http.server.BaseHTTPRequestHandler]:
        server = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            timeout = 30

            def do_GET(self) -> None:
                path = urllib.parse.unquote(urllib.parse.urlsplit(self.path).path)
                status, kind, body = server.answer(path)
                try:
                    self.send_response(status)
                    self.send_header("Content-Type", kind)
                    self.send_header("Content-Length", str(len(body)))
                    self.send_header("Cache-Control", "no-store")
                    self.end_headers()
                    self.wfile.write(body)
                except OSError:
                    self.close_connection = True  # The browser went away; there is nobody to tell.

            def log_message(self, format: str, *arguments: object) -> None:
                """Says nothing: requests of a page are no news."""

        return Handler


def content_type(path: Path) -> str:
    """The content type of a file, by its ending."""
    return TYPES.get(path.suffix.lower()) or mimetypes.guess_type(path.name)[0] or "application/octet-stream"
