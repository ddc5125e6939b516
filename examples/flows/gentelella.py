"""A form, a menu and the dark theme of an admin template whose scripts draw the page. Played by `cuadata record --script`.

    npm pack gentelella && tar xzf gentelella-*.tgz
    cuadata record package/dist/production/form.html --root package/dist --script examples/flows/gentelella.py --instruction \
        "Start a public project 'Garden' with a budget of 120, in the dark, and look at the tables"
"""

from typing import Any

page: Any = globals()["page"]  # given by `cuadata record`

page.locator("#projectName").fill("Garden")
page.locator("#client").select_option(label=page.locator("#client option").nth(1).inner_text())
page.locator("#budget").fill("120")
page.locator("form label").filter(has_text="Public").click()
page.get_by_role("button", name="Account menu").click()
page.keyboard.press("Escape")
page.get_by_role("button", name="Toggle theme").click()
page.get_by_role("button", name="Tables").click()
