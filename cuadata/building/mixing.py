"""Mixtures of configs by weight: which rows go in, so that each config has its share and no row comes twice."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence

from cuadata.building import subsets
from cuadata.errors import CallError
from cuadata.rows import CONFIGS, Example, Mixed

#: The config that a mixture is written as.
NAME = "mix"


def read(text: str) -> dict[str, float]:
    """Weights from `actions:0.95,recovery:0.05`. CallError where that is no mixture."""
    found: dict[str, float] = {}
    for word in (word.strip() for word in text.split(",") if word.strip()):
        config, _, share = word.partition(":")
        try:
            found[config.strip()] = float(share)
        except ValueError:
            raise CallError(
                f"--mix '{word}' is no share; wanted CONFIG:WEIGHT, such as actions:0.95,recovery:0.05"
            ) from None
    if text and not found:
        raise CallError(f"--mix '{text}' names no config; wanted CONFIG:WEIGHT, such as actions:0.95,recovery:0.05")
    check(found)
    return found


def check(weights: Mapping[str, float]) -> None:
    """CallError for a config whose rows cannot be mixed, and for weights that are not above zero."""
    able = [name for name, kind in CONFIGS.items() if issubclass(kind, Example) and kind is not Mixed]
    for config, weight in weights.items():
        if config not in able:
            raise CallError(f"rows of '{config}' cannot be mixed; those of these can: {', '.join(able)}")
        if not 0 < weight < float("inf"):
            raise CallError(f"the weight of '{config}' in the mixture is {weight:g}; wanted a number above 0")


def choose(ids: Mapping[str, Sequence[str]], weights: Mapping[str, float], seed: int = 0) -> dict[str, set[str]]:
    """Ids of the rows that go in, by config: as many as the scarcest config allows at these weights.

    Shares are exact up to whole rows. Which rows are taken follows from their ids and the seed alone, so that a row more
    in one config moves no other.
    """
    whole = sum(weights.values())
    shares = {config: weight / whole for config, weight in weights.items()}
    total = min(int(len(ids.get(config, ())) / share + 1e-9) for config, share in shares.items())
    counts = subsets.targets(total, list(shares.values()))
    return {
        config: set(sorted(ids.get(config, ()), key=lambda id: _place(seed, config, id))[:count])
        for config, count in zip(shares, counts, strict=True)
    }


def _place(seed: int, config: str, id: str) -> bytes:
    return hashlib.sha256(f"{seed} {config} {id}".encode()).digest()
