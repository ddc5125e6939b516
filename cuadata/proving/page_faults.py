"""Known faults, put into live pages: the page itself is changed and measured again, so that evidence and gates are both tried.

The label is the one that was right before. Where a person would label the changed page anew (something lies over a part of
the target), the click goes to the point that is left. Whether the label is wrong then follows from the fault alone, as in
`cuadata.proving.inject`.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Annotated, Any, Final

from cuadata.proving import injectors
from cuadata.proving.inject import Fault
from cuadata.rows import Candidate, Target
from cuadata.types import Element, Observation

#: Faults of a label or a picture, which need no page: `cuadata.proving.inject` makes them.
OF_THE_LABEL: Final = ("relation_flipped", "reference_swapped", "other_moment", "other_frame", "text_changed")

#: Transforms do not move what stands in a line of text.
_BY = """const by = (x, y) => {
  if (getComputedStyle(el).display !== 'inline') el.style.translate = `${x}px ${y}px`;
  else Object.assign(el.style, { position: 'relative', left: `${x}px`, top: `${y}px` });
};"""
_MOVE = f"(el, a) => {{ {_BY} by(a[0], a[1]); }}"
_COVER = """(el, a) => {
  const r = el.getBoundingClientRect(), d = document.createElement('div'), [left, share] = a;
  d.style.cssText = `position:fixed;margin:0;background:#777;z-index:2147483647;pointer-events:auto;top:${r.top}px;` +
    `height:${r.height}px;width:${r.width * share}px;left:${left ? r.left : r.right - r.width * share}px`;
  (el.closest('dialog') || document.body).append(d);
}"""
_HIDE: Final = {
    "transparent": "(el) => { el.style.opacity = '0'; }",
    "visibility": "(el) => { el.style.visibility = 'hidden'; }",
    "not displayed": "(el) => { el.style.display = 'none'; }",
    "clipped away": "(el) => { el.style.clipPath = 'inset(0 0 100% 0)'; }",
    "outside": f"(el) => {{ {_BY} by(0, -4000); }}",
}
_DISABLE: Final = {
    "disabled": "(el) => { if ('disabled' in el) el.disabled = true; else el.setAttribute('aria-disabled', 'true'); }",
    "inert": "(el) => { el.inert = true; }",
}
_REMOVE = "(el) => el.remove()"
_COPY = """(el, a) => {
  const [x, y, width, height, spelling] = a, copy = el.cloneNode(true), other = (t) => ({
    'exact copy': t, 'other case': t === t.toUpperCase() ? t.toLowerCase() : t.toUpperCase(),
    'white space': ` ${t.replaceAll(' ', '  ')}\\u00a0`, 'punctuation': `${t}:`, 'other name': `${t} of another`})[spelling];
  copy.removeAttribute('id');
  copy.style.cssText += `;position:fixed;margin:0;left:${x}px;top:${y}px;width:${width}px;height:${height}px;translate:none`;
  for (const name of ['aria-label', 'title', 'alt', 'placeholder', 'value'])
    if (copy.hasAttribute(name) && !(name === 'value' && copy.type !== 'button' && copy.type !== 'submit'))
      copy.setAttribute(name, other(copy.getAttribute(name)));
  const texts = document.createTreeWalker(copy, NodeFilter.SHOW_TEXT);
  for (let node = texts.nextNode(); node; node = texts.nextNode())
    if (node.data.trim()) node.data = other(node.data.trim());
  // A control that is called by a label takes a copy of it along.
  const label = el.labels?.[0], name = label?.textContent.trim();
  const holder = (label?.contains(el) ? label : el).parentElement; // where its role has the surroundings that it needs
  if (name) {
    const beside = document.createElement('label'), at = `left:${x + width + 2}px;top:${y}px;font:${getComputedStyle(label).font}`;
    copy.id = 'copied'; copy.removeAttribute('name'); beside.htmlFor = copy.id; beside.textContent = other(name);
    beside.style.cssText = `position:fixed;margin:0;white-space:nowrap;color:${getComputedStyle(label).color};${at}`;
    holder.append(beside);
  }
  holder.append(copy);
}"""


@dataclass(frozen=True, slots=True, kw_only=True)
class PageFault:
    """A change of the page, ready to be run, and what it makes of the label."""

    kind: str
    severity: str
    script: Annotated[str, "JavaScript function of the element and the argument"]
    argument: Any
    of: Annotated[Target, "the part of the label whose element is changed"]
    wrong: Annotated[Callable[[Candidate], bool | None], "whether a person would call the label wrong on the new page"]


def faults(candidate: Candidate, *, seed: int = 0) -> Iterator[PageFault]:
    """Every fault that has a place on this page. Only elements in the page's own document are changed."""
    target = candidate.example.target
    if target is None or target.bbox is None or not _reachable(target):
        return
    chance = random.Random(f"{seed}/{candidate.example.id}")
    always = _always
    for px in (1, 2, 4, 8, 16, 24, 40):
        by = chance.choice(((px, 0), (-px, 0), (0, px), (0, -px)))
        yield _fault("target_moved", f"{px} px", _MOVE, by, target, _is_off)
    for percent in (5, 20, 40, 60, 70, 80, 95):
        share = percent / 100
        judged = always if share > 2 / 3 else _never
        yield _fault("covered", f"{percent} %", _COVER, (chance.random() < 0.5, share), target, judged)
    for severity, script in _HIDE.items():
        yield _fault("hidden", severity, script, None, target, always)
    if candidate.example.action.type == "click":
        for severity, script in _DISABLE.items():
            yield _fault("disabled", severity, script, None, target, always)
    yield _fault("removed", "target", _REMOVE, None, target, always)
    yield from _copies(candidate, target)
    reference = candidate.example.references[0] if candidate.example.references else None
    if reference is not None and _reachable(reference):
        for severity, script in _HIDE.items():
            yield _fault("reference_hidden", severity, script, None, reference, always)
        yield _fault("removed", "reference", _REMOVE, None, reference, always)


