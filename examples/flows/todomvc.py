"""Add three things to do, finish one, look at what is left, clear the finished. Played by `cuadata record --script`.

    npm pack todomvc && tar xzf todomvc-*.tgz
    cuadata record package/examples/vanillajs/index.html --root package --script examples/flows/todomvc.py --instruction \
        "Note three things to do, tick off the milk, and clear what is done"
"""

from typing import Any

page: Any = globals()["page"]  # given by `cuadata record`

new = page.locator(".new-todo, #new-todo")
for thing in ("buy milk", "write to Ann", "water the plants"):
    new.fill(thing)
    new.press("Enter")
page.locator(".toggle").first.check()
page.get_by_role("link", name="Active").click()
page.get_by_role("link", name="Completed").click()
page.get_by_role("link", name="All").click()
page.locator(".clear-completed, #clear-completed").click()
