"""A dataset or model repository on a Hub: every call has a time limit, is tried again where that may help, and fails in words.

The Hub is whatever `HF_ENDPOINT` names when `huggingface_hub` is first imported.
"""

from __future__ import annotations

import email.utils
import tempfile
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Annotated, Any, Literal, TypeVar

from cuadata.errors import CallError
from cuadata.publishing.hub_plan import Visibility

T = TypeVar("T")
#: Answers that may be another one the next time.
_AGAIN = (408, 425, 429, 500, 502, 503, 504)
#: Longest wait that a Hub can mean, seconds: limits there are counted by the hour at most.
_LONGEST = 2 * 86_400.0
#: Slowest upload that is waited for, bytes a second.
_SLOWEST = 50_000


class RemoteError(ValueError):
    """The Hub refused, failed, or did not answer: exit code 1. `status` is the HTTP status; None: there was no answer."""

    exit_code = 1

    def __init__(self, message: str, *, status: int | None = None) -> None:
        super().__init__(message)
        self.status = status


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """How long a Hub is waited for."""

    silence: Annotated[float, "seconds without a byte before a connection is given up"] = 30.0
    call: Annotated[float, "seconds that a call may take in all, the bytes it uploads not counted"] = 120.0
    tries: Annotated[int, "times that a call is made before it has failed"] = 4
    wait: Annotated[float, "longest wait that a Hub may ask for between two tries, seconds"] = 300.0


@dataclass(frozen=True, slots=True, kw_only=True)
class RemoteFile:
    """A file of the repository at one commit."""

    oid: Annotated[str, "git object of the file, or of its pointer"]
    sha256: Annotated[str | None, "of the bytes, for large files; None for those that git holds itself"]
    size: Annotated[int, "bytes"]


