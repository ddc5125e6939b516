"""The dataset card: README.md with the YAML that the Hub reads, written from the manifest alone."""

from __future__ import annotations

import functools
import hashlib
import json
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from cuadata.building import card_check
from cuadata.building.splits import FRACTIONS, KEYS
from cuadata.errors import DataError
from cuadata.reasons import REASONS

NAME = "README.md"
#: What each config holds, in the order of the card.
CONFIGS = {
    "actions": "One screenshot, one instruction, the one action to take now.",
    "chunks": "5 to 15 actions from one screenshot on, with a confidence and what they bring about.",
    "grounding": "A referring instruction, its target, and everything else that it could have meant.",
    "pairs": "A row and the same truth under a known change of the picture.",
    "transitions": "Two screenshots and the action between them.",
    "recovery": "The action that helped, after tries that did not.",
    "mix": "Rows of several configs in fixed shares, to train on at once.",
    "tasks": "Tasks with their pages, rewards and solutions, for training in an environment.",
    "point_only": "As `actions`, where a point is known but no box.",
    "rejected": "What the gates kept out: gate, reason, evidence, thumbnail and place.",
}
#: Configs that no build makes by itself: their rows are given to it, or drawn from the others.
_NOT_MADE = {"grounding", "pairs", "mix"}
#: Rows -> the Hub's words for it.
_SIZES = ((1_000, "n<1K"), (10_000, "1K<n<10K"), (100_000, "10K<n<100K"), (1_000_000, "100K<n<1M"))


@dataclass(frozen=True, slots=True, kw_only=True)
class About:
    """What only the person who builds can say."""

    title: Annotated[str, "name of the dataset; empty: made from its sources"] = ""
    licence: Annotated[str, "the Hub's word for its licence; empty: the card says that none was given"] = ""
    consent: Annotated[
        str, "what the people in it agreed to, in a sentence; empty: the card says that nothing is known"
    ] = ""
    sources: Annotated[
        tuple[tuple[str, str], ...], "sources and their paths, as the build was called; see `given`"
    ] = ()


def given(path: Path | str) -> str:
    """A path as it was given, where it leads down from the working folder; of any other the last part, and no more goes out."""
    path = Path(path)
    return path.name if path.is_absolute() or ".." in path.parts else path.as_posix()


def write(manifest: Mapping[str, Any], about: About, folder: Path) -> Path:
    """Write the card and check it against the files that are there. DataError where it names one that is not."""
    path = folder / NAME
    path.write_text(render(manifest, about), encoding="utf-8")
    found = card_check.check_folder(folder)
    if found.verdict != "keep":
        raise DataError(f"{found.reason}: {found.detail}", place=str(path))
    return path


def render(manifest: Mapping[str, Any], about: About) -> str:
    """The text of the card."""
    counts = manifest["counts"]
    text: str = (
        _environment()
        .get_template("card.md.j2")
        .render(
            title=_title(manifest, about),
            licence=about.licence,
            consent=about.consent,
            configs=_configs(manifest),
            contents=_contents(manifest),
            what=CONFIGS,
            size=_size(sum(sum(rows.values()) for rows in counts["kept"].values())),
            rejected=sum(counts["rejected"].values()),
            reasons=REASONS,
            recall=manifest["settings"]["gate_recall"],
            sources=sorted({one["source"] for one in manifest["inputs"]}),
            command=command(manifest, about),
            **{"balance": {}, **manifest},
        )
    )
    return text


@functools.cache
def _environment() -> Any:
    from jinja2 import Environment, PackageLoader, StrictUndefined

    made = Environment(
        loader=PackageLoader("cuadata.building", ""),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        autoescape=False,  # Markdown
    )
    made.filters.update(thousands=lambda n: f"{n:,}", cell=_cell, quoted=_quoted)
    return made


def _cell(value: Any) -> str:
    """A value in a table's cell."""
    return " ".join(str(value).split()).replace("|", "\\|")


def _quoted(value: str) -> str:
    """A string as YAML reads it whatever is in it: JSON's strings are YAML's."""
    return json.dumps(value, ensure_ascii=False)


