"""The nouns: what a page showed, what was done on it, and what became of it.

Every record of the project is one of these frozen dataclasses. The note in `Annotated` says the unit or the meaning of a
field; `cuadata.schema` reads it into Hugging Face Features, Arrow, JSON Schema and the docs, so it is written once.
Boxes and points are CSS px of the top-level viewport; times are seconds; shares lie in [0, 1]. No other frame or unit
enters a type unless its name says so.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated, Literal

SCHEMA_VERSION = 1

# fmt: off
ActionType = Literal[
    "click", "double_click", "right_click", "hover", "drag", "type", "press", "scroll", "select", "upload", "navigate",
    "back", "forward", "reload", "wait", "switch_page", "dialog", "reason", "done", "infeasible",
]
# fmt: on
Phase = Literal["dismiss", "reason", "act", "enter"]
EffectKind = Literal["none", "local", "global", "ambient", "late", "unknown"]
StepLabel = Literal["no_effect", "no_effect_repeat", "detour", "recovery", "progress"]
Keep = Literal["yes", "no", "unsure"]
Ended = Literal["success", "failure", "budget", "interrupted", "discarded", "error", "running"]
# fmt: off
Relation = Literal[
    "above", "below", "left_of", "right_of", "inside", "contains", "between", "nearest", "same_row", "same_column",
    "nth_in_row", "nth_in_column", "nth_in_list", "at_edge", "at_corner", "overlapping",
]
# fmt: on


@dataclass(frozen=True, slots=True)
class Point:
    """A place in the viewport."""

    x: Annotated[float, "from the left edge of the top-level viewport, CSS px"]
    y: Annotated[float, "from the top edge of the top-level viewport, CSS px"]


@dataclass(frozen=True, slots=True)
class Size:
    """A width and a height in one unit, which the field that holds it names."""

    width: Annotated[int, "width"]
    height: Annotated[int, "height"]


@dataclass(frozen=True, slots=True)
class BBox:
    """An axis-parallel box; its right and bottom edges lie outside it."""

    x: Annotated[float, "left edge, CSS px of the top-level viewport"]
    y: Annotated[float, "top edge, CSS px of the top-level viewport"]
    width: Annotated[float, "width, CSS px"]
    height: Annotated[float, "height, CSS px"]

    @property
    def right(self) -> float:
        """Right edge, CSS px."""
        return self.x + self.width

    @property
    def bottom(self) -> float:
        """Bottom edge, CSS px."""
        return self.y + self.height

    @property
    def center(self) -> Point:
        """The middle, which is not always a point that takes a click."""
        return Point(self.x + self.width / 2, self.y + self.height / 2)

    @property
    def area(self) -> float:
        """Width times height, square CSS px."""
        return self.width * self.height


@dataclass(frozen=True, slots=True, kw_only=True)
class Image:
    """A picture as it was encoded; its bytes are never encoded again.

    In recordings only the description is stored and the bytes lie in `blobs/` under their sha256; in Parquet it becomes
    the Hub's Image feature. Use `cuadata.image` to make one from bytes and to decode it.
    """

    sha256: Annotated[str, "of the encoded bytes, hex"]
    width: Annotated[int, "image px, read from the picture itself"]
    height: Annotated[int, "image px, read from the picture itself"]
    format: Annotated[str, "png, jpeg or webp"]
    phash: Annotated[str, "perceptual hash, 64 bits as 16 hex digits"]
    colours: Annotated[str, "8x8 RGB averages, 192 bytes in base64; empty: not taken"] = ""
    path: Annotated[str | None, "file that holds the bytes; None where they are in memory"] = None
    data: Annotated[bytes | None, "the encoded bytes; None where they are still on disk"] = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Locator:
    """The way to an element, through frames from the top down, then through shadow roots from the outside in."""

    frames: Annotated[tuple[str, ...], "CSS selectors of the iframes, outermost first"] = ()
    shadow: Annotated[tuple[str, ...], "CSS selectors of the shadow hosts, outermost first"] = ()
    css: Annotated[str, "CSS selector of the element in its own root; matches one element"] = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class States:
    """What Chromium's accessibility tree says of an element's state; None where a state does not apply."""

    checked: Annotated[Literal["true", "false", "mixed"] | None, "of checkboxes, radios, switches"] = None
    disabled: Annotated[bool, "own, by fieldset or by aria-disabled"] = False
    expanded: Annotated[bool | None, "of combo boxes, disclosures, tree items"] = None
    selected: Annotated[bool | None, "of options, tabs, cells"] = None
    pressed: Annotated[Literal["true", "false", "mixed"] | None, "of toggle buttons"] = None
    focused: Annotated[bool, "has the keyboard focus"] = False
    readonly: Annotated[bool, "cannot be edited"] = False
    required: Annotated[bool, "must be filled"] = False
    invalid: Annotated[bool, "reported as invalid"] = False
    value: Annotated[str | None, "as text; masked where it is a secret"] = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """What the gates judge an element by, measured in the browser together with the observation."""

    rects: Annotated[tuple[BBox, ...], "client rects, one a line box; the union is `Element.bbox`"] = ()
    in_viewport: Annotated[float, "share of the area inside the viewport"] = 0.0
    clipped: Annotated[float, "share of the area cut off by scrollers and clips"] = 0.0
    covered: Annotated[float, "share of the area painted over by other elements"] = 0.0
    opacity: Annotated[float, "product of opacities and opacity filters up the tree"] = 1.0
    rendered: Annotated[bool, "has boxes that are rendered (display, visibility, content-visibility)"] = True
    inert: Annotated[bool, "in an inert subtree, or behind a modal dialog"] = False
    pointer_events: Annotated[bool, "receives pointer events by style"] = True
    contrast: Annotated[float | None, "largest channel difference of text and ground, 0-255; None: not measured"] = None
    covered_by: Annotated[str | None, "selector of the element that covers most of it"] = None
    unsure: Annotated[str | None, "why script cannot tell what is seen: mask, blend, veil"] = None
    pixels: Annotated[float | None, "share of the area that changes when the element is hidden; None: not tried"] = None
    spread: Annotated[float | None, "largest difference of levels in its box, 0-255; None: not taken"] = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Element:
    """An element that a person could act on, or that an instruction could refer to."""

    id: Annotated[int, "number in this observation, as models see it: [18]"]
    role: Annotated[str, "computed by Chromium's accessibility tree"]
    name: Annotated[str, "accessible name, computed by Chromium's accessibility tree"]
    text: Annotated[str, "visible text, white space folded"] = ""
    tag: Annotated[str, "tag name in lower case"] = ""
    attributes: Annotated[
        tuple[Attribute, ...], "attributes that a person could know: type, placeholder, title, alt, contenteditable"
    ] = ()
    bbox: Annotated[BBox | None, "union of the rendered rects, not clipped; None where nothing is rendered"] = None
    point: Annotated[Point | None, "a point that a real click reaches, near the middle; None where there is none"] = (
        None
    )
    seen: Annotated[float, "share of the area that a person sees"] = 0.0
    hit: Annotated[float, "share of the area that receives the pointer"] = 0.0
    states: Annotated[States, "accessibility states"] = field(default_factory=States)
    locator: Annotated[Locator, "the way to it"] = field(default_factory=Locator)
    interactive: Annotated[bool, "takes input by role, tag or listener"] = False
    acts_on: Annotated[int | None, "id of the control that a label stands for"] = None
    dialog: Annotated[int | None, "id of the nearest dialog or overlay around it"] = None
    scroller: Annotated[int | None, "id of the nearest scroller around it"] = None
    parent: Annotated[int | None, "id of the nearest observed ancestor"] = None
    evidence: Annotated[Evidence, "what the gates judge by"] = field(default_factory=Evidence)


@dataclass(frozen=True, slots=True)
class Attribute:
    """One attribute of an element."""

    name: Annotated[str, "attribute name"]
    value: Annotated[str, "attribute value; masked where it is a secret"]


@dataclass(frozen=True, slots=True, kw_only=True)
class PageInfo:
    """One open page (tab or pop-up) of the browser context."""

    index: Annotated[int, "order of opening, counted from 0"]
    title: Annotated[str, "document title"]
    url: Annotated[str, "address, secrets masked"]
    active: Annotated[bool, "the page that the observation is of"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Dialog:
    """A JavaScript dialog, and how it was answered."""

    type: Annotated[str, "alert, confirm, prompt or beforeunload"]
    message: Annotated[str, "what it said"]
    accepted: Annotated[bool | None, "the answer given; None while it is open"] = None
    text: Annotated[str | None, "text given to a prompt"] = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Observation:
    """One settled moment of a page: the picture and the evidence of the same moment."""

    screenshot: Annotated[Image | None, "viewport picture; None where it could not be taken, and `notes` says why"]
    viewport: Annotated[Size, "CSS px"]
    device_pixel_ratio: Annotated[float, "image px for one CSS px"] = 1.0
    url: Annotated[str, "address of the active page, secrets masked"] = ""
    title: Annotated[str, "title of the active page"] = ""
    time: Annotated[float, "seconds since the epoch, when the picture was taken"] = 0.0
    scroll: Annotated[Point, "scroll offset of the document, CSS px"] = Point(0.0, 0.0)
    pages: Annotated[tuple[PageInfo, ...], "all open pages, in order of opening"] = ()
    dialogs: Annotated[tuple[Dialog, ...], "dialogs open now, or answered since the last observation"] = ()
    elements: Annotated[tuple[Element, ...], "in document order through frames and shadow roots"] = ()
    focused: Annotated[int | None, "id of the focused element"] = None
    notes: Annotated[
        tuple[str, ...], "what could not be had and why: a frame gone, a font not loaded, a limit reached"
    ] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Action:
    """One action of a person or a model, flat: fields that its type does not use are None or empty."""

    type: Annotated[ActionType, "what is done"]
    point: Annotated[Point | None, "where; for a drag the start"] = None
    end: Annotated[Point | None, "where a drag ends, at least 4 px from its start"] = None
    element: Annotated[int | None, "id of the element acted on, in the observation of the step"] = None
    text: Annotated[str | None, "text typed, option label chosen, answer given, thought, cause of infeasible"] = None
    value: Annotated[str | None, "value of the option chosen"] = None
    keys: Annotated[tuple[str, ...], "keys pressed together, in W3C names: Control, a"] = ()
    modifiers: Annotated[tuple[str, ...], "modifier keys held during a pointer action"] = ()
    scroll_x: Annotated[float | None, "scroll amount, + is right, in `scroll_unit`"] = None
    scroll_y: Annotated[float | None, "scroll amount, + is down, in `scroll_unit`"] = None
    scroll_unit: Annotated[Literal["px", "line", "click"] | None, "unit of the scroll amounts"] = None
    files: Annotated[tuple[str, ...], "names of uploaded files, without folders"] = ()
    url: Annotated[str | None, "address to navigate to, secrets masked"] = None
    page: Annotated[int | None, "index of the page to switch to"] = None
    accept: Annotated[bool | None, "answer to a dialog"] = None
    seconds: Annotated[float | None, "how long to wait, seconds"] = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Effect:
    """What an action changed, from pictures and state together. See `cuadata.effects`."""

    kind: Annotated[EffectKind, "none, local, global, ambient (the page moves anyway), late (after the wait), unknown"]
    similarity: Annotated[
        float | None, "lowest local SSIM outside what moves by itself, -1 to 1; None: no pictures"
    ] = None
    region: Annotated[BBox | None, "box around what changed, CSS px; None where nothing did"] = None
    share: Annotated[float, "share of the picture that changed"] = 0.0
    state: Annotated[tuple[str, ...], "state differences, one phrase each: 'checkbox MRW: checked false -> true'"] = ()
    size_changed: Annotated[bool, "the two pictures differ in size and were not compared"] = False
    settled: Annotated[float | None, "seconds from the action until the page stood still; None: not measured"] = None
    reason: Annotated[str, "why this kind, in one sentence"] = ""

    @property
    def happened(self) -> bool | None:
        """True where the action did something, False where it did nothing, None where that is not known."""
        if self.kind == "unknown":
            return None
        return self.kind in ("local", "global", "late")


@dataclass(frozen=True, slots=True, kw_only=True)
class Reward:
    """One reward that was paid at a step."""

    name: Annotated[str, "name of the term"]
    value: Annotated[float, "what it paid at this step"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One action with the observation before it and, where taken, the one after it."""

    index: Annotated[int, "position in the trajectory, from 0"]
    time: Annotated[float, "when the action began, seconds since the epoch; later than the observation"]
    observation: Annotated[Observation, "what stood before the action"]
    action: Annotated[Action, "what was done"]
    target: Annotated[Element | None, "the element acted on, as it was before the action"] = None
    after: Annotated[Observation | None, "what stood once the page had settled; None where it was not taken"] = None
    phase: Annotated[Phase | None, "dismiss, reason, act or enter; None until the trajectory is split"] = None
    thought: Annotated[str | None, "what the actor said before acting"] = None
    effect: Annotated[Effect | None, "what the action changed; None where it was not measured"] = None
    label: Annotated[StepLabel | None, "role of the step in failing and recovering"] = None
    rewards: Annotated[tuple[Reward, ...], "reward terms paid at this step"] = ()
    logprob: Annotated[float | None, "log-probability of the action under the policy that chose it"] = None
    output: Annotated[str | None, "the model's text that was read as this action"] = None
    error: Annotated[str | None, "why the action failed; None where it went through"] = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """How a trajectory ended."""

    ended: Annotated[Ended, "why it ended"]
    success: Annotated[bool | None, "by the exact criterion; None where nobody said"] = None
    exact: Annotated[float | None, "reward by the exact criterion"] = None
    raw: Annotated[float | None, "the task's own reward"] = None
    reason: Annotated[str | None, "detail in words"] = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Trajectory:
    """One attempt at one instruction, from the first observation to the end."""

    id: Annotated[str, "unique in a dataset"]
    instruction: Annotated[str, "what the actor was asked to do"]
    source: Annotated[str, "who or what acted, or where it came from: person, script, oracle, a source's name"]
    task: Annotated[Task | None, "the task, where there is one"] = None
    steps: Annotated[tuple[Step, ...], "in order of time"] = ()
    outcome: Annotated[Outcome, "how it ended"] = field(default_factory=lambda: Outcome(ended="running"))
    site: Annotated[str, "host or family of the pages, for splits"] = ""
    browser: Annotated[str, "build and kind of the browser"] = ""
    notes: Annotated[
        tuple[str, ...], "what reading or importing had to say: a torn line dropped, a frame not heard"
    ] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Condition:
    """Something that can be read off an observation, by meaning and never by tag name."""

    role: Annotated[str | None, "accessibility role; None matches any"] = None
    name: Annotated[str | None, "accessible name, compared with case and white space folded; None matches any"] = None
    state: Annotated[str | None, "a field of States to compare; None asks for presence only"] = None
    value: Annotated[str | None, "what the state must be, as text"] = None
    present: Annotated[bool, "False: no seen element may match"] = True
    url: Annotated[str | None, "part of the address instead of an element"] = None
    script: Annotated[str | None, "JavaScript expression on a page of our own, instead of an element"] = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Term:
    """A named reward term."""

    name: Annotated[str, "name"]
    value: Annotated[float, "what it pays"]
    kind: Annotated[Literal["once", "potential"], "once pays one time; potential pays back what is undone"] = "once"
    when: Annotated[tuple[Condition, ...], "all must hold"] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Binding:
    """A word of the instruction bound to an element of the page."""

    word: Annotated[str, "the words as they stand in the instruction"]
    part: Annotated[Literal["target", "reference", "control"], "what the element is in the instruction"]
    locator: Annotated[Locator, "the way to the element"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Move:
    """One step of a task's solution; the point is taken from the page when it is played."""

    action: Annotated[Action, "what to do"]
    locator: Annotated[Locator | None, "on which element; None for actions without a target"] = None
    end: Annotated[Locator | None, "element that a drag ends on; None for other actions"] = None
    phase: Annotated[Phase | None, "its phase, known by construction"] = None


@dataclass(frozen=True, slots=True)
class Axis:
    """One thing that a generator varied."""

    name: Annotated[str, "axis"]
    value: Annotated[str, "value, as text"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """A page and an instruction, with truth that a browser can check."""

    id: Annotated[str, "family/seed"]
    family: Annotated[str, "name of the generator or environment"]
    seed: Annotated[int, "seed; the task is a pure function of it"]
    instruction: Annotated[str, "what to do"]
    html: Annotated[str | None, "the page as HTML; None where `url` is given"] = None
    url: Annotated[str | None, "the page as an address; None where `html` is given"] = None
    viewport: Annotated[Size, "CSS px"] = Size(1280, 720)
    device_pixel_ratio: Annotated[float, "image px for one CSS px"] = 1.0
    bindings: Annotated[tuple[Binding, ...], "words of the instruction bound to elements"] = ()
    relation: Annotated[Relation | None, "spatial relation that the instruction states"] = None
    solution: Annotated[tuple[Move, ...], "a way that reaches success"] = ()
    terms: Annotated[tuple[Term, ...], "reward terms"] = ()
    success: Annotated[tuple[Condition, ...], "all must hold at the end"] = ()
    axes: Annotated[tuple[Axis, ...], "what was varied"] = ()
    template: Annotated[str, "what the page was made from, for splits"] = ""
    pair_id: Annotated[str | None, "joins the members of a minimal pair"] = None
