"""The report of an evaluation or a comparison: one HTML page with its tables, and its pictures as PNG beside it."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from cuadata.scores import failures, misses, runs
from cuadata.viewer import escaping, plots
from cuadata.viewer.plots import Row, row

REPORT = "report.html"
#: File name of a picture, and what it shows; drawn pictures stand in the report in this order.
Pictures = list[tuple[str, str]]


def write(folder: Path) -> Path:
    """Draw the pictures of a run's `result.json` and write its `report.html`; the path of the report.

    Where matplotlib is missing, the report has its tables only and says so.
    """
    result = json.loads((folder / runs.RESULT).read_text())
    run = runs.header(folder)
    draw = _answers if run.kind == "answers" else _episodes
    pictures = _pictures(folder, draw, result)
    return _page(folder, f"{run.name} on {run.what}", result, pictures, _tables(result))


def write_comparison(folder: Path, result: Mapping[str, Any]) -> Path:
    """The same for the result of a comparison."""
    folder.mkdir(parents=True, exist_ok=True)
    pictures = _pictures(folder, _comparison, result)
    title = f"{result['second']} against {result['first']}"
    return _page(folder, title, result, pictures, {"Verdict": _verdicts(result), "Paired tests": _comparisons(result)})


def _pictures(folder: Path, draw: Callable[[Path, Mapping[str, Any]], Pictures], result: Mapping[str, Any]) -> Pictures:
    return draw(folder, result) if _can_draw() else []


def _can_draw() -> bool:
    return find_spec("matplotlib") is not None


def _answers(folder: Path, result: Mapping[str, Any]) -> Pictures:
    drawn: Pictures = []
    trivial = [row(name, rate, muted=True) for name, rate in result["trivial"].items() if name != "oracle"]

    def picture(name: str, words: str, done: bool) -> None:
        if done:
            drawn.append((name, words))

    picture(
        "variants.png",
        f"Point in box with {result['tolerance_px']:g} px of slack, Wilson intervals; grey: policies that look at nothing.",
        plots.rates(folder / "variants.png", "Accuracy by variant", _by_variant(result, trivial)),
    )
    for name, title in (("by_relation", "Accuracy by stated relation"), ("by_size", "Accuracy by size of the target")):
        held = [row(label.replace("_", " "), rate) for label, rate in result[name].items()]
        picture(
            f"{name}.png",
            f"{title}{', over all variants' if len(result['by_variant']) > 1 else ''}.",
            plots.rates(folder / f"{name}.png", title, {"": held}),
        )
    told = {v: held["misses"] for v, held in result["by_variant"].items() if held.get("misses", {}).get("n")}
    shares = {
        f"{v}  (n = {m['n']})": {k.replace("_", " "): m[k]["share"] for k in misses.MEANING} for v, m in told.items()
    }
    picture(
        "misses.png",
        "Where the misses went, among rows whose reference stands in the stated relation to the target.",
        plots.stacks(
            folder / "misses.png", "Where the misses went", shares, xlabel="share of the rows that were not hit"
        ),
    )
    changes = {v: (f["broken"], f["fixed"]) for v, f in result["flips"].items()}
    against = next((f["against"] for f in result["flips"].values()), "")
    picture(
        "flips.png",
        "Items that flip between variants.",
        plots.flips(folder / "flips.png", f"Flips against {against}", changes),
    )
    distances = [a.edge_px for a in runs.answers(folder) if a.edge_px is not None and not a.success]
    picture(
        "distance.png",
        "How far misses land from the target's edge; below 1 px in the first bin.",
        plots.histogram(
            folder / "distance.png", "Distance of misses", distances, xlabel="px from the target's edge", log=True
        ),
    )
    return drawn


def _by_variant(result: Mapping[str, Any], trivial: list[Row | None]) -> dict[str, list[Row | None]]:
    """Rows of each variant; where questions have no answer, in two colours: of the answered ones, and of all."""
    held = result["by_variant"]
    if not result.get("unanswered"):
        return {"": [*(row(name, rate) for name, rate in held.items()), *trivial]}
    labels = {name: f"{name}, {one['questions'] - one['unanswered']:,} answered" for name, one in held.items()}
    return {
        "of those answered": [
            *(row(labels[name], {**one, "n": one["questions"]}) for name, one in held.items()),
            *trivial,
        ],
        "unanswered counted as wrong": [row(labels[name], whole(one)) for name, one in held.items()],
    }


def whole(held: Mapping[str, Any]) -> dict[str, Any]:
    """The rate over all questions, unanswered ones counted as wrong."""
    return {"n": held["questions"], "accuracy": held["accuracy_all"], "interval": held["interval_all"]}


def _episodes(folder: Path, result: Mapping[str, Any]) -> Pictures:
    drawn: Pictures = []
    policies = {result["name"]: result, **result["trivial"]}
    both = {
        words: [row(name, held[key]) for name, held in policies.items()]
        for words, key in (("exact", "exact"), ("default", "default"))
    }
    if plots.rates(folder / "success.png", "Success", both, xlabel="share of episodes"):
        drawn.append(("success.png", "Exact and default success beside trivial policies on the same seeds."))
    behaviour = [
        row("first action addresses the overlay", result["ordering"]),
        row("texts that could be read", result["valid_output"]),
    ]
    if plots.rates(folder / "behaviour.png", "Order of acting and readable texts", {"": behaviour}, xlabel="share"):
        drawn.append(("behaviour.png", "Ordering accuracy, where an overlay stands at the start, and valid outputs."))
    for name, table in {"size": result["by_size"], **result["by_axis"]}.items():
        held = {
            key: [row(str(value), rate[key]) for value, rate in table.items()] for key in ("exact", "default") if table
        }
        title = "Success by number of things requested" if name == "size" else f"Success by {name.replace('_', ' ')}"
        file = f"by_{''.join(c if c.isalnum() else '_' for c in name)}.png"
        if 1 < len(table) <= 12 and plots.rates(folder / file, title, held, xlabel="share of episodes"):
            drawn.append((file, f"{title}."))
    kinds = {name.replace("_", " "): held["episodes"] for name, held in result["failures"].items()}
    if plots.counts(folder / "failures.png", "How episodes failed", kinds, xlabel="episodes (one may show several)"):
        drawn.append(("failures.png", "Failures by deterministic rules."))
    turns = [float(k) for k, count in result["lengths"]["counts"].items() for _ in range(count)]
    if plots.histogram(folder / "lengths.png", "Length of episodes", turns, xlabel="turns"):
        drawn.append(("lengths.png", "Turns an episode."))
    errors = [t.error_px for e in runs.episodes(folder) for t in e.turns if t.error_px is not None]
    if plots.histogram(folder / "clicks.png", "Click error", errors, xlabel="px from the target's edge", log=True):
        drawn.append(("clicks.png", "Distance from a click to the box it was meant for; below 1 px in the first bin."))
    return drawn


def _comparison(folder: Path, result: Mapping[str, Any]) -> Pictures:
    lines = {
        name: (held["difference"], *held["interval"], held["p"] < 0.05)
        for name, held in _comparisons_by_name(result).items()
    }
    names = (result["second"], f"against {result['first']}")
    title = (" " if sum(map(len, names)) < 60 else "\n").join(names)  # long names make the picture wider than the page
    if plots.differences(folder / "differences.png", title, lines):
        return [
            (
                "differences.png",
                "Differences with clustered bootstrap intervals; filled where McNemar's test and whole clusters show one.",
            )
        ]
    return []


def _comparisons_by_name(result: Mapping[str, Any]) -> dict[str, Mapping[str, Any]]:
    held = {"exact success": result["exact"], "default success": result["default"], **result["by_variant"]}
    return {name: one for name, one in held.items() if one is not None}


def _verdicts(result: Mapping[str, Any]) -> list[list[str]]:
    """What each test says in words; beside its figures there is no room for them."""
    return [["", "verdict"], *([name, one["verdict"]] for name, one in _comparisons_by_name(result).items())]


def _comparisons(result: Mapping[str, Any]) -> list[list[str]]:
    head = ["", "n", "first", "second", "difference", "p (McNemar)", "p (clusters)", "only first / second"]
    body = [
        [
            name,
            f"{one['n']:,}",
            percent(one["first"]["rate"]),
            percent(one["second"]["rate"]),
            f"{100 * one['difference']:+.1f} [{100 * one['interval'][0]:+.1f}, {100 * one['interval'][1]:+.1f}]",
            f"{one['mcnemar']['p']:.2g}",
            f"{one['p_clustered']:.2g} (of {one['clusters']:,})",
            f"{one['mcnemar']['only_first']} / {one['mcnemar']['only_second']}",
            "none" if one["smallest"] is None else f"{100 * one['smallest']:.1f}",
        ]
        for name, one in _comparisons_by_name(result).items()
    ]
    return [[*head, "smallest shown"], *body]


def percent(value: float | None) -> str:
    """A share as a percentage with one decimal; a dash for None."""
    return "-" if value is None else f"{100 * value:.1f} %"


def interval(rate: Mapping[str, Any]) -> str:
    """A rate with its interval: 65.5 % [60.9, 69.8]."""
    ends = rate.get("interval")
    held = percent(rate.get("accuracy", rate.get("rate")))
    return held if ends is None else f"{held} [{100 * ends[0]:.1f}, {100 * ends[1]:.1f}]"


def _tables(result: Mapping[str, Any]) -> dict[str, list[list[str]]]:
    if "by_variant" in result:
        return _answer_tables(result)
    return _episode_tables(result)


def _accuracy_tables(result: Mapping[str, Any]) -> dict[str, list[list[str]]]:
    rates = {
        "all": result,
        **result["by_variant"],
        **{f"trivial: {name}": rate for name, rate in result["trivial"].items()},
    }
    lacking = bool(result.get("unanswered"))
    head = ["", "n", "accuracy", *(["no answer", "accuracy of all questions"] if lacking else [])]
    tables = {
        "Accuracy": [
            [*head, "parse failures", "no point"],
            *(
                [
                    *(k, f"{r['n']:,}", interval(r), *(_unanswered(r) if lacking else ())),
                    *(str(r.get("parse_failures", "")), str(r.get("no_point", ""))),
                ]
                for k, r in rates.items()
            ),
        ]
    }
    if result.get("by_feasible"):
        tables["Questions that nothing answers"] = [
            [*head],
            *(
                [k, f"{r['n']:,}", interval(r), *(_unanswered(r) if lacking else ())]
                for k, r in result["by_feasible"].items()
            ),
        ]
    return tables


def _answer_tables(result: Mapping[str, Any]) -> dict[str, list[list[str]]]:
    tables = _accuracy_tables(result)
    told = {v: r["misses"] for v, r in result["by_variant"].items() if "misses" in r}
    if told:
        tables["Where the misses went"] = [
            ["", *told, "meaning"],
            ["rows / not hit", *(f"{m['rows']} / {m['n']}" for m in told.values()), ""],
            *(
                [k.replace("_", " "), *(f"{m[k]['count']} ({percent(m[k]['share'])})" for m in told.values()), words]
                for k, words in misses.MEANING.items()
            ),
        ]
    worst = result["worst_variant"] or {"variant": "", "n": 0}
    tables["Measures"] = [
        ["", "n", "value"],
        [f"worst variant: {worst['variant']}", str(worst["n"]), interval(worst)],
        ["items of which every member is right", str(result["strict_pairs"]["n"]), interval(result["strict_pairs"])],
        *(
            [
                f"{words}, px, median and 90th percentile",
                str(held["n"]),
                f"{number(held['median'])}, {number(held['p90'])}",
            ]
            for words, held in (
                ("distance to the target's middle", result["centre_error_px"]),
                ("distance of misses to the target's edge", result["miss_distance_px"]),
            )
        ),
    ]
    if result["flips"]:
        tables["Flips"] = [
            ["", "against", "n", "broken", "fixed", "flip rate", "p (McNemar)"],
            *(
                [v, f["against"], str(f["n"]), str(f["broken"]), str(f["fixed"]), percent(f["rate"]), f"{f['p']:.2g}"]
                for v, f in result["flips"].items()
            ),
        ]
    return tables


def _unanswered(held: Mapping[str, Any]) -> list[str]:
    """How many questions have no answer, and the accuracy with them as wrong; empty cells for trivial policies."""
    if "questions" not in held:
        return ["", ""]
    return [f"{held['unanswered']:,} of {held['questions']:,}", interval(whole(held))]


def _episode_tables(result: Mapping[str, Any]) -> dict[str, list[list[str]]]:
    policies = {result["name"]: result, **{f"trivial: {k}": v for k, v in result["trivial"].items()}}
    tables = {"Success": _criteria(policies)}
    tables["Measures"] = _measures(result)
    if result["failures"]:
        tables["Failures"] = [
            ["", "episodes", "first of its episode", "meaning"],
            *(
                [name.replace("_", " "), str(held["episodes"]), str(held["first"]), failures.MEANING[name]]
                for name, held in result["failures"].items()
            ),
        ]
    slices = {"number of things requested": "by_size", **{axis: "by_axis" for axis in result["by_axis"]}}
    for axis, where in slices.items():
        held = {name: one[where] if where == "by_size" else one[where].get(axis, {}) for name, one in policies.items()}
        if held[result["name"]]:
            tables[f"Exact success by {axis}"] = _slices(held, result["name"])
    return tables


def _measures(result: Mapping[str, Any]) -> list[list[str]]:
    """What is no success rate: the order of acting, readable texts, lengths, loops, click errors, short submissions."""
    lengths, clicks = result["lengths"], result["click_error_px"]
    short = ", ".join(f"{count} by {number}" for number, count in result["short_by"].items())
    return [
        ["", "n", "value"],
        ["first action addresses the overlay", str(result["ordering"]["n"]), interval(result["ordering"])],
        ["texts that could be read", str(result["valid_output"]["n"]), interval(result["valid_output"])],
        ["turns an episode, median", str(lengths["all"]["n"]), number(lengths["all"]["median"])],
        ["turns of a success, median", str(lengths["successes"]["n"]), number(lengths["successes"]["median"])],
        [
            "episodes with a useless action three times or more in a row",
            str(result["n"]),
            str(result["loops"]["episodes"]),
        ],
        [
            "click error, px, median and 90th percentile",
            str(clicks["n"]),
            f"{number(clicks['median'])}, {number(clicks['p90'])}",
        ],
        ["premature submissions, by how many they were short", str(result["n"]), short or "none"],
        ["raw reward, mean", str(result["raw"]["n"]), number(result["raw"]["mean"])],
    ]


def number(value: float | None) -> str:
    """A number with three digits; a dash for None."""
    return "-" if value is None else f"{value:.3g}"


def _slices(held: Mapping[str, Mapping[str, Any]], first: str) -> list[list[str]]:
    """One line a value, one column a policy; the number of episodes is that of the first."""
    body = [
        [
            value,
            f"{one['n']:,}",
            *(interval(sliced[value]["exact"]) if value in sliced else "-" for sliced in held.values()),
        ]
        for value, one in held[first].items()
    ]
    return [["", "n", *held], *body]


def _criteria(held: Mapping[str, Mapping[str, Any]]) -> list[list[str]]:
    body = [[k, f"{v['n']:,}", interval(v["exact"]), interval(v["default"])] for k, v in held.items()]
    return [["", "n", "exact success", "default success"], *body]


def _page(
    folder: Path, title: str, result: Mapping[str, Any], pictures: Pictures, tables: Mapping[str, list[list[str]]]
) -> Path:
    from jinja2 import Environment, PackageLoader, StrictUndefined

    rooms = Environment(
        loader=PackageLoader("cuadata.viewer", "."),
        autoescape=True,
        finalize=escaping.shown,
        undefined=StrictUndefined,
    )
    facts = {
        k: v
        for k, v in result.items()
        if isinstance(v, (str, int, float)) and not isinstance(v, bool) and v not in ("", "{}")
    }
    if not _can_draw():
        facts["pictures"] = "none: they need matplotlib, which `pip install cuadata[plot]` brings"
    html = rooms.get_template("evaluation.html.j2").render(
        title=title,
        facts=facts,
        pictures=pictures,
        tables=tables,
        warnings=result.get("warnings", ()),
        notes=result.get("notes", ()),
    )
    path = folder / REPORT
    path.write_text(html, encoding="utf-8")
    return path
