"""Menus and a form of an admin template whose scripts draw the page. Played by `cuadata record --script`.

    npm pack gentelella && tar xzf gentelella-*.tgz
    cuadata record package/dist/production/form.html --root package/dist --script examples/flows/gentelella.py --instruction \
        "Fill in the form's name, and look at the tables"
"""

from typing import Any

page: Any = globals()["page"]  # given by `cuadata record`

page.locator("main input[type=text]:visible").first.fill("Ann Example")
page.locator("main input[type=checkbox]:visible, main input[type=radio]:visible").first.click()
page.locator("nav a:visible, aside a:visible").nth(2).click()
