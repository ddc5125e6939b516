"""Recordings round-trip, are read fast, and say what is wrong with them and where."""

from __future__ import annotations

import gzip
import hashlib
import json
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from build_trajectories import ACCEPT, START, VIEWPORT, checkout, click, picture, play, save
from hypothesis import given, settings
from hypothesis import strategies as st

from cuadata import privacy, recording, registry
from cuadata.errors import DataError
from cuadata.types import Action, Element, Image, Observation, Outcome, PageInfo, Step, Task, Trajectory


def plain(trajectory: Trajectory) -> Trajectory:
    """The trajectory without what a recording adds: paths of pictures, and how much is to be seen at a target."""

    def bare(shot: Image | None) -> Image | None:
        return None if shot is None else replace(shot, data=None, path=None)

    def seen(one: Observation) -> Observation:
        return replace(one, screenshot=bare(one.screenshot))

    def aim(one: Element | None) -> Element | None:
        return None if one is None else replace(one, evidence=replace(one.evidence, spread=None))

    def step(one: Step) -> Step:
        later = None if one.after is None else seen(one.after)
        return replace(one, observation=seen(one.observation), after=later, target=aim(one.target))

    return replace(trajectory, steps=tuple(step(one) for one in trajectory.steps))


def edit_line(path: Path, number: int, change: Any) -> None:
    """Change a line of steps.jsonl by hand, as a stranger's tool might."""
    file = path / "steps.jsonl"
    lines = file.read_text().splitlines(keepends=True)
    record = json.loads(lines[number])
    change(record)
    lines[number] = json.dumps(record) + "\n"
    file.write_text("".join(lines))


def shot_of(path: Path, number: int) -> Path:
    """The file that holds the picture before a step."""
    record = json.loads((path / "steps.jsonl").read_text().splitlines()[number])
    described = record["step"]["observation"]["screenshot"]
    return path / "blobs" / f"{described['sha256']}.{described['format']}"


def test_a_trajectory_comes_back_as_it_was(tmp_path: Path) -> None:
    made = checkout()
    back = recording.read(save(made, tmp_path))
    assert plain(back) == plain(made)
    for step in back.steps:
        shot = step.observation.screenshot
        assert shot is not None and shot.path is not None
        assert Path(shot.path).read_bytes() == shot.data
        assert step.target is not None and step.target.evidence.spread == 255


def test_pictures_may_stay_on_the_disk(tmp_path: Path) -> None:
    path = save(checkout(), tmp_path)
    back = recording.read(path, pictures=False)
    shots = [step.observation.screenshot for step in back.steps]
    assert all(shot is not None and shot.data is None and shot.path is not None for shot in shots)


SHOTS = st.sampled_from([None, *(picture((), seed=n) for n in range(3))])
OBSERVATIONS = st.builds(Observation, screenshot=SHOTS, viewport=st.just(VIEWPORT))
STEPS = st.lists(
    st.builds(Step, observation=OBSERVATIONS, after=st.none() | OBSERVATIONS, time=st.floats(0, 1e9)), max_size=3
)


@settings(max_examples=25)
@given(STEPS, st.from_type(Task) | st.none(), st.from_type(Outcome), st.text(min_size=1, max_size=20))
def test_any_trajectory_comes_back_as_it_was(steps: list[Step], task: Task | None, outcome: Outcome, id: str) -> None:
    times = sorted(step.time for step in steps)
    ordered = tuple(replace(s, index=i, time=t) for i, (s, t) in enumerate(zip(steps, times, strict=True)))
    made = Trajectory(id=id, instruction="x", source="y", task=task, steps=ordered, outcome=outcome)
    with tempfile.TemporaryDirectory() as folder:
        back = recording.read(save(replace(made, id="one"), Path(folder)))
    assert plain(replace(back, id=id, notes=())) == plain(made)


def test_the_same_picture_is_stored_once_and_bytes_are_untouched(tmp_path: Path) -> None:
    made = checkout()
    path = save(made, tmp_path)
    pictures = {s.observation.screenshot.sha256 for s in made.steps if s.observation.screenshot} | {
        s.after.screenshot.sha256 for s in made.steps if s.after and s.after.screenshot
    }
    assert {blob.stem for blob in (path / "blobs").glob("*.png")} == pictures
    for blob in (path / "blobs").iterdir():
        assert hashlib.sha256(blob.read_bytes()).hexdigest() == blob.name.split(".")[0]


def test_the_same_trajectory_gives_the_same_bytes(tmp_path: Path) -> None:
    for name in ("a", "b"):
        save(checkout(), tmp_path / name)
    one, other = (
        {p.relative_to(tmp_path / name): p.read_bytes() for p in (tmp_path / name).rglob("*") if p.is_file()}
        for name in ("a", "b")
    )
    assert one == other and len(one) > 10


