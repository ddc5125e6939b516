"""The key names that browsers, xdotool and pyautogui document, as tables to the `key` values of UI Events."""

from __future__ import annotations

import re
import unicodedata
from typing import Final


def _words(text: str) -> list[str]:
    """Words apart by white space."""
    return text.split()


def _pairs(text: str) -> dict[str, str]:
    """`name:key name:key` as a table."""
    return dict(pair.split(":") for pair in text.split())


_FUNCTION: Final = tuple(f"F{n}" for n in range(1, 25))
_CHARACTERS: Final = " !\"#$%&'()*+,-./0123456789:;<=>?@[\\]^_`abcdefghijklmnopqrstuvwxyz{|}~"

#: `key` values of UI Events that keyboards send, besides single characters.
VALUES: Final = frozenset(
    _words(
        """
        Alt AltGraph CapsLock Control Fn FnLock Hyper Meta NumLock ScrollLock Shift Super Symbol SymbolLock Enter
        Tab ArrowDown ArrowLeft ArrowRight ArrowUp End Home PageDown PageUp Backspace Clear Copy CrSel Cut Delete
        EraseEof ExSel Insert Paste Redo Undo Accept Again Attn Cancel ContextMenu Escape Execute Find Help Pause
        Play Props Select ZoomIn ZoomOut BrightnessDown BrightnessUp Eject LogOff Power PrintScreen Hibernate
        Standby WakeUp AllCandidates Alphanumeric CodeInput Compose Convert Dead FinalMode GroupFirst GroupLast
        GroupNext GroupPrevious ModeChange NextCandidate NonConvert PreviousCandidate Process SingleCandidate
        HangulMode HanjaMode JunjaMode Eisu Hankaku Hiragana HiraganaKatakana KanaMode KanjiMode Katakana Romaji
        Zenkaku ZenkakuHankaku AudioVolumeDown AudioVolumeUp AudioVolumeMute MediaPlayPause MediaStop MediaTrackNext
        MediaTrackPrevious LaunchApplication1 LaunchApplication2 LaunchMail LaunchMediaPlayer BrowserBack
        BrowserFavorites BrowserForward BrowserHome BrowserRefresh BrowserSearch BrowserStop
        """
    )
) | frozenset(_FUNCTION)

#: `code` values of UI Events on a US keyboard, to the key that they give without Shift. Playwright takes them as names.
CODES: Final[dict[str, str]] = {
    **{f"Key{letter.upper()}": letter for letter in "abcdefghijklmnopqrstuvwxyz"},
    **{f"Digit{digit}": digit for digit in "0123456789"},
    **{f"Numpad{digit}": digit for digit in "0123456789"},
    **{f"{key}{side}": key for key in ("Control", "Shift", "Alt", "Meta") for side in ("Left", "Right")},
    "Backquote": "`",
    "Minus": "-",
    "Equal": "=",
    "BracketLeft": "[",
    "BracketRight": "]",
    "Backslash": "\\",
    "Semicolon": ";",
    "Quote": "'",
    "Comma": ",",
    "Period": ".",
    "Slash": "/",
    "Space": " ",
    "NumpadAdd": "+",
    "NumpadSubtract": "-",
    "NumpadMultiply": "*",
    "NumpadDivide": "/",
    "NumpadDecimal": ".",
    "NumpadEnter": "Enter",
}

#: `key` values that browsers sent before UI Events settled on those above, and recordings of that time hold.
LEGACY: Final[dict[str, str]] = {
    "Spacebar": " ",
    **_pairs(
        """
        Left:ArrowLeft Right:ArrowRight Up:ArrowUp Down:ArrowDown Esc:Escape Del:Delete OS:Meta Win:Meta
        Apps:ContextMenu Scroll:ScrollLock Crsel:CrSel Exsel:ExSel Multiply:* Add:+ Subtract:- Divide:/ Decimal:.
        Separator:, Nonconvert:NonConvert MediaNextTrack:MediaTrackNext MediaPreviousTrack:MediaTrackPrevious
        VolumeUp:AudioVolumeUp VolumeDown:AudioVolumeDown VolumeMute:AudioVolumeMute
        """
    ),
}

