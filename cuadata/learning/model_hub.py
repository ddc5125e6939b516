"""Putting an adapter on a Hub: visibility read back first, one commit, and the adapter's bytes compared afterwards."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from cuadata.errors import CallError
from cuadata.learning import model_card
from cuadata.publishing import hub_plan
from cuadata.publishing.hub_plan import Visibility
from cuadata.publishing.hub_remote import Limits, Remote, RemoteError, check_name

#: What makes up an adapter with its processor and its run; checkpoints and optimiser states stay at home.
_FILES = (
    "adapter_model.safetensors", "adapter_config.json", "log.jsonl", "processor_config.json", "preprocessor_config.json",
    "video_preprocessor_config.json", "tokenizer.json", "tokenizer_config.json", "special_tokens_map.json", "vocab.json",
    "merges.txt", "added_tokens.json", "chat_template.jinja",
)  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Pushed:
    """What a push did."""

    repo: Annotated[str, "user/name"]
    url: Annotated[str, "where it is to be seen"]
    visibility: Annotated[Visibility, "private or public, as the Hub says"]
    commit: Annotated[str, "the commit that holds the adapter"]
    files: Annotated[tuple[str, ...], "files that were written"]

    def summary(self) -> dict[str, Any]:
        """What `--json` prints."""
        return {name: getattr(self, name) for name in self.__dataclass_fields__}


def push(run: Path, repo: str, *, private: bool = True, licence: str = "", limits: Limits | None = None) -> Pushed:
    """Put the adapter of a finished run on the Hub as `repo`, in one commit, with a card made from the run.

    Local paths stay at home: of those that the run wrote down only the last part goes out. CallError where the call is
    wrong or the repository's visibility is not the one asked for; RemoteError where the Hub refuses or fails.
    """
    check_name(repo)
    from huggingface_hub import CommitOperationAdd

    files: dict[str, Path | bytes] = {name: run / name for name in _FILES if (run / name).is_file()}
    files["README.md"] = model_card.write(run, licence=licence).encode()
    files["run.json"] = json.dumps(model_card.public_record(run), indent=2).encode()
    files["adapter_config.json"] = _config(run)
    remote = Remote(repo, limits=limits, kind="model")
    visibility, head = _settle(remote, private)
    additions = [CommitOperationAdd(name, source) for name, source in sorted(files.items())]
    for addition in additions:
        if addition.path_in_repo.endswith(".safetensors"):
            remote.upload(addition)
    commit = remote.commit(additions, message="Adapter trained with cuadata", parent=head)
    there = remote.files(commit)["adapter_model.safetensors"].sha256
    if there != hashlib.sha256((run / "adapter_model.safetensors").read_bytes()).hexdigest():
        raise RemoteError(f"commit {commit[:12]} of {repo} does not hold the adapter that was sent")
    url = f"{remote.endpoint}/{repo}"
    return Pushed(repo=repo, url=url, visibility=visibility, commit=commit, files=tuple(sorted(files)))


def _config(run: Path) -> bytes:
    held = json.loads((run / "adapter_config.json").read_text())
    held["base_model_name_or_path"] = model_card.shown(held["base_model_name_or_path"])
    return json.dumps(held, indent=2).encode()


def _settle(remote: Remote, private: bool) -> tuple[Visibility, str]:
    """Make the repository if there is none; its visibility as the Hub says it, and its newest commit."""
    visibility, head = remote.state()
    if visibility == "none":
        remote.create(private=private)
        visibility, head = remote.state()
    if visibility == "none" or head is None:
        raise RemoteError(f"{remote.endpoint} made {remote.repo} but does not show it; nothing was uploaded")
    if hub_plan.decide(visibility, private) != "upload":
        raise CallError(
            f"{remote.repo} is {visibility}, and {'private' if private else 'public'} was asked for; nothing was uploaded. "
            f"Change its visibility on the Hub first, or push {'with' if private else 'without'} --public"
        )
    return visibility, head
