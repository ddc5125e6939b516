"""Through a dashboard of menus, a page behind a link, and a dialog that opens and closes. Played by `cuadata record --script`.

    npm pack startbootstrap-sb-admin-2 && tar xzf startbootstrap-sb-admin-2-*.tgz
    cuadata record package/index.html --script examples/flows/sb_admin_2.py --instruction \
        "Look at the alerts, open the buttons page, go back and log out, but change your mind"
"""

from typing import Any

page: Any = globals()["page"]  # given by `cuadata record`

page.locator("#alertsDropdown").click()
page.locator("#alertsDropdown").click()
page.get_by_role("link", name="Components").click()
page.locator("#collapseTwo").get_by_role("link", name="Buttons").click()
page.locator("#userDropdown").click()
page.get_by_role("link", name="Logout").click()
page.get_by_role("button", name="Cancel").click()
page.locator("#sidebarToggle").click()