def test_the_instruction_may_be_said_at_the_end(tmp_path: Path) -> None:
    with recording.create(tmp_path / "r", id="r", instruction="", source="person") as writer:
        writer.add(checkout().steps[0])
        writer.close(Outcome(ended="success", success=True), instruction="Close the banner", notes=("said afterwards",))
    back = recording.read(tmp_path / "r")
    assert (back.instruction, back.notes) == ("Close the banner", ("said afterwards",))


def test_an_error_inside_becomes_the_outcome(tmp_path: Path) -> None:
    with (
        pytest.raises(RuntimeError, match="boom"),
        recording.create(tmp_path / "r", id="r", instruction="x", source="oracle") as writer,
    ):
        writer.add(checkout().steps[0])
        raise RuntimeError("boom")
    back = recording.read(tmp_path / "r")
    assert (back.outcome.ended, back.outcome.reason, len(back.steps)) == ("error", "RuntimeError: boom", 1)
    assert not (tmp_path / "r" / "lock").exists()


def test_a_step_can_be_taken_back_with_its_pictures(tmp_path: Path) -> None:
    steps = checkout().steps
    with recording.create(tmp_path / "r", id="r", instruction="x", source="person") as writer:
        writer.add(steps[0])
        held = {p.name for p in (tmp_path / "r" / "blobs").iterdir()}
        writer.add(steps[1])
        writer.drop_last()
        assert {p.name for p in (tmp_path / "r" / "blobs").iterdir()} == held
        with pytest.raises(DataError, match="no step to take back"):
            writer.drop_last()
        writer.add(steps[1])
        writer.add(steps[2])
        writer.close(Outcome(ended="success"))
    assert [s.action for s in recording.read(tmp_path / "r").steps] == [s.action for s in steps[:3]]


def test_a_step_can_be_taken_back_after_all_steps_were_stored_again(tmp_path: Path) -> None:
    steps = checkout().steps
    with recording.create(tmp_path / "r", id="r", instruction="x", source="person") as writer:
        writer.add(steps[0])
        writer.add(steps[1])
        changed = lambda record: replace(record, thought="new") if isinstance(record, Step) else record
        assert writer.rewrite(changed) == 2
        writer.drop_last()
        writer.add(steps[1])
        writer.close(Outcome(ended="success"))
    held = recording.read(tmp_path / "r").steps
    assert [s.thought for s in held] == ["new", steps[1].thought]
    with recording.create(tmp_path / "one", id="r", instruction="x", source="person") as writer:
        writer.add(steps[0])
        writer.close(Outcome(ended="success"))
    assert len(list((tmp_path / "r" / "blobs").iterdir())) >= len(list((tmp_path / "one" / "blobs").iterdir()))


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda s: replace(s, index=5), "step 1 comes next"),
        (lambda s: replace(s, time=START - 1), "its time goes back"),
        (lambda s: replace(s, action=Action(type="fly")), "Invalid enum value 'fly'"),  # type: ignore[arg-type]
        (lambda s: replace(s, action=replace(s.action, text=3)), "Expected `str | null`, got `int`"),
        (lambda s: seen(s, width=7), "640x360 px, its record says 7x360"),
        (lambda s: seen(s, data=b"\x89PNG\r\n\x1a\n" + b"x" * 40), "cut off"),
        (lambda s: seen(s, sha256="0" * 64), "not those of 000000000000"),
        (lambda s: seen(s, data=None, path="/nowhere/x.png"), "No such file"),
    ],
)
def test_a_bad_step_is_refused_and_costs_nothing(tmp_path: Path, change: Any, words: str) -> None:
    steps = checkout().steps
    with recording.create(tmp_path / "r", id="r", instruction="x", source="oracle") as writer:
        writer.add(steps[0])
        with pytest.raises(DataError) as caught:
            writer.add(change(steps[1]))
        assert words in str(caught.value)
        assert str(tmp_path / "r") in caught.value.place and "step" in caught.value.place
        writer.add(steps[1])
        writer.close(Outcome(ended="success"))
    assert len(recording.read(tmp_path / "r").steps) == 2


def seen(step: Step, **picture: Any) -> Step:
    """The step with its picture described in another way."""
    shot = step.observation.screenshot
    assert shot is not None
    return replace(step, observation=replace(step.observation, screenshot=replace(shot, **picture)))


def truncate(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-20])


