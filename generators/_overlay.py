"""Overlays that cover a page: cookie banner, newsletter, prize, notice, offer, app banner; real and fake ways out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from random import Random

from cuadata.types import Action, Condition, Locator, Move, Term

from ._draw import Draw

ARRIVALS = ("stacked", "chained")
DEAD = ("That button does nothing.", "Wrong button. Try again.", "This is not the way out.", "Nothing was closed.")


@dataclass(frozen=True, slots=True)
class Kind:
    """One kind of overlay: where it may lie, its words, how it is really left, and what only looks like a way out."""

    name: str
    places: tuple[str, ...]
    veil: bool
    titles: tuple[str, ...]
    texts: tuple[str, ...]
    real: tuple[tuple[str, str], ...]  # label, look
    fakes: tuple[tuple[str, str], ...]
    stays: tuple[tuple[str, str], ...] = ()  # always there beside the real one
    field: bool = False


KINDS = (
    Kind(
        "cookies",
        ("bottom", "left", "corner"),
        False,
        ("We use cookies", "Your privacy", "Cookies on this site"),
        ("Some are needed for the site to work, others tell us what is read.",),
        (("Accept all", "primary"), ("Reject all", ""), ("Only necessary", "")),
        (("Cookie settings", "link"), ("Read the policy", "link")),
    ),
    Kind(
        "newsletter",
        ("center",),
        True,
        ("Subscribe to our newsletter", "Letters once a month", "Stay in touch"),
        ("New things first, and a small discount on your next order.",),
        (("No thanks", "link"), ("Close window", "cross"), ("Maybe later", "")),
        (("Close", ""),),
        (("Subscribe", "primary"),),
        field=True,
    ),
    Kind(
        "prize",
        ("center",),
        True,
        ("You have won a prize!", "Congratulations, visitor 100,000!", "Your gift is waiting"),
        ("You are today's lucky visitor. Claim the prize before it is gone.",),
        (("Dismiss", "green"),),
        (("Close", ""), ("Close prize", "cross"), ("Exit", ""), ("Skip", "link")),
        (("Claim my prize", "loud"),),
    ),
    Kind(
        "notice",
        ("center", "top"),
        True,
        ("Important notice", "Important alert", "Please read this"),
        ("Our opening hours change next week. The shop closes at six on Fridays.",),
        (("Dismiss", "green"), ("Understood", "primary")),
        (("Close", ""), ("Close notice", "cross")),
    ),
    Kind(
        "offer",
        ("corner", "left", "center"),
        False,
        ("Limited time offer!", "Only today: 20% off", "Last chance"),
        ("Buy two and pay for one, as long as stocks last.",),
        (("Close offer", "cross"), ("Dismiss", "green"), ("No, thank you", "link")),
        (("Close", ""), ("Hide", "link")),
        (("Get the offer", "loud"),),
    ),
    Kind(
        "app",
        ("top", "bottom"),
        False,
        ("Better in the app", "Read on in our app"),
        ("Faster, and it works without a connection.",),
        (("Not now", ""), ("Close banner", "cross")),
        (("Close", "link"),),
        (("Open the app", "primary"),),
    ),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Control:
    """A button of an overlay."""

    id: str
    label: str
    look: str
    real: bool
    scold: str
    markup: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Overlay:
    """An overlay as its template draws it."""

    id: str
    kind: str
    title: str
    text: str
    hint: str
    place: str
    veil: bool
    field: bool
    depth: int
    then: str
    waits: bool
    controls: tuple[Control, ...]

    @property
    def real(self) -> Control:
        """The control that dismisses it."""
        return next(c for c in self.controls if c.real)

    @property
    def fakes(self) -> tuple[Control, ...]:
        """The controls that only look like a way out."""
        return tuple(c for c in self.controls if not c.real)


def overlays(
    draw: Draw, count: int, *, fakes: int | None, arrival: str, markup: str, prefix: str = "o", silent: bool = False
) -> list[Overlay]:
    """Draw `count` overlays in the order in which they are dismissed; `fakes` of None draws 0 to 2 for each.

    With `silent`, controls that only look like a way out say nothing when they are pressed.
    """
    rng = draw.rng(f"overlays-{prefix}")
    kinds = rng.sample(KINDS, count) if count <= len(KINDS) else rng.choices(KINDS, k=count)
    return [
        _overlay(rng, kind, f"{prefix}{i}", depth=100 + count - i, fakes=fakes, markup=markup, silent=silent,
                 then=f"{prefix}{i + 1}" if arrival == "chained" and i + 1 < count else "",
                 waits=arrival == "chained" and i > 0)
        for i, kind in enumerate(kinds)
    ]  # fmt: skip


def _overlay(
    rng: Random,
    kind: Kind,
    name: str,
    *,
    depth: int,
    fakes: int | None,
    markup: str,
    silent: bool,
    then: str,
    waits: bool,
) -> Overlay:
    real = rng.choice(kind.real)
    wanted = rng.randint(0, 2) if fakes is None else fakes
    # One cross at most: two in the same corner would lie on each other.
    open_fakes = [f for f in kind.fakes if not (f[1] == real[1] == "cross") and f[0] != real[0]]
    chosen = rng.sample(open_fakes, min(wanted, len(open_fakes)))
    looks = [*((f, False) for f in (*kind.stays, *chosen)), (real, True)]
    rng.shuffle(looks)
    controls = tuple(
        Control(id=f"{name}-c{i}", label=label, look=look, real=is_real, scold=rng.choice(DEAD), markup=markup)
        for i, ((label, look), is_real) in enumerate(looks)
    )
    if silent:
        controls = tuple(replace(c, scold="") for c in controls)
    place = rng.choice(kind.places)
    hint = f"The way out of this window is “{real[0]}”." if chosen and real[1] != "cross" and rng.random() < 0.5 else ""
    return Overlay(
        id=name,
        kind=kind.name,
        title=rng.choice(kind.titles),
        text=rng.choice(kind.texts),
        hint=hint,
        place=place,
        veil=kind.veil and place == "center",
        field=kind.field,
        depth=depth,
        then=then,
        waits=waits,
        controls=controls,
    )


def dismissals(held: Sequence[Overlay]) -> tuple[Move, ...]:
    """Clicks that dismiss them all, in order."""
    return tuple(click(o.real.id) for o in held)


def terms(
    held: Sequence[Overlay], anchor: Condition, value: float, *, chained: bool, prefix: str = ""
) -> tuple[Term, ...]:
    """One term an overlay: it is gone while the page (`anchor`) is there; of chained ones all earlier are gone too."""
    gone = [Condition(role="dialog", name=o.title, present=False) for o in held]
    return tuple(
        Term(
            name=f"{prefix}overlay_{i + 1}",
            value=value,
            when=(anchor, *(gone[: i + 1] if chained else gone[i : i + 1])),
        )
        for i in range(len(held))
    )


def click(element: str) -> Move:
    """A click that dismisses: on the control of that id."""
    return Move(action=Action(type="click"), locator=Locator(css=f"#{element}"), phase="dismiss")
