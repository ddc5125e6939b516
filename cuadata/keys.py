"""Key names of browsers, xdotool and pyautogui as one spelling, and back.

The spelling inside the project is the `key` value of UI Events (W3C, "UI Events KeyboardEvent key Values"), which
Playwright takes as well: modifiers first, in the order Control, Alt, Shift, Meta; a letter in lower case unless Shift is
named; left and right keys are one key.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from cuadata import key_names

Vocabulary = Literal["browser", "xdotool", "pyautogui", "any"]
MODIFIERS = ("Control", "Alt", "Shift", "Meta")


class UnknownKey(ValueError):
    """A name that its vocabulary does not have."""


def canonical(keys: str | Sequence[str], vocabulary: Vocabulary) -> tuple[str, ...]:
    """The keys of a chord, pressed together, in the project's spelling.

    `keys` is a chord joined by + or its names in order. `any` takes the names of all vocabularies, and what models write
    besides (cmd, arrow_left), in any case; the others take the names that they document and no more. Raises UnknownKey.
    """
    names = _parts(keys) if isinstance(keys, str) else list(keys)
    if not names:
        raise UnknownKey("no key is named")
    found = [_one(name, vocabulary) for name in names]
    held = [modifier for modifier in MODIFIERS if modifier in found]
    others = [key for key in found if key not in MODIFIERS]
    if "Shift" not in held:
        others = [key.lower() if len(key) == 1 else key for key in others]
    return (*held, *others)


def spell(keys: Sequence[str], vocabulary: Vocabulary) -> tuple[str, ...]:
    """Canonical keys in the names of a vocabulary, in the same order. Raises UnknownKey where it has no name for one."""
    if vocabulary in ("browser", "any"):
        return tuple(keys)
    table = key_names.TO_XDOTOOL if vocabulary == "xdotool" else key_names.TO_PYAUTOGUI
    spelt = []
    for key in keys:
        if key in table:
            spelt.append(table[key])
        elif len(key) == 1 and (vocabulary == "pyautogui" or key.isalnum()):
            spelt.append(key)
        else:
            raise UnknownKey(f"{vocabulary} has no name for the key '{key}'")
    return tuple(spelt)


def _parts(chord: str) -> list[str]:
    """The names in a chord; a + that nothing follows is the key itself, as in `Control++`."""
    if chord == "+":
        return ["+"]
    if chord.endswith("++"):
        return [*chord[:-2].split("+"), "+"]
    return chord.split("+")


def _one(name: str, vocabulary: Vocabulary) -> str:
    found = _LOOK_UPS[vocabulary](name)
    if found is None:
        words = "any vocabulary" if vocabulary == "any" else f"the {vocabulary} vocabulary"
        raise UnknownKey(f"'{name[:40]}' is no key of {words}")
    return found


def _browser(name: str) -> str | None:
    if len(name) == 1 and name.isprintable():
        return name
    return name if name in key_names.VALUES else key_names.CODES.get(name)


def _xdotool(name: str) -> str | None:
    # xdotool compares its own short names without case, X key symbols with it.
    return key_names.XDOTOOL_SHORT.get(name.lower()) or key_names.KEYSYMS.get(name) or key_names.unicode_keysym(name)


def _pyautogui(name: str) -> str | None:
    if len(name) == 1:
        return key_names.PYAUTOGUI.get(name) or (name if name.isascii() and name.isprintable() else None)
    return key_names.PYAUTOGUI.get(name.lower())


def _any(name: str) -> str | None:
    found = _browser(name) or _xdotool(name) or _pyautogui(name)
    return found or key_names.FOLDED.get(name.lower().replace("_", "").replace("-", "").replace(" ", ""))


_LOOK_UPS = {"browser": _browser, "xdotool": _xdotool, "pyautogui": _pyautogui, "any": _any}
