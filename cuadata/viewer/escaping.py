"""Texts of other people's pages as a page of ours may show them."""

from __future__ import annotations

from typing import Any

from markupsafe import Markup

from cuadata.reporting.showing import plainly


def shown(value: Any) -> Any:
    r"""What Jinja puts into a page, before it escapes it: texts with what turns or breaks them written out (`\u202e`).

    HTML holds no NUL, and a mark of direction in a name would turn the words that stand after it.
    """
    return plainly(value, lines=True) if isinstance(value, str) and not isinstance(value, Markup) else value