@pytest.mark.parametrize(
    ("damage", "words"),
    [
        (lambda p: truncate(shot_of(p, 2)), r"step 1, after: picture .* is damaged: the PNG of \d+ bytes is cut off"),
        (lambda p: shot_of(p, 2).write_bytes(b""), "step 1, after: picture .* is damaged"),
        (
            lambda p: shot_of(p, 2).write_bytes(shot_of(p, 0).read_bytes()),
            "step 1, after: .* is not the one that was recorded",
        ),
        (lambda p: shot_of(p, 3).unlink(), r"step 2, after: picture \w+.png is not there"),
        (
            lambda p: edit_line(p, 1, lambda r: r["step"]["observation"]["screenshot"].update(width=1280)),
            "step 1: picture .* stands with two sizes",
        ),
        (
            lambda p: edit_line(p, 1, lambda r: r["step"]["action"].update(type="fly")),
            "step 1: .*Invalid enum value 'fly'",
        ),
        (lambda p: edit_line(p, 4, lambda r: r["step"].pop("observation")), "step 4: .*required field `observation`"),
        (lambda p: edit_line(p, 0, lambda r: r.update(elements="../../etc")), "step 0: .*no sha256"),
        (
            lambda p: edit_line(p, 0, lambda r: r["step"]["observation"]["screenshot"].update(sha256="../x")),
            "step 0: .*no name of a picture",
        ),
        (lambda p: next((p / "blobs").glob("*.jsonl.gz")).write_bytes(b"\x1f\x8b"), "step .*sha256 differs"),
        (lambda p: (p / "header.json").unlink(), "header.json is not there"),
        (lambda p: (p / "header.json").write_text("{"), "header.json is no JSON object"),
        (lambda p: (p / "steps.jsonl").unlink(), "steps.jsonl is not there"),
        (lambda p: (p / "outcome.json").write_text('{"outcome":{"ended":"won"}}'), "outcome.json: .*'won'"),
    ],
)
def test_damage_is_named_with_its_place(tmp_path: Path, damage: Any, words: str) -> None:
    path = save(checkout(), tmp_path)
    damage(path)
    with pytest.raises(DataError, match=words) as caught:
        recording.read(path)
    assert str(path) in str(caught.value)


def test_places_that_are_no_recording(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="no such recording"):
        recording.read(tmp_path / "nowhere")
    with pytest.raises(DataError, match="no such folder"):
        recording.find(tmp_path / "nowhere")
    assert recording.find(tmp_path) == []
    with pytest.raises(DataError, match="no recording is in it"):
        list(registry.sources["recordings"](tmp_path))
    with pytest.raises(DataError, match="the folder cannot be made"):
        recording.create(Path("/proc/recording"), id="r", instruction="x", source="y")
    with pytest.raises(DataError, match="needs an id"):
        recording.create(tmp_path / "r", id="", instruction="x", source="y")


def test_many_recordings_come_in_order_and_ids_are_unique(tmp_path: Path) -> None:
    for n in (2, 0, 1):
        save(checkout(f"t{n}"), tmp_path / "deep" / "er")
    assert [t.id for t in registry.sources["recordings"](tmp_path)] == ["t0", "t1", "t2"]
    assert recording.find(tmp_path / "deep" / "er" / "t1") == [tmp_path / "deep" / "er" / "t1"]
    save(checkout("t0"), tmp_path / ".deep.7.half")
    assert len(recording.find(tmp_path)) == 3
    save(checkout("t1"), tmp_path / "twin")
    with pytest.raises(DataError, match=r"its id 't1' is also that of .*er/t1"):
        list(recording.read_all(tmp_path))


def test_a_bomb_of_elements_is_refused(tmp_path: Path) -> None:
    path = save(checkout(), tmp_path)
    bomb = gzip.compress(b" " * (65 * 2**20), compresslevel=1)
    name = hashlib.sha256(bomb).hexdigest()
    (path / "blobs" / f"{name}.jsonl.gz").write_bytes(bomb)
    edit_line(path, 0, lambda r: r.update(elements=name))
    with pytest.raises(DataError, match="step 0: .*over the limit"):
        recording.read(path)


def test_a_step_without_a_picture_is_kept_with_its_reason(tmp_path: Path) -> None:
    step = checkout().steps[0]
    blind = replace(step, observation=replace(step.observation, screenshot=None, notes=("the page crashed",)))
    with recording.create(tmp_path / "r", id="r", instruction="x", source="person") as writer:
        writer.add(blind)
        writer.close(Outcome(ended="error"))
    back = recording.read(tmp_path / "r").steps[0].observation
    assert back.screenshot is None and back.notes == ("the page crashed",)


def test_a_recording_says_when_it_is_shorter_than_it_was(tmp_path: Path) -> None:
    path = save(checkout(), tmp_path)
    lines = (path / "steps.jsonl").read_bytes().splitlines(keepends=True)
    (path / "steps.jsonl").write_bytes(b"".join(lines[:3]))
    back = recording.read(path)
    assert back.notes == ("5 steps were recorded, 3 are left",)
    # That the whole attempt won says nothing of the three steps that are left of it.
    assert (back.outcome.ended, back.outcome.success) == ("interrupted", None)
    assert back.outcome.reason == "5 steps were recorded, 3 are left"