def _fault(
    kind: str, severity: str, script: str, argument: Any, of: Target, wrong: Callable[[Candidate], bool | None]
) -> PageFault:
    return PageFault(kind=kind, severity=severity, script=script, argument=argument, of=of, wrong=wrong)


def _reachable(target: Target) -> bool:
    return target.locator is not None and not target.locator.frames and not target.locator.shadow


def _copies(candidate: Candidate, target: Target) -> Iterator[PageFault]:
    """Copies at a free place, where one is; whether they make the label wrong is the rule of `cuadata.proving.injectors`."""
    for severity in ("exact copy", "other case", "white space", "punctuation", "other name"):
        made = injectors.duplicated(candidate, severity, random.Random(0))
        page = made[0].observation if made is not None else None
        box = page.elements[-1].bbox if page is not None else None
        if made is None or box is None:
            return
        judged = _always if made[1] else _never
        yield _fault("duplicated", severity, _COPY, (box.x, box.y, box.width, box.height, severity), target, judged)


def _always(candidate: Candidate) -> bool:
    return True


def _never(candidate: Candidate) -> bool:
    return False


def _is_off(candidate: Candidate) -> bool | None:
    element = injectors.target_of(candidate)
    return None if element is None or element.bbox is None else injectors.label_is_off(element.bbox, candidate.example)


def on_the_new_page(candidate: Candidate, fault: PageFault, page: Observation) -> Fault:
    """The old label beside the evidence of the changed page."""
    element = _find(page, candidate.example.target)
    step = candidate.step
    if step is not None:
        step = replace(step, observation=page, target=element or step.target, time=page.time + 0.1)
    changed = replace(candidate, observation=page, step=step)
    example = replace(candidate.example, image=page.screenshot or candidate.example.image)
    if fault.kind == "covered" and element is not None and element.point is not None and example.target is not None:
        target = replace(example.target, point=element.point, seen=element.seen, hit=element.hit)
        example = replace(example, target=target, action=replace(example.action, point=element.point))
    changed = replace(changed, example=example)
    if step is not None and changed.step is not None:
        changed = replace(changed, step=replace(changed.step, action=example.action))
    return Fault(kind=fault.kind, severity=fault.severity, wrong=fault.wrong(changed), candidate=changed)


def _find(page: Observation, target: Target | None) -> Element | None:
    if target is None:
        return None
    return next((one for one in page.elements if one.locator == target.locator), None)
