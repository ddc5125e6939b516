"""A small HTTP server that speaks as much of the Hub's protocol as publishing and loading need, with faults.

Large files lie on disk, so that the server's memory says nothing about the client's. Xet is another protocol: clients
set HF_HUB_DISABLE_XET=1. Run as a program it prints its address and serves until its input closes.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
import sys
import tempfile
import threading
import time
import urllib.parse
from collections.abc import Callable
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import TracebackType
from typing import Any, Self

_LARGE = (".parquet", ".bin", ".png", ".safetensors")


@dataclass
class Fault:
    """What happens to a request whose `METHOD /path` matches, `times` times, after it has matched `after` times."""

    match: str
    status: int = 0  # answer this; 0: another kind of fault
    kind: str = (
        "status"  # status; cut: half of the body; slow: a byte now and then; hang: nothing; lost: done, not told
    )
    times: int = 1
    after: int = 0
    headers: dict[str, str] = field(default_factory=dict)


@dataclass
class Repo:
    """A repository: a tree for each commit, path -> (bytes, or sha256 of a large file)."""

    private: bool
    commits: list[dict[str, bytes | str]] = field(default_factory=lambda: [{}])
    messages: list[str] = field(default_factory=lambda: ["initial commit"])
    tags: dict[str, str] = field(default_factory=dict)
    gated: bool = False


class Hub:
    """The server; a context manager. `token` is the one that may write."""

    def __init__(self, token: str = "hf_test") -> None:
        self.token = token
        self.repos: dict[str, Repo] = {}
        self.calls: list[str] = []
        self.faults: list[Fault] = []
        self.taken = 0  # large files whose bytes were sent
        self.renamed: dict[str, str] = {}  # old name -> new name of a repository
        self.models: set[str] = set()  # names that stand for models
        self.scope = "write"  # of the token
        self.on_call: Callable[[str], None] = lambda call: None
        self._folder = tempfile.TemporaryDirectory()
        self._lock = threading.Lock()
        hub = self

        class Handler(_Handler):
            pass

        Handler.hub = hub
        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self.server.server_port}"

    def __enter__(self) -> Self:
        threading.Thread(target=self.server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.server.shutdown()
        self.server.server_close()
        self._folder.cleanup()

    def forget(self) -> None:
        """As it was when it began."""
        for held in (self.repos, self.calls, self.faults, self.renamed, self.models):
            held.clear()
        self.scope = "write"
        self.on_call = lambda call: None
        self.taken = 0
        for path in Path(self._folder.name).iterdir():
            path.unlink()

    def blob(self, sha256: str) -> Path:
        return Path(self._folder.name) / sha256

    def commit_id(self, repo: str, number: int = -1) -> str:
        """Names a commit by what it holds and by its place, so that equal histories have equal names."""
        commits = self.repos[repo].commits
        number %= len(commits)
        tree = [
            (path, held if isinstance(held, str) else _git_oid(held)) for path, held in sorted(commits[number].items())
        ]
        return hashlib.sha1(json.dumps([repo, number, tree]).encode()).hexdigest()

    def tree(self, repo: str, revision: str) -> dict[str, bytes | str] | None:
        held = self.repos[repo]
        revision = held.tags.get(revision, revision)
        if revision == "main":
            return held.commits[-1]
        return next((tree for n, tree in enumerate(held.commits) if self.commit_id(repo, n) == revision), None)

    def files(self, repo: str, revision: str = "main") -> dict[str, str]:
        """Path -> sha256 of the bytes."""
        held = self.tree(repo, revision)
        assert held is not None
        return {p: b if isinstance(b, str) else hashlib.sha256(b).hexdigest() for p, b in sorted(held.items())}

    def read(self, repo: str, path: str) -> bytes:
        held = self.repos[repo].commits[-1][path]
        return self.blob(held).read_bytes() if isinstance(held, str) else held

    def put(self, repo: str, files: dict[str, bytes], *, private: bool = True) -> None:
        """Make a repository, or one more commit of it, past the protocol."""
        held = self.repos.setdefault(repo, Repo(private=private))
        tree = dict(held.commits[-1])
        for path, data in files.items():
            tree[path] = self.keep(data) if path.endswith(_LARGE) else data
        held.commits.append(tree)
        held.messages.append("put")

    def keep(self, data: bytes) -> str:
        sha256 = hashlib.sha256(data).hexdigest()
        self.blob(sha256).write_bytes(data)
        return sha256

    def fault(self, call: str) -> Fault | None:
        with self._lock:
            for one in self.faults:
                if re.search(one.match, call) and one.times:
                    if one.after:
                        one.after -= 1
                        continue
                    one.times -= 1
                    return one
        return None


def _git_oid(data: bytes) -> str:
    return hashlib.sha1(b"blob %d\0" % len(data) + data).hexdigest()


class _Handler(BaseHTTPRequestHandler):
    hub: Hub
    protocol_version = "HTTP/1.1"

    def log_message(self, format: str, *args: Any) -> None:
        pass

    def _any(self) -> None:
        address = urllib.parse.urlsplit(self.path)
        self.query = urllib.parse.parse_qs(address.query)
        path = urllib.parse.unquote(address.path)
        call = f"{self.command} {path}"
        self.hub.calls.append(call)
        self.hub.on_call(call)
        self.held = self.hub.fault(call)
        if match := re.fullmatch(r"/lfs/([0-9a-f]{64})", path):
            return self._large(match[1])
        body = self._body()
        if self.held and self.held.kind == "status":
            return self.answer(self.held.status, {"error": "injected"}, self.held.headers)
        if self.held and self.held.kind == "hang":
            time.sleep(3)
            self.close_connection = True
            return None
        for old, new in self.hub.renamed.items():
            if f"/{old}" in path:
                return self.answer(307, {}, {"Location": self.hub.url + self.path.replace(old, new)})
        for pattern, method in _ROUTES:
            if match := re.fullmatch(pattern, path):
                method(self, body, *match.groups())
                return None
        return self.answer(404, {"error": f"no route {call}"}, {"X-Error-Code": "EntryNotFound"})

    do_GET = do_POST = do_PUT = do_HEAD = do_DELETE = _any

    def _body(self) -> bytes:
        return self.rfile.read(int(self.headers.get("Content-Length") or 0))

    def answer(
        self, status: int, told: Any = None, headers: dict[str, str] | None = None, data: bytes | None = None
    ) -> None:
        body = data if data is not None else json.dumps(told).encode()
        if self.held and self.held.kind == "lost":
            self.close_connection = True
            return
        self.send_response(status)
        for name, value in {"Content-Type": "application/json", **(headers or {})}.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command == "HEAD":
            return
        if self.held and self.held.kind == "cut":
            self.wfile.write(body[: len(body) // 2])
            self.close_connection = True
        elif self.held and self.held.kind == "slow":
            for byte in body:
                self.wfile.write(bytes([byte]))
                self.wfile.flush()
                time.sleep(0.1)
        else:
            self.wfile.write(body)

    def _large(self, sha256: str) -> None:
        """The bytes of a large file, streamed to disk."""
        left = int(self.headers.get("Content-Length") or 0)
        if self.held and self.held.kind == "cut":
            self.rfile.read(left // 2)
            self.close_connection = True
            self.connection.close()
            return
        part = self.hub.blob(f"{sha256}.{threading.get_ident()}")
        digest = hashlib.sha256()
        with part.open("wb") as file:
            while left:
                some = self.rfile.read(min(left, 1 << 20))
                if not some:
                    part.unlink()
                    return
                left -= len(some)
                digest.update(some)
                file.write(some)
        if self.held and self.held.kind == "status":
            return self.answer(self.held.status, {"error": "injected"}, self.held.headers)
        if digest.hexdigest() != sha256:
            return self.answer(400, {"error": "other bytes than announced"})
        part.rename(self.hub.blob(sha256))
        self.hub.taken += 1
        return self.answer(200, {})

    def allowed(self, repo: str, *, write: bool) -> bool:
        """Whether the caller may; otherwise the Hub's answer is given."""
        token = self.headers.get("Authorization", "").removeprefix("Bearer ")
        if token and token != self.hub.token:
            self.answer(
                401,
                {"error": "Invalid credentials"},
                {"X-Error-Message": "Invalid credentials in Authorization header"},
            )
            return False
        held = self.hub.repos.get(repo)
        if held is None or (held.private and not token):
            self.answer(404 if token else 401, {"error": "Repository not found"}, {"X-Error-Code": "RepoNotFound"})
            return False
        if write and (not token or self.hub.scope != "write"):
            self.answer(403, {"error": "no write access"})
            return False
        return True

    def create(self, body: bytes) -> None:
        asked = json.loads(body)
        if self.headers.get("Authorization") != f"Bearer {self.hub.token}":
            return self.answer(401, {"error": "Invalid credentials"})
        repo = f"{asked.get('organization') or 'tester'}/{asked['name']}"
        if self.hub.scope != "write":
            return self.answer(403, {"error": "You don't have the rights to create a dataset"})
        if repo in self.hub.repos or repo in self.hub.models:
            return self.answer(409, {"error": "You already created this dataset repo"})
        private = asked.get("visibility") == "private" or bool(asked.get("private"))
        self.hub.repos[repo] = Repo(private=private)
        return self.answer(200, {"url": f"{self.hub.url}/datasets/{repo}", "name": repo, "id": repo})

    def info(self, body: bytes, repo: str, revision: str | None = None) -> None:
        if not self.allowed(repo, write=False):
            return None
        held, tree = self.hub.repos[repo], self.hub.tree(repo, revision or "main")
        if tree is None:
            return self.answer(404, {"error": "Invalid rev"}, {"X-Error-Code": "RevisionNotFound"})
        number = next(n for n, one in enumerate(held.commits) if one is tree)
        told: dict[str, Any] = {
            "_id": "1",
            "id": repo,
            "author": repo.split("/")[0],
            "sha": self.hub.commit_id(repo, number),
        }
        told |= {
            "private": held.private,
            "gated": held.gated and "auto",
            "disabled": False,
            "downloads": 0,
            "likes": 0,
            "tags": [],
        }
        told |= {"lastModified": "2026-01-01T00:00:00.000Z", "createdAt": "2026-01-01T00:00:00.000Z"}
        return self.answer(200, told | {"siblings": [{"rfilename": path} for path in sorted(tree)]})

    def _entry(self, path: str, held: bytes | str) -> dict[str, Any]:
        if isinstance(held, bytes):
            return {"type": "file", "path": path, "size": len(held), "oid": _git_oid(held)}
        size = self.hub.blob(held).stat().st_size
        pointer = f"version https://git-lfs.github.com/spec/v1\noid sha256:{held}\nsize {size}\n".encode()
        large = {"oid": held, "size": size, "pointerSize": len(pointer)}
        return {"type": "file", "path": path, "size": size, "oid": _git_oid(pointer), "lfs": large}

    def listing(self, body: bytes, repo: str, revision: str, base: str | None) -> None:
        if not self.allowed(repo, write=False):
            return None
        tree, base = self.hub.tree(repo, revision) or {}, (base or "").strip("/")
        recursive = self.query.get("recursive", ["false"])[0].lower() in ("true", "1")
        found: list[dict[str, Any]] = []
        for path, held in sorted(tree.items()):
            if base and not path.startswith(f"{base}/"):
                continue
            parts = path[len(base) + 1 if base else 0 :].split("/")
            for depth in range(1, len(parts) if recursive else min(2, len(parts))):
                folder = "/".join([*([base] if base else []), *parts[:depth]])
                if all(one["path"] != folder for one in found):
                    found.append({"type": "directory", "path": folder, "oid": "0" * 40, "size": 0})
            if recursive or len(parts) == 1:
                found.append(self._entry(path, held))
        if base and not found:
            return self.answer(404, {"error": "not found"}, {"X-Error-Code": "EntryNotFound"})
        return self.answer(200, found)

    def paths_info(self, body: bytes, repo: str, revision: str) -> None:
        if not self.allowed(repo, write=False):
            return None
        asked = (
            urllib.parse.parse_qs(body.decode()).get("paths")
            if not body.startswith(b"{")
            else json.loads(body)["paths"]
        )
        tree = self.hub.tree(repo, revision) or {}
        found = []
        for path in [asked] if isinstance(asked, str) else asked or []:
            if path in tree:
                found.append(self._entry(path, tree[path]))
            elif any(one.startswith(f"{path.rstrip('/')}/") for one in tree):
                found.append({"type": "directory", "path": path, "oid": "0" * 40, "size": 0})
        return self.answer(200, found)

    def resolve(self, body: bytes, repo: str, revision: str, path: str) -> None:
        if not self.allowed(repo, write=False):
            return None
        tree = self.hub.tree(repo, revision)
        if tree is None or path not in tree:
            code = "RevisionNotFound" if tree is None else "EntryNotFound"
            return self.answer(404, {"error": "not found"}, {"X-Error-Code": code})
        number = next(n for n, one in enumerate(self.hub.repos[repo].commits) if one is tree)
        held = tree[path]
        data = self.hub.blob(held).read_bytes() if isinstance(held, str) else held
        oid = held if isinstance(held, str) else _git_oid(held)
        headers = {"X-Repo-Commit": self.hub.commit_id(repo, number), "ETag": f'"{oid}"', "Accept-Ranges": "bytes"}
        headers["Content-Type"] = "application/octet-stream"
        if isinstance(held, str):
            headers |= {"X-Linked-Etag": f'"{oid}"', "X-Linked-Size": str(len(data))}
        status = 200
        if self.command == "GET" and (asked := re.fullmatch(r"bytes=(\d+)-(\d*)", self.headers.get("Range", ""))):
            first, last = int(asked[1]), min(int(asked[2] or len(data) - 1), len(data) - 1)
            headers["Content-Range"] = f"bytes {first}-{last}/{len(data)}"
            status, data = 206, data[first : last + 1]
        return self.answer(status, headers=headers, data=data)

    def preupload(self, body: bytes, repo: str) -> None:
        if not self.allowed(repo, write=True):
            return
        tree, told = self.hub.repos[repo].commits[-1], []
        for one in json.loads(body)["files"]:
            held = tree.get(one["path"])
            oid = held if held is None or isinstance(held, str) else _git_oid(held)
            mode = "lfs" if one["path"].endswith(_LARGE) else "regular"
            told.append({"path": one["path"], "uploadMode": mode, "shouldIgnore": False, "oid": oid})
        self.answer(200, {"files": told})

    def batch(self, body: bytes, repo: str) -> None:
        if not self.allowed(repo, write=True):
            return
        told = []
        for one in json.loads(body)["objects"]:
            entry = {"oid": one["oid"], "size": one["size"], "authenticated": True}
            if not self.hub.blob(one["oid"]).exists():
                entry["actions"] = {
                    "upload": {"href": f"{self.hub.url}/lfs/{one['oid']}", "header": {}},
                    "verify": {"href": f"{self.hub.url}/verify", "header": {}},
                }
            told.append(entry)
        self.answer(200, {"transfer": "basic", "objects": told}, {"Content-Type": "application/vnd.git-lfs+json"})

    def commit(self, body: bytes, repo: str) -> None:
        if not self.allowed(repo, write=True):
            return None
        held = self.hub.repos[repo]
        lines = [json.loads(line) for line in body.splitlines() if line]
        head = next(one["value"] for one in lines if one["key"] == "header")
        if head.get("parentCommit") not in (None, self.hub.commit_id(repo)):
            return self.answer(412, {"error": "A commit has happened since. Please refresh and try again."})
        tree = dict(held.commits[-1])
        for one in lines:
            value = one["value"]
            if one["key"] == "file":
                tree[value["path"]] = base64.b64decode(value["content"])
            elif one["key"] == "lfsFile":
                if not self.hub.blob(value["oid"]).exists():
                    return self.answer(400, {"error": f"large file {value['oid']} was not uploaded"})
                tree[value["path"]] = value["oid"]
            elif one["key"] == "deletedFile":
                if value["path"] not in tree:
                    return self.answer(404, {"error": "A file with this name doesn't exist"})
                del tree[value["path"]]
        held.commits.append(tree)
        held.messages.append(head["summary"])
        oid = self.hub.commit_id(repo)
        return self.answer(
            200, {"success": True, "commitOid": oid, "commitUrl": f"{self.hub.url}/datasets/{repo}/commit/{oid}"}
        )

    def refs(self, body: bytes, repo: str) -> None:
        if self.allowed(repo, write=False):
            main = {"name": "main", "ref": "refs/heads/main", "targetCommit": self.hub.commit_id(repo)}
            tags = self.hub.repos[repo].tags.items()
            told = [{"name": name, "ref": f"refs/tags/{name}", "targetCommit": commit} for name, commit in tags]
            self.answer(200, {"branches": [main], "converts": [], "tags": told})

    def tag(self, body: bytes, repo: str, revision: str) -> None:
        if not self.allowed(repo, write=True):
            return None
        name, tags = json.loads(body)["tag"], self.hub.repos[repo].tags
        if name in tags:
            return self.answer(409, {"error": "tag exists"})
        tags[name] = self.hub.commit_id(repo) if revision == "main" else revision
        return self.answer(200, {})

    def fine(self, body: bytes) -> None:
        self.answer(200, {"errors": [], "warnings": []})

    def user(self, body: bytes) -> None:
        token = {"type": "access_token", "accessToken": {"role": "write", "displayName": "test"}}
        self.answer(200, {"type": "user", "name": "tester", "orgs": [], "auth": token})