#: Short names that xdotool itself turns into X key symbols, in any case.
XDOTOOL_SHORT: Final[dict[str, str]] = {
    "alt": "Alt",
    "ctrl": "Control",
    "control": "Control",
    "meta": "Meta",
    "super": "Meta",
    "shift": "Shift",
    "enter": "Enter",
    "return": "Enter",
}

_PUNCTUATION: Final = dict(
    zip(
        _words(
            """
        space exclam quotedbl numbersign dollar percent ampersand apostrophe parenleft parenright asterisk plus
        comma minus period slash colon semicolon less equal greater question at bracketleft backslash bracketright
        asciicircum underscore grave braceleft bar braceright asciitilde
        """
        ),
        " !\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~",
        strict=True,
    )
)

#: Key symbols of Latin-1 and its neighbours whose names are not made of a letter and its mark.
_LATIN: Final = {
    "nobreakspace": "\u00a0",
    "hyphen": "\u00ad",
    **_pairs(
        """
        exclamdown:¡ cent:¢ sterling:£ currency:¤ yen:¥ brokenbar:¦ section:§ diaeresis:¨ copyright:© ordfeminine:ª
        guillemotleft:« notsign:¬ registered:® macron:¯ degree:° plusminus:± twosuperior:² threesuperior:³ acute:´ mu:µ
        paragraph:¶ periodcentered:· cedilla:¸ onesuperior:¹ masculine:º guillemotright:» onequarter:¼ onehalf:½
        threequarters:¾ questiondown:¿ AE:Æ ae:æ ETH:Ð Eth:Ð eth:ð Oslash:Ø Ooblique:Ø oslash:ø ooblique:ø THORN:Þ
        Thorn:Þ thorn:þ ssharp:ß multiply:× division:÷ Lstroke:Ł lstroke:ł Dstroke:Đ dstroke:đ OE:Œ oe:œ idotless:ı
        EuroSign:€ endash:– emdash:— ellipsis:… trademark:™ doublelowquotemark:„ leftdoublequotemark:“
        rightdoublequotemark:” leftsinglequotemark:‘ rightsinglequotemark:’
        """
    ),
}
#: Marks in the names of key symbols, as combining characters: eacute is e and an acute.
_MARKS: Final = {
    "grave": "\u0300",
    "acute": "\u0301",
    "circumflex": "\u0302",
    "tilde": "\u0303",
    "macron": "\u0304",
    "breve": "\u0306",
    "abovedot": "\u0307",
    "diaeresis": "\u0308",
    "ring": "\u030a",
    "doubleacute": "\u030b",
    "caron": "\u030c",
    "cedilla": "\u0327",
    "ogonek": "\u0328",
}