def test_a_recording_says_when_it_is_longer_than_its_outcome_says(tmp_path: Path) -> None:
    path = save(checkout(), tmp_path)
    ending = json.loads((path / "outcome.json").read_bytes())
    (path / "outcome.json").write_text(json.dumps({**ending, "steps": 4}))
    back = recording.read(path)
    assert back.notes == ("4 steps were recorded, 5 are there",)
    assert back.outcome == checkout().outcome


def test_a_key_that_stands_twice_is_refused(tmp_path: Path) -> None:
    path = save(checkout(), tmp_path)
    lines = (path / "steps.jsonl").read_bytes().splitlines(keepends=True)
    lines[2] = lines[2].replace(b'"action":{', b'"action":{"type":"press","keys":["Escape"],', 1)
    (path / "steps.jsonl").write_bytes(b"".join(lines))
    with pytest.raises(DataError, match=r"step 2: the key 'type' stands there twice; delete the one that is wrong"):
        recording.read(path)


def test_a_line_of_another_hand_may_be_spaced_otherwise(tmp_path: Path) -> None:
    path = save(checkout(), tmp_path)
    lines = (path / "steps.jsonl").read_text().splitlines()
    (path / "steps.jsonl").write_text("".join(json.dumps(json.loads(line)) + "\n" for line in lines))
    assert plain(recording.read(path)) == plain(checkout())


def test_a_picture_with_a_hole_is_damaged_and_says_what_to_do(tmp_path: Path) -> None:
    path = save(checkout(), tmp_path)
    shot = shot_of(path, 2)
    held = bytearray(shot.read_bytes())
    held[len(held) // 2 : len(held) // 2 + 40] = bytes(40)
    shot.write_bytes(held)
    with pytest.raises(DataError, match=r"is damaged: the picture does not decode.*put the file back from a copy"):
        recording.read(path)


def test_a_click_on_nothing_known(tmp_path: Path) -> None:
    made = play([*([checkout_page()] * 2)], [Action(type="press", keys=("Escape",))])
    assert plain(recording.read(save(made, tmp_path))) == plain(made)


def checkout_page() -> Any:
    from build_trajectories import FORM, Page

    return Page((*FORM, ACCEPT))


def test_the_writer_counts(tmp_path: Path) -> None:
    with recording.create(tmp_path / "r", id="r", instruction="x", source="oracle") as writer:
        assert len(writer) == 0
        writer.add(checkout().steps[0])
        assert len(writer) == 1
        assert click(ACCEPT) == checkout().steps[0].action
    with pytest.raises(DataError, match="closed"):
        writer.add(checkout().steps[1])


def test_addresses_are_written_without_their_secrets(tmp_path: Path) -> None:
    address = "https://jane:hunter2@shop.test/cart?access_token=abcdef123456&page=2"
    first = checkout().steps[0]
    step = replace(
        first,
        observation=replace(
            first.observation, url=address, pages=(PageInfo(index=0, title="Cart", url=address, active=True),)
        ),
        after=None if first.after is None else replace(first.after, url=address),
        action=Action(type="navigate", url=address),
        target=None,
    )
    with recording.create(tmp_path / "r", id="r", instruction="x", source="oracle") as writer:
        writer.add(step)
    written = (tmp_path / "r" / "steps.jsonl").read_text()
    assert "hunter2" not in written and "abcdef123456" not in written
    (back,) = recording.read(tmp_path / "r").steps
    masked = privacy.mask_url(address)
    assert masked.startswith("https://jane:masked-") and masked.endswith("&page=2")
    assert (back.observation.url, back.observation.pages[0].url, back.action.url) == (masked,) * 3


def test_steps_that_cannot_be_stored_again_leave_the_old_ones(tmp_path: Path) -> None:
    """One of the new steps is of an earlier time: nothing changes, and the recording goes on."""
    made, path = checkout().steps, tmp_path / "r"
    with recording.create(path, id="r", instruction="x", source="person") as writer:
        for step in made[:-1]:
            writer.add(step)
        before = {p: p.read_bytes() for p in path.rglob("*") if p.is_file()}
        with pytest.raises(DataError, match="its time goes back"):
            writer.rewrite(lambda one: replace(one, time=9.0 - one.index) if isinstance(one, Step) else one)
        assert {p: p.read_bytes() for p in path.rglob("*") if p.is_file()} == before
        assert writer.rewrite(lambda one: one) == 0
        assert (
            writer.rewrite(lambda one: replace(one, thought="new") if isinstance(one, Step) else one) == len(made) - 1
        )
        writer.add(made[-1])
        writer.close(Outcome(ended="success"))
    held = recording.read(path).steps
    assert [one.thought for one in held] == ["new"] * (len(made) - 1) + [made[-1].thought]
    assert [one.observation.screenshot for one in held] != [None] * len(held)