class Remote:
    """One repository, of a dataset or a model. The token is the user's own, as `hf auth login` or HF_TOKEN set it; it is never shown."""

    def __init__(
        self, repo: str, *, limits: Limits | None = None, kind: Literal["dataset", "model"] = "dataset"
    ) -> None:
        from huggingface_hub import HfApi

        check_name(repo)
        _check_token()
        self.repo = repo
        self.kind = kind
        self.limits = limits or Limits()
        self.sent = False  # whether anything was: until then nothing is kept of what fails
        self.api = HfApi()
        self.endpoint: str = self.api.endpoint

    def state(self) -> tuple[Visibility, str | None]:
        """Visibility and newest commit, as the Hub says now. RemoteError where it says neither.

        CallError where the repository has another name by now: what is asked for under the old one would land there.
        """
        try:
            info = self._call("looking up the repository", self._info)
        except RemoteError as error:
            if error.status == 404:
                return "none", None
            raise
        if info.id != self.repo:
            raise CallError(f"{self.repo} is called {info.id} by now; nothing was uploaded; give that name")
        private = getattr(info, "private", None)
        if not isinstance(private, bool):
            raise RemoteError(f"{self.endpoint} does not say whether {self.repo} is private; nothing was uploaded")
        return ("private" if private else "public"), info.sha

    def _info(self) -> Any:
        return self.api.repo_info(self.repo, repo_type=self.kind, timeout=self.limits.silence)

    def create(self, *, private: bool) -> None:
        """Make the repository. One that has come to be in the meantime is no error: the visibility is read back next."""
        try:
            self._call(
                "creating the repository",
                lambda: self.api.create_repo(self.repo, repo_type=self.kind, private=private),
            )
        except RemoteError as error:
            if error.status != 409:
                raise

    def files(self, commit: str) -> dict[str, RemoteFile]:
        """Every file at a commit."""
        from huggingface_hub.hf_api import RepoFile

        def listed() -> dict[str, RemoteFile]:
            tree = self.api.list_repo_tree(self.repo, repo_type=self.kind, revision=commit, recursive=True)
            return {
                one.path: RemoteFile(oid=one.blob_id, sha256=one.lfs.sha256 if one.lfs else None, size=one.size)
                for one in tree
                if isinstance(one, RepoFile)
            }

        return self._call("listing the files", listed)

    def read(self, path: str, commit: str) -> bytes:
        """The bytes of a small file at a commit."""

        def got() -> bytes:
            with tempfile.TemporaryDirectory() as folder:
                file = self.api.hf_hub_download(self.repo, path, repo_type=self.kind, revision=commit, local_dir=folder)
                return Path(file).read_bytes()

        return self._call(f"reading {path}", got)

    def upload(self, addition: Any) -> None:
        """Send the bytes of one large file ahead of the commit; what the Hub holds already is not sent again."""
        self.sent = True
        seconds = self.limits.call + addition.upload_info.size / _SLOWEST
        self._call(
            f"uploading {addition.path_in_repo}",
            lambda: self.api.preupload_lfs_files(self.repo, [addition], repo_type=self.kind, num_threads=1),
            seconds=seconds,
        )

    def commit(self, operations: Sequence[Any], *, message: str, parent: str) -> str:
        """Make one commit on top of `parent` and nothing else; the new commit. RemoteError 409 where another came first."""

        def made() -> str:
            done: Any = self.api.create_commit(
                self.repo,
                operations,
                commit_message=message,
                repo_type=self.kind,
                parent_commit=parent,
                num_threads=1,
            )
            return str(done.oid)

        self.sent = True
        return self._call("making the commit", made)

    def tags(self) -> dict[str, str]:
        """Tag -> the commit that it names."""
        refs = self._call("listing the tags", lambda: self.api.list_repo_refs(self.repo, repo_type=self.kind))
        return {tag.name: tag.target_commit for tag in refs.tags}

    def tag(self, name: str, commit: str) -> None:
        """Name a commit; a tag that is there already is left as it is."""
        self._call(
            f"setting the tag {name}",
            lambda: self.api.create_tag(self.repo, tag=name, revision=commit, repo_type=self.kind, exist_ok=True),
        )

    def call(self, what: str, function: Callable[[], T], *, seconds: float) -> T:
        """Any other call, which may take `seconds`."""
        return self._call(what, function, seconds=seconds)

    def _call(self, what: str, function: Callable[[], T], *, seconds: float | None = None) -> T:
        limit = self.limits.call if seconds is None else seconds
        for left in range(self.limits.tries - 1, -1, -1):
            try:
                with _limited_connections(self.limits):
                    return _within(limit, function)
            except Exception as error:
                status = _status(error)
                if status is None and not _is_network(error):
                    raise
                wait = self._wait(error, self.limits.tries - 1 - left)
                if not left or (status is not None and status not in _AGAIN) or wait > self.limits.wait:
                    raise RemoteError(self._words(what, error, status, wait), status=status) from error
                time.sleep(wait)
        raise AssertionError("the last try returns or raises")

    def _wait(self, error: Exception, tried: int) -> float:
        """Seconds until the next try: what the Hub asks for, else 1, 2, 4 ..."""
        asked = _retry_after(error)
        return float(2**tried) if asked is None else asked

    def _words(self, what: str, error: Exception, status: int | None, wait: float) -> str:
        at = f"{what}: {self.endpoint}"
        kept = "what was uploaded is kept" if self.sent else "nothing was uploaded"
        if status is None:
            return f"{at} did not answer as it should ({_cause(error)}); {kept}, run the same command again"
        told = {
            401: "does not know this user; log in with `hf auth login`, or set HF_TOKEN to a token that may write",
            403: f"does not let this token write to {self.repo}; use a token with write access to it",
            404: f"has no {self.kind} {self.repo}, or does not show it to this token",
            409: f"says that {self.repo} has changed in the meantime; run the same command again",
            413: "takes no file of this size; build again with smaller shards: cuadata.build.build(..., shard_bytes=...)",
            412: f"says that {self.repo} has changed in the meantime; run the same command again",
            429: f"asks to slow down; run the same command again {_when(wait)}",
        }.get(status, f"failed; {kept}, run the same command again later")
        return f"{at} answers {status}: it {told}"


def _when(wait: float) -> str:
    """When to try again, for a Hub that asks for so many seconds; what no person would wait for is said as asked."""
    if wait > _LONGEST:
        return f"later; it asks for a wait of {wait / 86_400:,.0f} days, which cannot be meant"
    return f"in {max(wait, 1):.0f} s"


def _within(seconds: float, function: Callable[[], T]) -> T:
    """What a function returns, or TimeoutError after so many seconds; a call that hangs is left to its closed connection."""
    held: list[T] = []
    failed: list[BaseException] = []

    def run() -> None:
        try:
            held.append(function())
        except BaseException as error:  # noqa: BLE001 - raised again in the caller's thread
            failed.append(error)

    thread = threading.Thread(target=run, name="hub-call", daemon=True)
    thread.start()
    thread.join(seconds)
    if thread.is_alive():
        from huggingface_hub import close_session

        close_session()
        raise TimeoutError(f"no end after {seconds:.0f} s")
    if failed:
        raise failed[0]
    return held[0]