def _configs(manifest: Mapping[str, Any]) -> dict[str, dict[str, str]]:
    """Config -> split -> pattern, for the files that there are; splits in the order of their shares."""
    found: dict[str, dict[str, str]] = {}
    for file in manifest["files"]:
        config, name = file["path"].split("/")
        split = name.split("-", 1)[0]
        found.setdefault(config, {})[split] = f"{config}/{split}-*.parquet"
    order = [*manifest["splits"]["fractions"]]
    return {
        config: dict(sorted(held.items(), key=lambda item: order.index(item[0]) if item[0] in order else -1))
        for config, held in sorted(found.items(), key=lambda item: list(CONFIGS).index(item[0]))
    }


def _contents(manifest: Mapping[str, Any]) -> dict[str, str]:
    """Config -> what its files hold, as a short hash.

    `datasets` keeps a prepared copy of a folder under a hash of what its card says of a config, whatever the files are: a
    dataset built anew in the same place would be read as it was before.
    """
    found: dict[str, Any] = {}
    for file in sorted(manifest["files"], key=lambda one: one["path"]):
        digest = found.setdefault(file["path"].split("/")[0], hashlib.sha256())
        digest.update(f"{file['path']} {file['sha256']}\n".encode())
    return {config: digest.hexdigest()[:16] for config, digest in found.items()}


def _title(manifest: Mapping[str, Any], about: About) -> str:
    if about.title:
        return about.title
    names = dict.fromkeys(one["name"].split("/")[0] for one in manifest["inputs"])
    return f"Browser actions from {', '.join(names)}" if names else "Browser actions"


def _size(rows: int) -> str:
    return next((word for limit, word in _SIZES if rows < limit), "n>1M")


def command(manifest: Mapping[str, Any], about: About) -> str:
    """The call that makes the dataset again from the same inputs."""
    settings, splits = manifest["settings"], manifest["splits"]
    words = ["cuadata", "build"]
    named = ((one["source"], one["name"].split("/")[0]) for one in manifest["inputs"])
    for source, name in dict.fromkeys(about.sources or named):
        if source != "given":
            words += ["--source", source, name]
    words += ["--out", "DATASET"]
    words += _changed_splits(splits)
    words += _gates(settings["gates"])
    configs = settings["configs"]
    words += ["--configs", ",".join(configs)] if set(configs) != set(CONFIGS) - _NOT_MADE else []
    for flag, value, usual in (
        ("--history", settings["history"], 5),
        ("--thumbnails", settings["thumbnails"], 200),
        ("--title", about.title, ""),
        ("--licence", about.licence, ""),
        ("--mix", ",".join(f"{config}:{weight:g}" for config, weight in settings["mix"].items()), ""),
        ("--consent", about.consent, ""),
    ):
        words += [flag, str(value)] if value != usual else []
    words += ["--keep-unsure"] if settings["keep_unsure"] else []
    words += ["--elements"] if settings.get("elements") else []
    words += ["--keep-going"] if manifest["damaged"] else []
    return shlex.join(words)


def _changed_splits(splits: Mapping[str, Any]) -> list[str]:
    words: list[str] = []
    if splits["fractions"] != dict(FRACTIONS):
        words += ["--splits", ",".join(f"{name}={share:g}" for name, share in splits["fractions"].items())]
    together = [k for k in splits["kept_together"] if k not in ("trajectory", "near_picture", "same_picture")]
    if together != [k for k in KEYS if k != "trajectory_id"]:
        words += ["--keep-together", ",".join(together)]
    return words + (["--seed", str(splits["seed"])] if splits["seed"] else [])


def _gates(held: Sequence[Mapping[str, Any]]) -> list[str]:
    """The shortest that asks for these gates: nothing for all as they are, a few left out, or all of them by name."""
    from cuadata.registry import gates

    asked, known = [_gate(one) for one in held], gates.names()
    missing = [name for name in known if name not in asked]
    if not asked or (set(asked) <= set(known) and len(missing) < len(asked)):
        return ["--without", ",".join(missing)] if missing else []
    return ["--gates", ",".join(asked)]


def _gate(held: Mapping[str, Any]) -> str:
    from cuadata.judging import gating

    usual = gating.defaults(held["name"])
    changed = [f"{k}={json.dumps(v)}" for k, v in held["thresholds"].items() if usual.get(k) != v]
    return ":".join([held["name"], *changed])
