"""Public evaluation sets, by the names that people give them: training on one spoils every figure that it yields."""

from __future__ import annotations

import functools
import re
from typing import Final

#: Set -> the splits that are for evaluation; empty: all of it.
EVALUATION_SETS: Final[dict[str, frozenset[str]]] = {
    "screenspot": frozenset(),
    "screenspotv2": frozenset(),
    "screenspotpro": frozenset(),
    "osworld": frozenset(),
    "osworldg": frozenset(),
    "uivision": frozenset(),
    "uii2ebench": frozenset(),
    "mmbenchgui": frozenset(),
    "visualwebbench": frozenset(),
    "webvoyager": frozenset(),
    "onlinemind2web": frozenset(),
    "webarena": frozenset(),
    "visualwebarena": frozenset(),
    "workarena": frozenset(),
    "assistantbench": frozenset(),
    "agentnetbench": frozenset(),
    "guiperturbed": frozenset(),
    "guiprimitives": frozenset(),
    "webclick": frozenset(),
    "showdownclicks": frozenset(),
    "spabench": frozenset(),
    "androidworld": frozenset(),
    "mind2web": frozenset(("test", "testtask", "testwebsite", "testdomain")),
    "multimodalmind2web": frozenset(("test", "testtask", "testwebsite", "testdomain")),
    "androidcontrol": frozenset(("test",)),
    "guiodyssey": frozenset(("test",)),
    "aitw": frozenset(("test",)),
    "weblinx": frozenset(("test", "testiid", "testcat", "testgeo", "testvis", "testweb", "valid", "validation")),
}
_NOT_ALPHANUMERIC = re.compile(r"[^a-z0-9]+")


def folded(name: str) -> str:
    """A name without owner, case and punctuation: 'OS-Copilot/ScreenSpot-v2' is 'screenspotv2'."""
    return _NOT_ALPHANUMERIC.sub("", name.rsplit("/", 1)[-1].lower())


#: Longest names first: a set's name may begin with another's.
_NAMES: Final = tuple(sorted(EVALUATION_SETS, key=len, reverse=True))


@functools.lru_cache(maxsize=4096)
def evaluation_set(name: str, split: str | None = None) -> str | None:
    """The evaluation set that a data set's name and split mean; None where it is none.

    A split that is not named counts as one for evaluation only where all of the set is.
    """
    whole = folded(name)
    for known in _NAMES:
        if whole == known or (whole.startswith(known) and not whole[len(known) :].isalpha()):
            splits = EVALUATION_SETS[known]
            if not splits or (split is not None and folded(split) in splits):
                return known
            return None
        joined = next((part for part in EVALUATION_SETS[known] if whole == known + part), None)
        if joined is not None:
            return known
    return None