_REPO = r"/api/(?:datasets|models)/([^/]+/[^/]+)"
_ROUTES: tuple[tuple[str, Callable[..., None]], ...] = (
    (r"/api/repos/create", _Handler.create),
    (r"/api/validate-yaml", _Handler.fine),
    (r"/verify", _Handler.fine),
    (r"/api/whoami-v2", _Handler.user),
    (_REPO, _Handler.info),
    (rf"{_REPO}/revision/([^/]+)", _Handler.info),
    (rf"{_REPO}/tree/([^/]+)(/.*)?", _Handler.listing),
    (rf"{_REPO}/paths-info/([^/]+)", _Handler.paths_info),
    (rf"{_REPO}/preupload/main", _Handler.preupload),
    (rf"{_REPO}/commit/main", _Handler.commit),
    (rf"{_REPO}/refs", _Handler.refs),
    (rf"{_REPO}/tag/([^/]+)", _Handler.tag),
    (r"(?:/datasets)?/([^/]+/[^/]+)\.git/info/lfs/objects/batch", _Handler.batch),
    (r"(?:/datasets)?/([^/]+/[^/]+)/resolve/([^/]+)/(.+)", _Handler.resolve),
)


def main() -> None:
    """Serve until the input closes; the address on the first line of the output."""
    with Hub() as hub:
        print(hub.url, flush=True)
        sys.stdin.read()
        print(json.dumps({repo: hub.files(repo) for repo in hub.repos}), flush=True)


if __name__ == "__main__":
    main()
