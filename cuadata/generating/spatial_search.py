"""Directions that can be asked on a page, all looked through at once: a few of a thousand pass, and no try is wasted.

What a direction means is mostly the element that is nearest to the reference, or stands best in its row or column. Only questions
of which that is not true keep "the nearest" from being the answer, so they are looked for by themselves.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from random import Random
from typing import Any, Final, NamedTuple

from cuadata.generating.spatial_plain import IN_LINE, OTHERS
from cuadata.generating.spatial_scene import Question, Scene
from cuadata.types import Element, Relation
from cuadata.wording.phrases import Stated

ACROSS: Final[tuple[Relation, ...]] = ("left_of", "right_of")
DOWN: Final[tuple[Relation, ...]] = ("above", "below")
#: Questions of one direction and of two that a page gives, at most: half of them those that lean least, half any.
SINGLE: Final = 12
COMPOSED: Final = 6
#: Pairs of references that are looked at for one question of two; references that they are drawn from.
_TRIED: Final = 3
_REFERENCES: Final = 40
#: Share of questions with one answer that ask for the nearest all the same.
_NEAREST: Final = 0.1


class _Found(NamedTuple):
    """What is a question, if all that is not worked out at once is well too."""

    lean: int  #: by how many plain distances from its references the target is the nearest candidate
    kind: str
    thing: str
    stated: tuple[Stated, ...]
    references: tuple[tuple[Element, ...], ...]


def directions(scene: Scene, rng: Random) -> Iterator[Question]:
    """Questions of one direction and of two, half of them of the least lean that the page has."""
    single, composed = list[_Found](), list[_Found]()
    for thing in sorted(scene.things):
        if len(scene.things[thing]) > 1:
            table = _Table(scene, thing, rng)
            single += table.single()
            composed += table.composed()
    for found, most in ((single, SINGLE), (composed, COMPOSED)):
        rng.shuffle(found)
        least = sorted(range(len(found)), key=lambda place: found[place].lean)
        for ordered in (least, range(len(found))):
            asked = (scene.question(*found[place][1:]) for place in ordered)
            yield from itertools.islice((one for one in asked if one is not None), most // 2)


class _Table:
    """Elements of one class against the references of a page."""

    def __init__(self, scene: Scene, thing: str, rng: Random) -> None:
        import numpy as np

        self.thing, self.rng = thing, rng
        self.references: Sequence[Element] = scene.references
        held = [scene.place[one.id] for one in scene.things[thing]]
        at = np.ix_(held, [scene.place[one.id] for one in scene.references])
        own = np.array(at[0] == at[1])
        gaps, across, down = (np.where(own, np.inf, one[at]) for one in scene.apart)
        #: Distances by which a candidate may be the nearest: between edges, between middles, from the row, from the column.
        self.distances = (gaps, across * across + down * down, down, across, np.minimum(across, down))
        names = (*DOWN, *ACROSS)
        ways = [scene.ways[name] for name in names]
        margins = np.stack([np.where(own, -np.inf, way.margins[at]) for way in ways])
        #: Arrays (direction, target, reference): plainly fulfilled, not plainly failed, on the stated side.
        self.fits = (margins >= 0) & (np.stack([way.in_line[at] for way in ways]) >= IN_LINE)
        self.near = margins > -np.array([OTHERS[name] for name in names])[:, None, None]
        self.ahead = np.stack([way.ahead[at] for way in ways]) & ~own
        self.names = names

    def single(self) -> Iterator[_Found]:
        """One direction from one reference: of the only one, or of the nearest of several."""
        import numpy as np

        gaps, every = self.distances[0], np.arange(len(self.references))
        fitting = self.fits.sum(axis=1)
        targets = np.where(self.fits, gaps, np.inf).argmin(axis=1)
        own = gaps[targets, every]
        rivals = (self.ahead & (gaps <= own[:, None, :])).sum(axis=1) - self.ahead[
            np.arange(len(self.names))[:, None], targets, every
        ]
        plain = (fitting > 0) & (self.near.sum(axis=1) == fitting) & (rivals == 0)
        lean: Any = np.sum([one[targets, every] <= one.min(axis=0) for one in self.distances], axis=0)
        for way, place in np.argwhere(plain).tolist():
            nearest = bool(fitting[way, place] > 1) or self.rng.random() < _NEAREST
            stated = Stated(relation=self.names[way], nearest=nearest)
            references = ((self.references[place],),)
            yield _Found(int(lean[way, place]), self.names[way], self.thing, (stated,), references)

    def composed(self) -> Iterator[_Found]:
        """One direction across and one down, each from a reference of its own, that one element alone fulfils."""
        import numpy as np

        drawn = sorted(self.rng.sample(range(len(self.references)), min(len(self.references), _REFERENCES)))
        # How many elements fulfil both, for each direction down with its reference and direction across with its own.
        both = [
            np.concatenate(one[:2, :, drawn], axis=1).T.astype(np.float32) @ np.concatenate(one[2:, :, drawn], axis=1)
            for one in (self.fits, self.near)
        ]
        alone = (both[0] == 1) & (both[1] == 1)
        pairs = np.argwhere(alone)
        pairs = pairs[self.rng.sample(range(len(pairs)), min(len(pairs), COMPOSED * _TRIED))]
        (down, across), (first, second) = (pairs // len(drawn)).T, np.array(drawn)[pairs % len(drawn)].T
        across = across + 2
        targets = (self.fits[down, :, first] & self.fits[across, :, second]).argmax(axis=1)
        ways = np.sqrt(self.distances[0].T)
        reach, every = ways[first] + ways[second], np.arange(len(pairs))
        rivals = self.ahead[down, :, first] & self.ahead[across, :, second] & (reach <= reach[every, targets][:, None])
        rivals[every, targets] = False
        plain = ~rivals.any(axis=1) & (first != second)
        nearest = [np.minimum(each.T[first], each.T[second]) for each in self.distances]
        lean: Any = np.sum([each[every, targets] <= each.min(axis=1) for each in nearest], axis=0)
        for n in np.flatnonzero(plain).tolist():
            told = [(self.names[down[n]], first[n]), (self.names[across[n]], second[n])]
            self.rng.shuffle(told)
            yield _Found(
                int(lean[n]), "composed", self.thing, tuple(Stated(relation=name) for name, _ in told),
                tuple((self.references[place],) for _, place in told),
            )  # fmt: skip
