"""Are generated rows right? python benchmarks/spatial_truth.py DATASET [rows]

Every row's page is made again and checked by `tests/independent.py`: Playwright's locators, Chromium's hit test and the
relations written down once more; pixels of every tenth page against the row's picture. Prints what it checked and every fault.
"""

from __future__ import annotations

import importlib.util
import sys
from collections import Counter
from pathlib import Path
from typing import Any

from playwright.sync_api import sync_playwright

from cuadata import browser, dataset, image
from cuadata.rows import Grounding

TESTS = Path(__file__).resolve().parent.parent / "tests"


def checker() -> Any:
    """The module of the tests."""
    spec = importlib.util.spec_from_file_location("independent", TESTS / "independent.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def main(folder: Path, most: int) -> int:
    """Check rows; the number of those that are wrong."""
    check = checker()
    splits = dataset.configs(folder)["grounding"]
    held = [row for split in splits for row in dataset.read(folder, "grounding", split, Grounding)][:most]
    counts, wrong, pages = Counter[str](), 0, 0
    with sync_playwright() as play:
        started = play.chromium.launch(executable_path=str(browser.find().path))
        page, shown, boxes = started.new_page(), "", dict[str, Any]()
        for row in sorted(held, key=lambda one: one.image.sha256):
            found = []
            if shown != row.image.sha256:
                check.show(page, row)
                boxes.clear()
                shown, pages = row.image.sha256, pages + 1
                if pages % 10 == 1 and (image.rgb(page.screenshot()) != image.rgb(image.read(row.image))).any():
                    found.append("the picture is another one")
            found += check.faults(page, row, boxes)
            counts[row.relation or row.perspective] += 1
            for fault in found:
                print(f"{row.id} {row.instruction!r}: {fault}")
            wrong += bool(found)
        started.close()
    print(f"{len(held)} rows on {pages} pages: {wrong} wrong;", ", ".join(f"{k} {v}" for k, v in counts.most_common()))
    return wrong


if __name__ == "__main__":
    sys.exit(1 if main(Path(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 1000) else 0)
