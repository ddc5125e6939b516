"""Rows of a dataset as an evaluation set, judged by rollouts, kept as a dataset again; the gate that reads them."""

from __future__ import annotations

import io
import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cuadata import image, registry, schema
from cuadata.building.shards import Writer
from cuadata.errors import CallError, DataError
from cuadata.rows import Candidate, Grounding, Target
from cuadata.scores import difficulty, evaluation, selection
from cuadata.scores.difficulty import Rollouts
from cuadata.statistics.intervals import wilson
from cuadata.types import Action, BBox, Point


def row(number: int, png: bytes, *, relation: str | None = None, above: bool = True) -> Grounding:
    """A row whose target is at 100..140, 100..120 CSS px of 800x600, in a picture of half that size."""
    picture = image.from_bytes(png)
    return Grounding(
        id=f"t{number}/0",
        trajectory_id=f"t{number}",
        step_index=0,
        image=picture,
        image_width=400,
        image_height=300,
        viewport_width=800,
        viewport_height=600,
        device_pixel_ratio=0.5,
        instruction=f"Click on button {number}",
        action=Action(type="click", point=Point(120, 110)),
        target=Target(role="button", name=f"{number}", bbox=BBox(100, 100, 40, 20)),
        references=(Target(role="button", name="r", bbox=BBox(100, 200 if above else 0, 40, 20)),) if relation else (),
        relation=relation,
        split_group=f"g{number // 2}",
        axes=("theme=dark",),
        candidates=(Target(role="button", name="other", bbox=BBox(100, 40, 40, 20)),),
        pair_id="pair" if number < 2 else None,
    )


def written(folder: Path, rows: Sequence[Grounding], split: str = "train") -> Path:
    """A dataset with these rows in one split."""
    (folder / "grounding").mkdir(parents=True, exist_ok=True)
    with Writer(schema.arrow_schema(Grounding), folder / "grounding", split) as writer:
        for one in rows:
            writer.add(schema.to_row(one))
        writer.close()
    return folder


@pytest.fixture
def made(tmp_path: Path, png: bytes) -> Path:
    """A dataset with four grounding rows, and a config that has no targets."""
    rows = [row(0, png, relation="above"), row(1, png, relation="above", above=False), row(2, png), row(3, png)]
    return written(tmp_path / "made", rows)


def answers(path: Path, texts: Sequence[Sequence[str]]) -> Path:
    path.write_text("\n".join(json.dumps({"id": f"t{n}/0", "outputs": held}) for n, held in enumerate(texts)) + "\n")
    return path


def call(x: int, y: int) -> str:
    arguments = {"action": "left_click", "coordinate": [x, y]}
    return f"<tool_call>{json.dumps({'name': 'computer_use', 'arguments': arguments})}</tool_call>"


HIT, MISS = call(150, 183), call(900, 900)  # thousandths of 800x600 CSS px: (120, 110) and (720, 540)


def test_rows_of_a_dataset_are_a_gold_set_in_the_family_s_frame(made: Path, tmp_path: Path) -> None:
    path = answers(tmp_path / "p.jsonl", [[HIT], [HIT], [MISS], ["hm"]])
    _, rows, result = evaluation.answers(path, f"dataset:{made}", "qwen3vl")
    assert [r.success for r in rows] == [True, True, False, False]
    assert (result["n"], result["parse_failures"], result["frame"]) == (4, 1, None)
    assert result["by_axis"]["theme"]["dark"]["n"] == 4
    assert result["strict_pairs"] == {"hits": 1, "n": 1, "rate": 1.0, "interval": wilson(1, 1)}
    assert [r.taxonomy for r in rows] == [True, False, False, False]
    one = made / "grounding" / "train-00000-of-00001.parquet"
    assert evaluation.answers(path, f"dataset:{one}", "qwen3vl")[2]["accuracy"] == result["accuracy"]


def test_one_split_of_a_dataset_is_a_gold_set(made: Path, png: bytes, tmp_path: Path) -> None:
    written(made, [row(4, png), row(5, png)], split="test")
    path = answers(tmp_path / "p.jsonl", [[MISS]] * 4 + [[HIT]] * 2)
    _, rows, whole = evaluation.answers(path, f"dataset:{made}", "qwen3vl")
    assert len(rows) == 6
    assert any("splits test, train are scored together" in words for words in whole["warnings"])
    for name in ("test", "grounding/test", "split=test"):
        run, rows, result = evaluation.answers(path, f"dataset:{made}:{name}", "qwen3vl")
        assert ([r.id for r in rows], result["accuracy"], result["unknown"]) == (["t4/0", "t5/0"], 1, 4)
        assert run.what == f"dataset:{name.removeprefix('split=')}"
        assert not any("scored together" in words for words in result["warnings"])
    _, golds = evaluation.gold_set(f"dataset:{made}:train")
    assert len(golds) == 4
    odd = written(tmp_path / "with:test", [row(0, png)])
    assert len(evaluation.gold_set(f"dataset:{odd}")[1]) == 1, "a path that is there is a path"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("dataset:{}:dev", "has no split 'dev'; there are: train"),
        ("dataset:{}:", "names none"),
        ("dataset:{}:actions/train", "no actions config"),
        ("gui_perturbed:{}:test", "gui_perturbed has none"),
        ("dataset:{}/grounding/train-00000-of-00001.parquet:test", "one file, which has no splits"),
        ("dataset:nowhere:test", "nothing at nowhere"),
    ],
)
def test_a_split_that_there_is_not_is_refused(made: Path, text: str, words: str) -> None:
    with pytest.raises((CallError, DataError), match=words):
        evaluation.gold_set(text.format(made))


