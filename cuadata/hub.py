"""Publishing a dataset on a Hub: checked first, visibility read back, one commit, opened again and compared.

Nothing is visible in the repository until the one commit; a publication that was interrupted goes on from what the Hub
holds, and ends as an undisturbed one does.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any

from cuadata import dataset, text_files
from cuadata.building import card, manifest
from cuadata.errors import CallError, DataError
from cuadata.publishing import hub_checks, hub_plan
from cuadata.publishing.hub_open import check_opens
from cuadata.publishing.hub_plan import Change, Visibility
from cuadata.publishing.hub_remote import Limits, Remote, RemoteError, RemoteFile, check_name

#: Told what is being done, how much of it is done, and how much there is.
Progress = Callable[[str, int, int], None]
_TAG = re.compile(r"\w[\w.-]{0,63}")
#: Files beside the shards that are published where they exist.
_BESIDE = (card.NAME, manifest.NAME, "LICENSE", "LICENSE.txt", "LICENSE.md")


@dataclass(frozen=True, slots=True, kw_only=True)
class Published:
    """What a publication did."""

    repo: Annotated[str, "user/name"]
    url: Annotated[str, "where it is to be seen"]
    visibility: Annotated[Visibility, "private or public, as the Hub said just before the commit"]
    commit: Annotated[str, "the commit that holds the dataset"]
    tag: Annotated[str, "the tag that names it"]
    added: Annotated[tuple[str, ...], "files that were written"]
    deleted: Annotated[tuple[str, ...], "shards of an earlier publication that were deleted"]
    opened: Annotated[
        tuple[str, ...], "config/split, each opened again as a stream and compared with its first row here"
    ]
    resumed: Annotated[int, "shards that an interrupted publication had uploaded"] = 0
    unchecked: Annotated[tuple[str, ...], "what could not be checked, and why"] = ()

    def summary(self) -> dict[str, Any]:
        """What `--json` prints."""
        return {name: getattr(self, name) for name in self.__dataclass_fields__}


@dataclass(frozen=True, slots=True, kw_only=True)
class Contents:
    """What a dataset folder publishes."""

    folder: Annotated[Path, "the dataset"]
    sha256: Annotated[Mapping[str, str], "path in the repository -> hash of its bytes"] = field(default_factory=dict)
    splits: Annotated[Mapping[str, Mapping[str, list[Path]]], "config -> split -> shards"] = field(default_factory=dict)

    @property
    def digest(self) -> str:
        """One hash over all files and their names: the same data, the same digest."""
        listed = json.dumps(sorted(self.sha256.items())).encode()
        return hashlib.sha256(listed).hexdigest()

    @property
    def shards(self) -> list[str]:
        """Paths of the shards, sorted."""
        return sorted(path for path in self.sha256 if hub_plan.shard_place(path) is not None)


def publish(
    folder: Path | str,
    repo: str,
    *,
    private: bool | None = None,
    force: bool = False,
    allow: Collection[str] = (),
    version: str = "",
    limits: Limits | None = None,
    progress: Progress = lambda what, done, of: None,
) -> Published:
    """Publish a dataset folder as `repo`, which is `user/name`, on the Hub that HF_ENDPOINT names.

    `private` None: private. `force`: replace what is published of the same configs and splits. `allow`: kinds of findings
    that do not stop the publication (see `hub_checks`). `version`: the tag; by default `data-` and the first 12 digits of
    the data's hash.

    CallError where the call is wrong or the repository's visibility is not the one asked for; DataError where the data
    may not go out; RemoteError where the Hub refuses or fails. After an error before the commit the repository shows what it
    showed before; one after the commit (the tag, the opening again) says that the commit is visible. Either way the same
    call goes on from there.
    """
    contents = read(Path(folder))
    _check_call(repo, version)
    remote = Remote(repo, limits=limits)
    state = Journal.of(contents, remote)
    if state.checked != sorted(allow):
        found = hub_checks.check(contents.folder, public=private is False, allow=allow, progress=progress)
        found.refuse()
        state.note(checked=sorted(allow), unchecked=list(found.unchecked))
    under_way = _Publication(contents, remote, state, private=private, progress=progress)
    done = under_way.run(version or f"data-{contents.digest[:12]}", force=force)
    state.remove()
    return done


def read(folder: Path) -> Contents:
    """The files of a dataset folder. DataError where the card or the manifest does not fit them."""
    found = dataset.configs(folder)
    wrong = manifest.damaged_files(folder)
    if wrong:
        raise DataError(f"{'; '.join(wrong[:5])}; build it again", place=str(folder))
    shards = [path for splits in found.values() for paths in splits.values() for path in paths]
    named = {folder / one["path"] for one in manifest.read(folder)["files"]}
    stray = [path for path in shards if path not in named]
    if stray:
        raise DataError(f"{manifest.NAME} does not name it; build the dataset again", place=str(stray[0]))
    paths = [*(folder / name for name in _BESIDE if (folder / name).is_file()), *shards]
    if folder / card.NAME not in paths:
        raise DataError(f"the card {card.NAME} is missing; build the dataset again", place=str(folder))
    hashes = {path.relative_to(folder).as_posix(): _sha256(path) for path in paths}
    return Contents(folder=folder, sha256=hashes, splits=found)


def _sha256(path: Path) -> str:
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _check_call(repo: str, version: str) -> None:
    check_name(repo)
    if version and (not _TAG.fullmatch(version) or version == "main"):
        raise CallError(f"'{version}' is no tag, or the branch's own name; use letters, digits, '.', '-' and '_': v1.0")


class Journal:
    """How far a publication has come, in a hidden file beside the dataset's folder; gone when it is done."""

    def __init__(self, path: Path, key: dict[str, str]) -> None:
        self.path = path
        self._held: dict[str, Any] = {**key, "checked": None, "unchecked": [], "uploaded": []}
        try:
            held = json.loads(path.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            held = None
        if isinstance(held, dict) and all(held.get(name) == value for name, value in key.items()):
            self._held |= {name: held[name] for name in self._held if name in held}

    @classmethod
    def of(cls, contents: Contents, remote: Remote) -> Journal:
        """The journal of this data on its way to this repository; one of other data counts for nothing."""
        whole = contents.folder.resolve()
        key = {"endpoint": remote.endpoint, "repo": remote.repo, "digest": contents.digest, "rules": hub_checks.RULES}
        return cls(whole.parent / f".{whole.name}.publish.json", key)

    @property
    def checked(self) -> list[str] | None:
        """What was allowed when the data passed the checks; None where it has not passed them."""
        held = self._held["checked"]
        return held if isinstance(held, list) else None

    @property
    def unchecked(self) -> tuple[str, ...]:
        """What the checks could not see."""
        return tuple(self._held["unchecked"])

    @property
    def uploaded(self) -> list[str]:
        """Shards that the Hub has taken."""
        return list(self._held["uploaded"])

    def note(self, **news: Any) -> None:
        """Write down what was done; the file is whole at every moment."""
        self._held |= news
        new = self.path.with_suffix(".new")
        new.write_text(json.dumps(self._held), encoding="utf-8")
        new.replace(self.path)

    def remove(self) -> None:
        """The publication is done."""
        self.path.unlink(missing_ok=True)


class _Publication:
    """One publication under way."""

    def __init__(
        self, contents: Contents, remote: Remote, state: Journal, *, private: bool | None, progress: Progress
    ) -> None:
        self.contents = contents
        self.remote = remote
        self.state = state
        self.private = private
        self.progress = progress

    def run(self, tag: str, *, force: bool) -> Published:
        resumed = len(self.state.uploaded)
        _, head = self._settle()
        before = self.remote.files(head)
        change = hub_plan.change(before, list(self.contents.sha256))
        card_text = self._card(before, head, change)
        self._check_replaced(before, change, force=force)
        tagged = self.remote.tags().get(tag)
        if tagged is not None and not self._holds(self.remote.files(tagged)):
            raise CallError(f"{self.remote.repo} has a version {tag} already, with other data; give another --version")
        additions = self._upload(change, card_text)
        visibility, _ = self._settle()
        commit = self._commit(additions, change, head, before)
        with _already_visible(self.remote.repo, commit):
            self._check_result(commit, before, change)
            if tagged is None:
                self.remote.tag(tag, commit)
            opened = check_opens(self.contents.folder, self.contents.splits, self.remote, commit, self.progress)
        return Published(
            repo=self.remote.repo,
            url=f"{self.remote.endpoint}/datasets/{self.remote.repo}",
            visibility=visibility,
            commit=commit,
            tag=tag,
            added=change.add,
            deleted=change.delete,
            opened=opened,
            resumed=resumed,
            unchecked=self.state.unchecked,
        )

    def _settle(self) -> tuple[Visibility, str]:
        """Make the repository if there is none; its visibility as the Hub says it, and its newest commit."""
        visibility, head = self.remote.state()
        decision = hub_plan.decide(visibility, self.private)
        if decision.startswith("create"):
            self.remote.create(private=decision == "create_private")
            visibility, head = self.remote.state()
            decision = hub_plan.decide(visibility, self.private)
        if visibility == "none" or head is None:
            raise RemoteError(
                f"{self.remote.endpoint} shows no dataset {self.remote.repo} after it was asked to make it; nothing was "
                "uploaded. A name that is taken may be a model's, or hidden from this token: give another name"
            )
        if decision != "upload":
            asked = "public" if self.private is False else "private"
            say = "--public" if visibility == "public" else "no --public"
            raise CallError(
                f"{self.remote.repo} is {visibility}, and {asked} was asked for; nothing was uploaded. "
                f"Change its visibility on the Hub first, or publish with {say}"
            )
        return visibility, head

    def _card(self, before: Mapping[str, RemoteFile], head: str, change: Change) -> str:
        local = text_files.read(self.contents.folder / card.NAME)
        held = self.remote.read(card.NAME, head).decode(errors="replace") if card.NAME in before else None
        local = hub_plan.named_card(local, self.remote.repo, self.state.unchecked)
        return hub_plan.merged_card(local, held, change.result(before))

    def _check_replaced(self, before: Mapping[str, RemoteFile], change: Change, *, force: bool) -> None:
        """Shards that would be replaced by others need --force; the same ones do not."""
        other = [p for p in self.contents.shards if p in before and before[p].sha256 != self.contents.sha256[p]]
        gone = sorted({*other, *change.delete})
        if gone and not force:
            raise CallError(
                f"{self.remote.repo} holds {len(gone)} shards that this would replace, {gone[0]} first; "
                "give --force to replace them; earlier versions stay in its history"
            )

    def _upload(self, change: Change, card_text: str) -> list[Any]:
        """Every file as an addition; the shards' bytes are sent one shard after the other."""
        from huggingface_hub import CommitOperationAdd

        additions = []
        shards = self.contents.shards
        for path in change.add:
            source: Any = card_text.encode() if path == card.NAME else self.contents.folder / path
            addition = CommitOperationAdd(path, source)
            if path in shards:
                if addition.upload_info.sha256.hex() != self.contents.sha256[path]:
                    raise DataError("it has changed since it was checked; publish again", place=path)
                self.remote.upload(addition)
                self.state.note(uploaded=sorted({*self.state.uploaded, path}))
                self.progress("uploading shards", shards.index(path) + 1, len(shards))
            additions.append(addition)
        return additions

    def _commit(self, additions: list[Any], change: Change, head: str, before: Mapping[str, RemoteFile]) -> str:
        """The one commit. Where its answer was lost, the repository is asked whether it was made."""
        from huggingface_hub import CommitOperationDelete

        operations = [*additions, *(CommitOperationDelete(path) for path in change.delete)]
        rows = sum(len(paths) for splits in self.contents.splits.values() for paths in splits.values())
        message = f"Publish {rows} shards of {', '.join(self.contents.splits) or 'the dataset'} with cuadata"
        try:
            return self.remote.commit(operations, message=message, parent=head)
        except RemoteError:
            _, now = self.remote.state()
            if now is None or now == head or not self._made(self.remote.files(now), before, change):
                raise
            return now

    def _made(self, after: Mapping[str, RemoteFile], before: Mapping[str, RemoteFile], change: Change) -> bool:
        """Whether a tree is what the commit makes of `before`."""
        untouched = set(before) - set(change.add) - set(change.delete)
        kept = all(path in after and after[path].oid == before[path].oid for path in untouched)
        return kept and set(after) == set(change.result(before)) and self._holds(after)

    def _holds(self, files: Mapping[str, RemoteFile]) -> bool:
        """Whether a tree holds exactly these shards."""
        return all(path in files and files[path].sha256 == self.contents.sha256[path] for path in self.contents.shards)

    def _check_result(self, commit: str, before: Mapping[str, RemoteFile], change: Change) -> None:
        after = self.remote.files(commit)
        if not self._made(after, before, change):
            wrong = sorted(set(change.result(before)) ^ set(after)) or ["the bytes of a file"]
            raise RemoteError(f"commit {commit[:12]} of {self.remote.repo} is not what was sent: {wrong[0]} differs")


@contextmanager
def _already_visible(repo: str, commit: str) -> Iterator[None]:
    """What fails after the commit says that the commit is there to be seen."""
    told = f"; commit {commit[:12]} of {repo} is made and visible to whoever may see the repository"
    try:
        yield
    except RemoteError as error:
        raise RemoteError(f"{error}{told}", status=error.status) from error
    except DataError as error:
        raise DataError(f"{error}{told}") from error
