"""The one vocabulary of reasons: why an example is not kept, each word with its sentence."""

from __future__ import annotations

from typing import Final

_OF_AN_ELEMENT: Final = {
    "missing": "is not on the page",
    "hidden": "is there, but a person does not see it: not rendered, transparent, masked, or in the colour of its ground",
    "offscreen": "lies outside the viewport",
    "clipped": "is cut off by a scroller or a clip",
    "occluded": "is painted over, or something else takes the click",
    "disabled": "takes no input: disabled or inert",
    "not_interactive": "is plain text or decoration that takes no input",
    "too_small": "has no area that a person could hit",
    "ambiguous": "shares its description with another element that a person sees",
    "stale": "was remembered from an earlier state of the page",
}

REASONS: Final[dict[str, str]] = {
    **{f"target_{word}": f"The target {sentence}." for word, sentence in _OF_AN_ELEMENT.items()},
    **{f"reference_{word}": f"The reference {sentence}." for word, sentence in _OF_AN_ELEMENT.items()},
    "relation_false": "The stated relation does not hold between target and reference.",
    "relation_marginal": "The stated relation holds or fails by less than the margin.",
    "relation_ambiguous": "More than one element satisfies the stated relation.",
    "relation_unmatched": "No element satisfies the stated relation.",
    "pair_false": "The changed picture of a pair is not what its change makes of the first, or its target lies elsewhere.",
    "point_outside_target": "The point of the action is not inside the target's box.",
    "action_failed": "The action raised an error when it was carried out.",
    "action_unsupported": "The action is of a kind that has no place in the dataset.",
    "not_an_input": "The entry is no input of a person: a wait, a check, a navigation by script.",
    "multi_action_step": "Several actions ride on one picture.",
    "task_failed": "The trajectory failed its task, and nothing shows that this step was right.",
    "no_effect": "Nothing changed after the action, neither in the picture nor in the state.",
    "taken_back": "A later step took back what this one did.",
    "screenshot_missing": "The step has no picture.",
    "screenshot_after_action": "The picture was taken after the action.",
    "screenshot_stale": "The picture is of an earlier moment than the evidence.",
    "screenshot_annotated": "The picture has marks drawn on it that give the answer away.",
    "screenshot_undecodable": "The picture's bytes do not decode.",
    "screenshot_scale_unknown": "The picture's size does not fit the viewport at any known pixel ratio.",
    "screenshot_size_mismatch": "The picture is not of the size that its record states.",
    "coordinates_out_of_range": "A coordinate lies outside the picture, or is not a number.",
    "convention_unknown": "The boxes fit more than one coordinate convention, and none is declared.",
    "convention_contradicted": "The boxes cannot be in the convention that is declared.",
    "box_missing": "There is a point but no box.",
    "box_degenerate": "The box has no area, or a negative side.",
    "box_not_tight": "The box is that of a canvas or a plug-in; what was meant is painted in it and has none of its own.",
    "box_covers_page": "The box covers nearly the whole picture.",
    "instruction_missing": "There is no instruction.",
    "answer_exists": "The answer is that it cannot be done, and something on the page is what the instruction asks for.",
    "instruction_mismatch": "The instruction names something that the target is not, or lost the words bound to it.",
    "history_gap": "Steps between this one and its history are missing, or an earlier step has its number.",
    "duplicate": "The same picture, instruction and action were kept already.",
    "duplicate_event": "The same input was recorded twice.",
    "script_triggered": "The page did it by itself; no person or model did.",
    "time_not_monotonic": "The time of this step is earlier than that of the step before.",
    "version_unknown": "The record is of a version that this release does not know.",
    "missing_file": "A file that the record names is not there.",
    "path_outside_set": "A path leads out of the data set's folder.",
    "unsafe_pickle": "The pickle names classes that could run code.",
    "benchmark_leak": "The row belongs to a public evaluation set.",
    "sensitive_value": "The row holds a secret or personal data.",
    "never_hit": "No rollout of the reference model hit it, and nothing else vouches for its label.",
    "too_hard": "Rollouts of the reference model hit it too seldom.",
    "too_easy": "Rollouts of the reference model hit it too often for it to teach anything.",
    "licence_restricted": "The row's licence forbids this use.",
}


def check(reason: str) -> str:
    """The reason itself; ValueError where it is not in the vocabulary."""
    if reason not in REASONS:
        near = ", ".join(sorted(word for word in REASONS if word.split("_")[0] == reason.split("_")[0]))
        raise ValueError(
            f"'{reason}' is no reason{near and f'; of its kind there are: {near}'}; `cuadata list reasons` names all, and a"
            " new one is a line in cuadata/reasons.py"
        )
    return reason