#: X key symbols (X11/keysymdef.h) that keyboards have; their case counts.
KEYSYMS: Final[dict[str, str]] = {
    **_PUNCTUATION,
    **_LATIN,
    **{character: character for character in "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"},
    **{name: name for name in _FUNCTION},
    **{f"KP_{digit}": digit for digit in "0123456789"},
    **{
        f"{symbol}_{side}": key
        for symbol, key in (
            ("Control", "Control"),
            ("Shift", "Shift"),
            ("Alt", "Alt"),
            ("Meta", "Meta"),
            ("Super", "Meta"),
        )
        for side in "LR"
    },
    "quoteright": "'",
    "quoteleft": "`",
    "KP_Space": " ",
    "KP_Add": "+",
    "KP_Subtract": "-",
    "KP_Multiply": "*",
    "KP_Divide": "/",
    "KP_Decimal": ".",
    "KP_Equal": "=",
    **_pairs(
        """
        Hyper_L:Hyper Hyper_R:Hyper ISO_Level3_Shift:AltGraph Mode_switch:ModeChange BackSpace:Backspace Tab:Tab
        ISO_Left_Tab:Tab Clear:Clear Return:Enter Pause:Pause Break:Pause Scroll_Lock:ScrollLock Caps_Lock:CapsLock
        Num_Lock:NumLock Escape:Escape Delete:Delete Home:Home End:End Left:ArrowLeft Up:ArrowUp Right:ArrowRight
        Down:ArrowDown Prior:PageUp Page_Up:PageUp Next:PageDown Page_Down:PageDown Insert:Insert Menu:ContextMenu
        Print:PrintScreen Select:Select Execute:Execute Undo:Undo Redo:Redo Find:Find Cancel:Cancel Help:Help
        KP_Enter:Enter KP_Tab:Tab KP_Delete:Delete KP_Insert:Insert KP_Home:Home KP_End:End KP_Left:ArrowLeft
        KP_Up:ArrowUp KP_Right:ArrowRight KP_Down:ArrowDown KP_Prior:PageUp KP_Page_Up:PageUp KP_Next:PageDown
        KP_Page_Down:PageDown XF86Back:BrowserBack XF86Forward:BrowserForward XF86Reload:BrowserRefresh
        XF86HomePage:BrowserHome XF86AudioMute:AudioVolumeMute XF86AudioLowerVolume:AudioVolumeDown
        XF86AudioRaiseVolume:AudioVolumeUp XF86AudioPlay:MediaPlayPause XF86AudioStop:MediaStop
        XF86AudioNext:MediaTrackNext XF86AudioPrev:MediaTrackPrevious
        """
    ),
}

_SIDED: Final = (("ctrl", "Control"), ("shift", "Shift"), ("alt", "Alt"), ("option", "Alt"), ("win", "Meta"))

#: Names in `pyautogui.KEYBOARD_KEYS`; those longer than one character in any case.
PYAUTOGUI: Final[dict[str, str]] = {
    **{character: character for character in _CHARACTERS},
    **{name.lower(): name for name in _FUNCTION},
    **{f"num{digit}": digit for digit in "0123456789"},
    **{f"{name}{side}": key for name, key in _SIDED for side in ("", "left", "right")},
    "\t": "Tab",
    "\n": "Enter",
    "\r": "Enter",
    "space": " ",
    "yen": "¥",
    "add": "+",
    "subtract": "-",
    "multiply": "*",
    "divide": "/",
    "decimal": ".",
    "separator": ",",
    **_pairs(
        """
        command:Meta fn:Fn enter:Enter return:Enter tab:Tab backspace:Backspace del:Delete delete:Delete
        insert:Insert esc:Escape escape:Escape home:Home end:End left:ArrowLeft right:ArrowRight up:ArrowUp
        down:ArrowDown pageup:PageUp pgup:PageUp pagedown:PageDown pgdn:PageDown capslock:CapsLock numlock:NumLock
        scrolllock:ScrollLock pause:Pause print:PrintScreen printscreen:PrintScreen prntscrn:PrintScreen
        prtsc:PrintScreen prtscr:PrintScreen apps:ContextMenu clear:Clear select:Select execute:Execute help:Help
        accept:Accept convert:Convert nonconvert:NonConvert modechange:ModeChange final:FinalMode hanguel:HangulMode
        hangul:HangulMode hanja:HanjaMode junja:JunjaMode kana:KanaMode kanji:KanjiMode sleep:Standby
        browserback:BrowserBack browserfavorites:BrowserFavorites browserforward:BrowserForward
        browserhome:BrowserHome browserrefresh:BrowserRefresh browsersearch:BrowserSearch browserstop:BrowserStop
        launchapp1:LaunchApplication1 launchapp2:LaunchApplication2 launchmail:LaunchMail
        launchmediaselect:LaunchMediaPlayer volumedown:AudioVolumeDown volumemute:AudioVolumeMute
        volumeup:AudioVolumeUp playpause:MediaPlayPause stop:MediaStop nexttrack:MediaTrackNext
        prevtrack:MediaTrackPrevious
        """
    ),
}