class _AskedToWait(Exception):
    """The Hub asks to wait for longer than is waited."""

    def __init__(self, response: Any) -> None:
        super().__init__("asked to wait")
        self.response = response


@contextmanager
def _limited_connections(limits: Limits) -> Iterator[None]:
    """Connections of `huggingface_hub` give up after a silence, and do not sleep for as long as any answer asks them to.

    By themselves they wait for a byte for ever, and for whatever Retry-After says.
    """
    from huggingface_hub import get_session

    def check(response: Any) -> None:
        wait = _seconds(str(response.headers.get("Retry-After", "")))
        if response.status_code in _AGAIN and wait is not None and wait > limits.wait:
            raise _AskedToWait(response)

    client = get_session()
    silence, hooks = client.timeout, client.event_hooks
    client.timeout = limits.silence
    client.event_hooks = {**hooks, "response": [*hooks.get("response", []), check]}
    try:
        yield
    finally:
        client.timeout, client.event_hooks = silence, hooks


class Told(ConnectionError):
    """What kept a Hub from answering another process: `failure` of its error."""

    def __init__(self, status: int | None, words: str) -> None:
        super().__init__(words)
        self.response = None if status is None else SimpleNamespace(status_code=status, headers={})


def failure(error: Exception) -> tuple[int | None, str] | None:
    """HTTP status, None where there was no answer, and words of an error that is the Hub's or the wire's; None for others."""
    status = _status(error)
    return (status, _cause(error)) if status is not None or _is_network(error) else None


def _chain(error: BaseException) -> Iterable[BaseException]:
    """The error and what it came from."""
    seen: BaseException | None = error
    while seen is not None:
        yield seen
        seen = seen.__cause__ or seen.__context__


def _response(error: BaseException) -> Any:
    found = (getattr(one, "response", None) for one in _chain(error))
    return next((one for one in found if one is not None and hasattr(one, "status_code")), None)


def _status(error: BaseException) -> int | None:
    response = _response(error)
    return None if response is None else int(response.status_code)


def check_name(repo: str) -> None:
    """CallError where a name breaks the Hub's rules: they are its own, so that none is found out after the checks."""
    from huggingface_hub.errors import HFValidationError
    from huggingface_hub.utils._validators import validate_repo_id

    try:
        validate_repo_id(repo)
        fits = repo.isascii() and repo.count("/") == 1
    except HFValidationError:
        fits = False
    if not fits:
        raise CallError(
            f"'{repo:.120}' names no repository; wanted user/name of letters, digits, '-', '_' and '.', at most 96 in all, "
            "neither beginning nor ending with '-' or '.', without '--' and '..', and not ending with '.git'"
        )


def _check_token() -> None:
    """CallError for a token that no request can carry; it is not repeated."""
    from huggingface_hub import get_token

    token = get_token() or ""
    if not all("!" <= sign <= "~" for sign in token):
        raise CallError(
            "the token in HF_TOKEN, or of `hf auth login`, holds a space or a sign that no token has; copy it anew: "
            "letters and digits behind hf_"
        )


def _is_network(error: BaseException) -> bool:
    """Whether an error is one of the wire, and not of this program: no connection, a cut body, half of a JSON text."""
    from json import JSONDecodeError

    return any(
        isinstance(one, (ConnectionError, TimeoutError, JSONDecodeError))
        or type(one).__module__.split(".")[0].startswith("http")
        for one in _chain(error)
    )


def _cause(error: BaseException) -> str:
    return " ".join(str(error).split())[:160] or type(error).__name__


def _retry_after(error: BaseException) -> float | None:
    """Seconds that the Hub asks to wait; None where it does not ask."""
    response = _response(error)
    return None if response is None else _seconds(str(response.headers.get("Retry-After", "")))


def _seconds(text: str) -> float | None:
    """RFC 9110's Retry-After, a number of seconds or a date, as seconds from now; None for neither."""
    text = text.strip()
    if text.isascii() and text.isdigit():
        return float(text)
    try:
        return max(0.0, email.utils.parsedate_to_datetime(text).timestamp() - time.time())
    except ValueError:
        return None
