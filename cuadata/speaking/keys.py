"""Key names of browsers, xdotool, pyautogui and OpenAI's computer tool as one spelling, and back.

The spelling inside the project is the `key` value of UI Events (W3C, "UI Events KeyboardEvent key Values"), which
Playwright takes as well: modifiers first, in the order Control, Alt, Shift, Meta; a letter in lower case unless Shift is
named, and in a browser's commands (Control, Alt, Meta) even then; left and right keys are one key.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Final, Literal

from cuadata.speaking import key_names

Vocabulary = Literal["browser", "xdotool", "pyautogui", "openai"]
MODIFIERS: Final = ("Control", "Alt", "Shift", "Meta")
_COMMANDS: Final = frozenset(("Control", "Alt", "Meta"))


class UnknownKey(ValueError):
    """A name that its vocabulary does not have."""


def read(keys: str | Sequence[str], vocabulary: Vocabulary) -> tuple[str, ...]:
    """The keys of a chord, pressed together, in the project's spelling.

    `keys` is a chord joined by + or its names in order. Only names that the vocabulary documents are taken: UnknownKey for
    any other, and for no key at all.
    """
    look_up = _LOOK_UPS[vocabulary]
    found = []
    for name in _parts(keys):
        key = look_up(name)
        if key is None:
            raise UnknownKey(f"'{name[:40]}' is no key of the vocabulary '{vocabulary}'")
        found.append(key)
    if vocabulary == "browser" and _COMMANDS.intersection(found):
        # A command's letter: a browser says K of it where Shift is held, and KeyK means the same.
        found = [key.lower() if len(key) == 1 and key.isascii() else key for key in found]
    return _ordered(found)


def guess(keys: str | Sequence[str]) -> tuple[str, ...]:
    """The same for the answer of a model, which mixes vocabularies, cases and separators: `ctrl c`, `CMD+ARROW_LEFT`.

    UnknownKey for a name of none of them.
    """
    found = []
    for name in _parts(keys):
        said = [_guessed(name if name == " " else name.strip().strip("\"'<>{}"))]
        if said[0] is None or len(name.split()) > 1:
            said = _several(name)
        for key in said:
            if key is None:
                raise UnknownKey(f"'{name[:40]}' is no key of any vocabulary")
            found.append(key)
    return _ordered(found)


def _several(name: str) -> list[str | None]:
    """Keys apart by blanks or hyphens, of which some may be words of one name: `ctrl page down`, `Ctrl-C`, `<Alt>f4`."""
    words = re.sub(r"[\"'<>{}]", " ", name).split()
    if len(words) == 1:
        words = re.split(r"(?<=.)-(?=.)", words[0])  # a hyphen that nothing follows is the key itself, as in Ctrl--
    found: list[str | None] = []
    while words:
        pair = _guessed("".join(words[:2])) if len(words) > 1 and min(map(len, words[:2])) > 1 else None
        if pair is not None and pair not in MODIFIERS:  # `shift left` is two keys, though pyautogui has a shiftleft
            found.append(pair)
            words = words[2:]
        else:
            parts = _parts(words[0])
            found += [_guessed(part) for part in parts]
            words = words[1:]
    return found or [None]


def write(keys: Iterable[str], vocabulary: Vocabulary) -> tuple[str, ...]:
    """Keys in the names of a vocabulary, in the same order. UnknownKey where it has no name for one."""
    table = key_names.WRITTEN.get(vocabulary)
    spelt = []
    for key in keys:
        if table is None:
            spelt.append(key)
        elif key in table:
            spelt.append(table[key])
        elif len(key) == 1 and vocabulary == "xdotool" and not (key.isascii() and key.isalnum()):
            spelt.append(f"U{ord(key):04X}")
        elif len(key) == 1:
            spelt.append(key.upper() if vocabulary == "openai" else key)
        else:
            raise UnknownKey(f"the vocabulary '{vocabulary}' has no name for the key '{key}'")
    return tuple(spelt)


def is_key(name: str) -> bool:
    """Whether a name is a key in the project's spelling."""
    return (len(name) == 1 and name.isprintable()) or name in key_names.VALUES


def _parts(keys: str | Sequence[str]) -> Sequence[str]:
    """The names in a chord; a + that nothing follows is the key itself, as in `Control++`."""
    if not isinstance(keys, str):
        return keys
    if len(keys) < 2:
        return [keys]
    return [*keys[:-2].split("+"), "+"] if keys.endswith("++") else keys.split("+")


def _ordered(keys: Iterable[str]) -> tuple[str, ...]:
    found = list(dict.fromkeys(keys))
    if not found:
        raise UnknownKey("no key is named")
    held = [modifier for modifier in MODIFIERS if modifier in found]
    others = [key for key in found if key not in MODIFIERS]
    if "Shift" not in held:
        others = [key.lower() if len(key) == len(key.lower()) == 1 else key for key in others]
    return (*held, *others)


def _browser(name: str) -> str | None:
    return name if is_key(name) else key_names.CODES.get(name) or key_names.LEGACY.get(name)


def _xdotool(name: str) -> str | None:
    # xdotool compares its own short names without case, X key symbols with it.
    found = key_names.XDOTOOL_SHORT.get(name.lower()) or key_names.KEYSYMS.get(name)
    return found or key_names.letter_keysym(name) or key_names.unicode_keysym(name)


def _pyautogui(name: str) -> str | None:
    if len(name) == 1:
        return key_names.PYAUTOGUI.get(name) or (name if name.isascii() and name.isprintable() else None)
    return key_names.PYAUTOGUI.get(name.lower())


def _openai(name: str) -> str | None:
    if len(name) == 1:
        return name.lower() if name.isprintable() else None
    return key_names.OPENAI.get(name.upper())


def _guessed(name: str) -> str | None:
    found = key_names.SIGNS.get(name) or _browser(name) or _xdotool(name) or _pyautogui(name)
    bare = re.sub(r"^(?:key\.|key_|vk_)(?=\w)", "", name.lower())  # as pynput, evdev and Windows prefix them
    if bare.endswith("-"):  # a chord with the hyphen itself
        return found
    return found or key_names.FOLDED.get(bare.replace("_", "").replace("-", ""))


_LOOK_UPS = {"browser": _browser, "xdotool": _xdotool, "pyautogui": _pyautogui, "openai": _openai}