#: Names of OpenAI's computer tool, in any case, besides single characters.
OPENAI: Final[dict[str, str]] = {
    **{value.upper(): value for value in VALUES if value != "Super"},
    "SPACE": " ",
    **_pairs(
        """
        CTRL:Control SUPER:Meta OPTION:Alt CMD:Meta COMMAND:Meta WIN:Meta RETURN:Enter ESC:Escape DEL:Delete LEFT:ArrowLeft
        RIGHT:ArrowRight UP:ArrowUp DOWN:ArrowDown
        """
    ),
}

#: What models write besides, with case, _ and - folded away.
FOLDED: Final[dict[str, str]] = {
    **{value.lower(): value for value in VALUES},
    **{name.lower(): key for name, key in CODES.items()},
    **{name.lower().replace("_", ""): key for name, key in KEYSYMS.items() if len(name) > 1},
    **PYAUTOGUI,
    **XDOTOOL_SHORT,
    **{name.lower(): key for name, key in OPENAI.items()},
    "windows": "Meta",
    "opt": "Alt",
    "spacebar": " ",
    "plus": "+",
    "ins": "Insert",
    **{f"{way}arrow": f"Arrow{way.capitalize()}" for way in ("left", "right", "up", "down")},
}

#: Signs that keyboards and menus show for keys; and what models mean by Super, which is not the old key of that name.
SIGNS: Final = _pairs(
    "Super:Meta ⌘:Meta ⌥:Alt ⌃:Control ⇧:Shift ⏎:Enter ↵:Enter ⌫:Backspace ⌦:Delete ⎋:Escape ⇥:Tab ←:ArrowLeft →:ArrowRight "
    "↑:ArrowUp ↓:ArrowDown"
)

#: Key -> the name that xdotool takes.
_TO_XDOTOOL: Final[dict[str, str]] = {
    **{character: name for name, character in _LATIN.items() if character.islower() or not character.isalpha()},
    **{character: name for name, character in _PUNCTUATION.items()},
    **{key: name for name, key in reversed(KEYSYMS.items()) if len(key) > 1 and not name.startswith("KP_")},
    "Control": "ctrl",
    "Alt": "alt",
    "Shift": "shift",
    "Meta": "super",
    "Tab": "Tab",
    "PageUp": "Page_Up",
    "PageDown": "Page_Down",
}

#: Key -> the name that pyautogui takes.
_TO_PYAUTOGUI: Final[dict[str, str]] = {
    **{key: name for name, key in reversed(PYAUTOGUI.items()) if len(key) > 1 and len(name) > 1},
    " ": "space",
    "Control": "ctrl",
    "Alt": "alt",
    "Shift": "shift",
    "Meta": "win",
    "Enter": "enter",
    "Tab": "tab",
    "Delete": "delete",
    "Escape": "esc",
    "PageUp": "pageup",
    "PageDown": "pagedown",
}

_TO_OPENAI: Final[dict[str, str]] = {
    **{key: name for name, key in reversed(OPENAI.items())},
    **{value: value.upper() for value in VALUES if value != "Super"},
    "Control": "CTRL",
    "Meta": "CMD",
    "Escape": "ESC",
}

#: Vocabulary -> key -> its name there. The browser's names are the project's own.
WRITTEN: Final[dict[str, dict[str, str]]] = {
    "xdotool": _TO_XDOTOOL,
    "pyautogui": _TO_PYAUTOGUI,
    "openai": _TO_OPENAI,
}

_UNICODE: Final = re.compile(r"(?:U|0x0*100)([0-9A-Fa-f]{4,6})")


def letter_keysym(name: str) -> str | None:
    """The letter of a key symbol such as eacute, Udiaeresis or scaron; None where the name is none."""
    mark = _MARKS.get(name[1:])
    if mark is None or not name[0].isascii() or not name[0].isalpha():
        return None
    made = unicodedata.normalize("NFC", name[0] + mark)
    return made if len(made) == 1 else None


def unicode_keysym(name: str) -> str | None:
    """The character of a key symbol such as U20AC; None where the name is none."""
    match = _UNICODE.fullmatch(name)
    if match is None:
        return None
    code = int(match[1], 16)
    return chr(code) if 0x20 <= code < 0x110000 and not 0xD800 <= code < 0xE000 else None
