"""Web archives (MHTML, RFC 2557) as a folder that can be served: the page, and every part that it names by address or cid."""

from __future__ import annotations

import email
import html
import mimetypes
import re
from email.message import Message
from email.policy import default
from pathlib import Path
from typing import Final

from cuadata.errors import DataError

SUFFIXES: Final = (".mhtml", ".mht")
_TEXTS: Final = ("text/html", "text/css", "image/svg+xml", "application/xhtml+xml")


def unpack(archive: Path, folder: Path) -> Path:
    """Write the parts of an archive into a folder under names of our own; the page's file.

    DataError where the file is no archive or holds no page. Scripts are not carried over: archives hold the document as
    they left it.
    """
    parts = [
        one for one in email.message_from_bytes(archive.read_bytes(), policy=default).walk() if not one.is_multipart()
    ]
    pages = [one for one in parts if one.get_content_type() in ("text/html", "application/xhtml+xml")]
    if not pages:
        raise DataError("it holds no part of type text/html; give a page saved as a web archive", place=str(archive))
    names = {id(one): f"{number}{_suffix(one)}" for number, one in enumerate(parts)}
    known = {where: names[id(one)] for one in parts for where in _addresses(one)}
    pattern = re.compile("|".join(re.escape(one) for one in sorted(known, key=len, reverse=True))) if known else None
    for one in parts:
        data = one.get_payload(decode=True)
        held = data if isinstance(data, bytes) else b""
        if one.get_content_type() in _TEXTS:
            text = held.decode(one.get_content_charset() or "utf-8", "replace")
            text = pattern.sub(lambda found: known[found[0]], text) if pattern else text
            held = _without_scripts(text).encode()
        (folder / names[id(one)]).write_bytes(held)
    return folder / names[id(pages[0])]


def _suffix(part: Message) -> str:
    return mimetypes.guess_extension(part.get_content_type()) or ""


def _addresses(part: Message) -> list[str]:
    """How other parts name this one; in HTML an address is written with its ampersands escaped."""
    at, cid = str(part["Content-Location"] or "").strip(), str(part["Content-ID"] or "").strip(" <>")
    found = ([at, html.escape(at, quote=False)] if "//" in at else []) + ([f"cid:{cid}"] if cid else [])
    return list(dict.fromkeys(found))


def _without_scripts(text: str) -> str:
    return re.sub(r"<script\b.*?</script\s*>", "", text, flags=re.DOTALL | re.IGNORECASE)