GIVE_UP = (
    """<tool_call>{"name": "computer_use", "arguments": {"action": "terminate", "status": "failure"}}</tool_call>"""
)


def test_where_nothing_is_meant_to_say_so_is_right_and_a_click_wrong(png: bytes, tmp_path: Path) -> None:
    nothing = [
        replace(row(n, png, relation="above"), target=None, action=Action(type="infeasible", text="removed"))
        for n in range(4)
    ]
    made = written(tmp_path / "made", [*nothing, row(4, png), row(5, png)])
    path = answers(tmp_path / "p.jsonl", [[GIVE_UP], [HIT], ["I do not see it."], [GIVE_UP], [HIT], [GIVE_UP]])
    _, rows, result = evaluation.answers(path, f"dataset:{made}", "qwen3vl")
    assert [r.success for r in rows] == [True, False, False, True, True, False]
    assert (result["unknown"], result["n"], result["no_point"], result["parse_failures"]) == (0, 6, 1, 1)
    assert {k: (v["n"], v["accuracy"]) for k, v in result["by_feasible"].items()} == {
        "feasible": (2, 0.5),
        "infeasible": (4, 0.5),
    }
    assert result["by_size"]["no target"]["n"] == 4
    assert result["trivial"]["oracle"]["accuracy"] == 1
    assert result["trivial"]["nothing"]["accuracy"] == 0
    assert result["trivial"]["infeasible"]["accuracy"] == 4 / 6, "what it earns to give up everywhere"
    assert [r.miss for r in rows] == [None] * 6, "no place is the right one, so no miss has a side"
    told = selection.select(path, evaluation.gold_set(f"dataset:{made}")[1], "qwen3vl", selection.Limits())
    assert [c.hits for c in told] == [1, 0, 0, 1, 1, 0]


@pytest.mark.parametrize(
    ("texts", "right"), [([GIVE_UP, GIVE_UP, HIT], True), ([GIVE_UP, HIT, HIT], False), ([GIVE_UP, "hm", "hm"], True)]
)
def test_samples_vote_that_there_is_nothing(png: bytes, tmp_path: Path, texts: list[str], right: bool) -> None:
    nothing = replace(row(0, png), target=None, action=Action(type="infeasible"))
    made = written(tmp_path / "made", [nothing, row(1, png)])
    path = answers(tmp_path / "p.jsonl", [texts, texts])
    _, rows, _ = evaluation.answers(path, f"dataset:{made}", "qwen3vl", vote=3)
    assert [r.success for r in rows] == [right, not right and HIT in texts]


def test_a_format_that_cannot_say_it_is_named(png: bytes, tmp_path: Path) -> None:
    nothing = replace(row(0, png), target=None, action=Action(type="infeasible"))
    made = written(tmp_path / "made", [nothing, row(1, png)])
    path = answers(tmp_path / "p.jsonl", [["(60, 55)"], ["(60, 55)"]])
    _, _, result = evaluation.answers(path, f"dataset:{made}", "gta1")
    assert any(
        "'gta1' has no word for infeasible, so what nothing answers cannot be answered right: 1 of 2" in words
        for words in result["warnings"]
    )


def test_a_folder_without_rows_is_no_gold_set(tmp_path: Path) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    with pytest.raises(DataError, match="no grounding or actions config"):
        evaluation.gold_set(f"dataset:{tmp_path}")
    pq.write_table(pa.table({"id": ["a"]}), tmp_path / "x.parquet")
    with pytest.raises(DataError, match="no column is named"):
        evaluation.gold_set(f"dataset:{tmp_path}")


def test_kept_rows_are_a_dataset_whose_rollouts_the_gate_reads(made: Path, tmp_path: Path) -> None:
    path = answers(tmp_path / "p.jsonl", [[MISS] * 4, [MISS] * 4, [HIT, MISS, HIT, "hm"], [HIT] * 4])
    _, golds = evaluation.gold_set(f"dataset:{made}")
    chosen = selection.select(path, golds, "qwen3vl", selection.Limits())
    said = {c.id: (c.keep, c.reason, c.vouched_by) for c in chosen}
    assert said == {
        "t0/0": ("yes", None, ("relation",)),
        "t1/0": ("unsure", "never_hit", ()),
        "t2/0": ("yes", None, ()),
        "t3/0": ("no", "too_easy", ()),
    }
    files = selection.write_rows(made, chosen, tmp_path / "out")
    assert files == [tmp_path / "out" / "grounding" / "train-00000-of-00001.parquet"]
    held = _examples(tmp_path / "out")
    assert [e.id for e in held] == ["t0/0", "t2/0"]
    assert difficulty.attached(held[1]) == Rollouts(id="t2/0", hits=2, n=4, unread=1, consistency=0.5)
    gate = registry.gates["difficulty"]
    assert [gate(Candidate(example=e)).keep for e in held] == ["yes", "yes"]
    before = _examples(made)
    assert held[0].image == before[0].image


