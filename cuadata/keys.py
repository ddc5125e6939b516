"""Key names: the W3C spelling inside, and the vocabularies that tools and model families use instead.

Inside the project a key is a W3C `KeyboardEvent.key` value (`Enter`, `ArrowLeft`, `a`, ` `), modifiers first in the order
Control, Alt, Shift, Meta, a letter in lower case unless Shift is held. `read` turns a vocabulary's names into that, `write`
turns it back. Sources: W3C UI Events KeyboardEvent key values; X11 keysym names as xdotool takes them; PyAutoGUI's
KEYBOARD_KEYS; the key names of OpenAI's computer tool.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final, Literal

Vocabulary = Literal["browser", "xdotool", "pyautogui", "openai"]

MODIFIERS: Final = ("Control", "Alt", "Shift", "Meta")

#: W3C name -> the names that each vocabulary knows it by, the one to write first.
_XDOTOOL: Final[dict[str, str]] = {
    "Control": "ctrl Control_L Control_R control",
    "Alt": "alt Alt_L Alt_R option",
    "Shift": "shift Shift_L Shift_R",
    "Meta": "super Super_L Super_R Meta_L Meta_R meta cmd",
    "Enter": "Return KP_Enter enter",
    "Escape": "Escape escape",
    "Backspace": "BackSpace backspace",
    "Delete": "Delete KP_Delete delete",
    "Insert": "Insert",
    "Tab": "Tab ISO_Left_Tab tab",
    " ": "space",
    "ArrowLeft": "Left KP_Left left",
    "ArrowRight": "Right KP_Right right",
    "ArrowUp": "Up KP_Up up",
    "ArrowDown": "Down KP_Down down",
    "Home": "Home home",
    "End": "End end",
    "PageUp": "Page_Up Prior KP_Page_Up",
    "PageDown": "Page_Down Next KP_Page_Down",
    "CapsLock": "Caps_Lock",
    "PrintScreen": "Print",
    "ContextMenu": "Menu",
    "Pause": "Pause",
}
_PYAUTOGUI: Final[dict[str, str]] = {
    "Control": "ctrl ctrlleft ctrlright control",
    "Alt": "alt altleft altright option optionleft optionright",
    "Shift": "shift shiftleft shiftright",
    "Meta": "win winleft winright command cmd super",
    "Enter": "enter return",
    "Escape": "esc escape",
    "Backspace": "backspace",
    "Delete": "delete del",
    "Insert": "insert",
    "Tab": "tab",
    " ": "space",
    "ArrowLeft": "left",
    "ArrowRight": "right",
    "ArrowUp": "up",
    "ArrowDown": "down",
    "Home": "home",
    "End": "end",
    "PageUp": "pageup pgup",
    "PageDown": "pagedown pgdn",
    "CapsLock": "capslock",
    "PrintScreen": "printscreen prntscrn prtsc prtscr print",
    "ContextMenu": "apps",
    "Pause": "pause",
}
_OPENAI: Final[dict[str, str]] = {
    "Control": "CTRL CONTROL",
    "Alt": "ALT OPTION",
    "Shift": "SHIFT",
    "Meta": "CMD META SUPER WIN",
    "Enter": "ENTER RETURN",
    "Escape": "ESC ESCAPE",
    "Backspace": "BACKSPACE",
    "Delete": "DELETE DEL",
    "Insert": "INSERT",
    "Tab": "TAB",
    " ": "SPACE",
    "ArrowLeft": "ARROWLEFT LEFT",
    "ArrowRight": "ARROWRIGHT RIGHT",
    "ArrowUp": "ARROWUP UP",
    "ArrowDown": "ARROWDOWN DOWN",
    "Home": "HOME",
    "End": "END",
    "PageUp": "PAGEUP",
    "PageDown": "PAGEDOWN",
    "CapsLock": "CAPSLOCK",
    "PrintScreen": "PRINTSCREEN",
    "ContextMenu": "CONTEXTMENU",
    "Pause": "PAUSE",
}
_NAMED: Final = tuple(_XDOTOOL)
_F_KEYS: Final = tuple(f"F{n}" for n in range(1, 25))
_BROWSER: Final[dict[str, str]] = {name: name for name in (*_NAMED, *_F_KEYS)} | {" ": "Space"}

#: X11 keysyms of characters that have a word for a name.
_KEYSYMS: Final[dict[str, str]] = {
    "grave": "`", "asciitilde": "~", "exclam": "!", "at": "@", "numbersign": "#", "dollar": "$", "percent": "%",
    "asciicircum": "^", "ampersand": "&", "asterisk": "*", "parenleft": "(", "parenright": ")", "minus": "-",
    "underscore": "_", "equal": "=", "plus": "+", "bracketleft": "[", "bracketright": "]", "braceleft": "{",
    "braceright": "}", "backslash": "\\", "bar": "|", "semicolon": ";", "colon": ":", "apostrophe": "'",
    "quotedbl": '"', "comma": ",", "period": ".", "less": "<", "greater": ">", "slash": "/", "question": "?",
    "KP_Add": "+", "KP_Subtract": "-", "KP_Multiply": "*", "KP_Divide": "/", "KP_Decimal": ".",
    **{f"KP_{n}": str(n) for n in range(10)},
}  # fmt: skip
#: W3C `KeyboardEvent.code` values of characters, which Playwright takes as well.
_CODES: Final[dict[str, str]] = {
    "Minus": "-", "Equal": "=", "BracketLeft": "[", "BracketRight": "]", "Backslash": "\\", "Semicolon": ";",
    "Quote": "'", "Backquote": "`", "Comma": ",", "Period": ".", "Slash": "/", "ControlLeft": "Control",
    "ControlRight": "Control", "AltLeft": "Alt", "AltRight": "Alt", "ShiftLeft": "Shift", "ShiftRight": "Shift",
    "MetaLeft": "Meta", "MetaRight": "Meta", "ControlOrMeta": "Control", "NumpadEnter": "Enter",
    **{f"Key{c}": c.lower() for c in "ABCDEFGHIJKLMNOPQRSTUVWXYZ"}, **{f"Digit{n}": str(n) for n in range(10)},
}  # fmt: skip


def _inverted(table: dict[str, str], extra: dict[str, str], case: bool) -> dict[str, str]:
    names = {name: key for key, words in table.items() for name in words.split()} | extra
    names |= {name: key for key in _F_KEYS for name in (key, key.lower())}
    return names if case else {name.lower(): key for name, key in names.items()}


_READ: Final[dict[Vocabulary, dict[str, str]]] = {
    "browser": _inverted(_BROWSER, _CODES, True),
    "xdotool": _inverted(_XDOTOOL, _KEYSYMS, True),
    "pyautogui": _inverted(_PYAUTOGUI, {}, False),
    "openai": _inverted(_OPENAI, {"/": "/", "\\": "\\"}, False),
}
_WRITE: Final[dict[Vocabulary, dict[str, str]]] = {
    "browser": _BROWSER,
    "xdotool": {key: words.split()[0] for key, words in _XDOTOOL.items()}
    | {key: name for name, key in reversed(_KEYSYMS.items()) if not name.startswith("KP_")},
    "pyautogui": {key: words.split()[0] for key, words in _PYAUTOGUI.items()} | {k: k.lower() for k in _F_KEYS},
    "openai": {key: words.split()[0] for key, words in _OPENAI.items()},
}
#: Every name of every vocabulary in lower case, for answers that mix them.
_ANY: Final[dict[str, str]] = {
    name.lower(): key
    for vocabulary in ("browser", "xdotool", "openai", "pyautogui")
    for name, key in _READ[vocabulary].items()
}


def read(keys: str | Sequence[str], vocabulary: Vocabulary) -> tuple[str, ...]:
    """Keys pressed together in W3C names, in canonical order. ValueError for a name that the vocabulary does not have.

    A string is a chord joined by `+`; a sequence holds one name a member.
    """
    table = _READ[vocabulary]
    return _ordered(_one(name, table, vocabulary) for name in _parts(keys))


def guess(keys: str | Sequence[str]) -> tuple[str, ...]:
    """The same for an answer of a model, which may mix vocabularies and cases. ValueError for a name of none of them."""
    names = list(_parts(keys))
    if len(names) == 1 and " " in names[0].strip() and len(names[0].strip()) > 1:
        names = names[0].split()  # "ctrl c", as UI-TARS writes a chord
    if len(names) == 1 and "+" in names[0] and len(names[0]) > 1:
        names = list(_parts(names[0]))
    return _ordered(_guessed(name) for name in names)


def write(keys: Iterable[str], vocabulary: Vocabulary) -> tuple[str, ...]:
    """The names that a vocabulary has for W3C keys, one a member. ValueError for a key without a name there."""
    table = _WRITE[vocabulary]
    out = []
    for key in keys:
        if key in table:
            out.append(table[key])
        elif key in _F_KEYS:
            out.append(key)
        elif len(key) == 1:
            out.append(key.upper() if vocabulary == "openai" else key)
        else:
            raise ValueError(f"the key '{key}' has no name in the vocabulary '{vocabulary}'; give a W3C key value")
    return tuple(out)


def is_key(name: str) -> bool:
    """Whether a name is a W3C key value as this project writes them."""
    return len(name) == 1 or name in _NAMED or name in _F_KEYS


def _parts(keys: str | Sequence[str]) -> Iterable[str]:
    if not isinstance(keys, str):
        return keys
    if len(keys) <= 1:
        return [keys] if keys else []
    # "ctrl++" is a chord that ends in the plus key.
    return [*keys[:-2].split("+"), "+"] if keys.endswith("++") else keys.split("+")


def _one(name: str, table: dict[str, str], vocabulary: Vocabulary) -> str:
    found = table.get(name if vocabulary in ("browser", "xdotool") else name.lower())
    if found is not None:
        return found
    if len(name) == 1:
        return name
    raise ValueError(f"'{name}' is no key of the vocabulary '{vocabulary}'")


def _guessed(name: str) -> str:
    bare = name if name == " " else name.strip().strip("\"'<>")
    found = _READ["browser"].get(bare) or _ANY.get(bare.lower())
    if found is not None:
        return found
    if len(bare) == 1:
        return bare
    raise ValueError(f"'{name}' is no key name that is known; W3C, xdotool and pyautogui names are")


def _ordered(keys: Iterable[str]) -> tuple[str, ...]:
    found = list(dict.fromkeys(keys))
    if not found:
        raise ValueError("no key is named; give at least one")
    held = [key for key in MODIFIERS if key in found]
    rest = [key for key in found if key not in MODIFIERS]
    return (*held, *(key if "Shift" in held else key.lower() if len(key) == 1 else key for key in rest))
