"""Recordings round-trip, survive a crash at any moment, and say what is wrong with them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from build_trajectories import checkout, save

from cuadata import recording
from cuadata.types import Image, Observation, Step, Trajectory


def without_bytes(trajectory: Trajectory) -> Trajectory:
    """The trajectory as a recording describes it: pictures without bytes and path."""

    def bare(picture: Image | None) -> Image | None:
        return None if picture is None else replace(picture, data=None, path=None)

    def seen(one: Observation) -> Observation:
        return replace(one, screenshot=bare(one.screenshot))

    def step(one: Step) -> Step:
        return replace(one, observation=seen(one.observation), after=None if one.after is None else seen(one.after))

    return replace(trajectory, steps=tuple(step(one) for one in trajectory.steps))


def test_a_trajectory_comes_back_as_it_was(tmp_path: Path) -> None:
    made = checkout()
    back = recording.read(save(made, tmp_path))
    assert without_bytes(back) == without_bytes(made)
    for step in back.steps:
        shot = step.observation.screenshot
        assert shot is not None and shot.path is not None
        assert Path(shot.path).read_bytes() == shot.data