def _examples(folder: Path) -> list[Grounding]:
    import pyarrow.parquet as pq

    table = pq.read_table(folder / "grounding" / "train-00000-of-00001.parquet")
    return [schema.from_row(one, Grounding) for one in table.to_pylist()]


@given(st.integers(0, 16).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))), st.booleans())
def test_what_nothing_hits_is_kept_on_a_word_only(count: tuple[int, int], vouched: bool) -> None:
    hits, n = count
    held = Rollouts(id="x", hits=hits, n=n, vouched_by=("relation",) if vouched else ())
    judged = difficulty.judge(held)
    if n == 0:
        assert judged.keep == "yes"
    elif hits == 0:
        assert (judged.keep, judged.reason) == (("yes", None) if vouched else ("unsure", "never_hit"))
    elif hits == n:
        assert judged.reason == "too_easy"
    else:
        assert (judged.keep == "yes") == (difficulty.LOW <= hits / n <= difficulty.HIGH)
    assert (judged.reason is None) == (judged.keep == "yes")


def test_the_gate_keeps_what_was_never_rolled_out_and_judges_the_rest(png: bytes) -> None:
    gate, example = registry.gates["difficulty"], row(0, png)
    assert gate(Candidate(example=example)).keep == "yes"
    never = difficulty.attach(example, Rollouts(id="t0/0", hits=0, n=8))
    verdict = gate(Candidate(example=never))
    assert (verdict.keep, verdict.reason) == ("unsure", "never_hit")
    assert json.loads(verdict.evidence)["n"] == 8
    easy = difficulty.attach(never, Rollouts(id="t0/0", hits=8, n=8, consistency=1.0))
    assert gate(Candidate(example=easy)).reason == "too_easy"
    assert gate(Candidate(example=easy), high=1.0).keep == "yes"  # type: ignore[call-arg]
    for broken in ('{"rollouts": {"hits": 9, "n": 8}}', '{"rollouts": {"hits": 1}}', '{"rollouts": []}'):
        with pytest.raises(DataError, match="no counts"):
            gate(Candidate(example=replace(example, provenance=broken)))


def test_bounds_that_hold_no_rate_are_refused() -> None:
    with pytest.raises(ValueError, match="no hit rate"):
        difficulty.judge(Rollouts(id="x", hits=1, n=2), low=0.9, high=0.1)


def test_near_pictures_are_one_cluster_whatever_their_split_group(tmp_path: Path) -> None:
    """Three rows show one page, one of them with a caret more; their groups differ, as with other sites. B is another."""
    one, caret, other = (painted(*look) for look in ((False, False), (False, True), (True, False)))
    rows = [replace(row(n, png), split_group=f"own{n}") for n, png in enumerate((one, one, caret, other))]
    made = written(tmp_path / "made", rows)
    path = answers(tmp_path / "p.jsonl", [[HIT, MISS]] * 4)
    _, golds = evaluation.gold_set(f"dataset:{made}")
    limits = selection.Limits(cap=1)
    by_group = selection.select(path, golds, "qwen3vl", limits)
    by_picture = selection.select(path, golds, "qwen3vl", limits, source=made)
    assert sum(c.keep == "yes" for c in by_group) == 4
    kept = [c.id for c in by_picture if c.keep == "yes"]
    assert len(kept) == 2 and "t3/0" in kept
    assert sorted(c.cluster[0] for c in by_picture) == ["t0/0", "t0/0", "t0/0", "t3/0"]


def painted(mirrored: bool, caret: bool) -> bytes:
    """A page of 400x300 with a dark column, left or right, and perhaps a caret."""
    from PIL import Image, ImageDraw

    page = Image.new("RGB", (400, 300), "white")
    draw = ImageDraw.Draw(page)
    draw.rectangle((280, 0, 400, 300) if mirrored else (0, 0, 120, 300), fill="navy")
    draw.rectangle((60, 220, 340, 260), fill="teal")
    if caret:
        draw.line((200, 100, 200, 112), fill="black")
    out = io.BytesIO()
    page.save(out, "PNG")
    return out.getvalue()


@pytest.mark.parametrize(("samples", "hinted"), [(1, True), (2, False)])
def test_nothing_kept_of_single_samples_is_explained(
    samples: int, hinted: bool, made: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    from cuadata.reporting import printing

    path = answers(tmp_path / "p.jsonl", [[HIT] * samples] * 4)
    _, golds = evaluation.gold_set(f"dataset:{made}")
    limits = selection.Limits()
    result = selection.summary(selection.select(path, golds, "qwen3vl", limits), limits)
    printing.selection(result)
    assert result["kept"] == 0
    assert ("one sample" in capfd.readouterr().err) is hinted
