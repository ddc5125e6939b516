"""Words on controls in several languages, and icons: how each looks and what it is used for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

#: Language -> writing direction and the words of controls.
LANGUAGES: Final[dict[str, tuple[str, tuple[str, ...]]]] = {
    "en": ("ltr", ("Save", "Open", "Print", "Send", "Copy", "Paste", "Delete", "Rename", "Share", "Archive", "Import",
                   "Export", "Refresh", "Cancel", "Preview", "Duplicate", "Restore", "Details", "Move", "Compare")),
    "de": ("ltr", ("Speichern", "Öffnen", "Drucken", "Senden", "Kopieren", "Einfügen", "Löschen", "Umbenennen",
                   "Teilen", "Archivieren", "Importieren", "Exportieren", "Aktualisieren", "Abbrechen", "Vorschau",
                   "Duplizieren", "Wiederherstellen", "Einzelheiten", "Verschieben", "Vergleichen")),
    "fr": ("ltr", ("Enregistrer", "Ouvrir", "Imprimer", "Envoyer", "Copier", "Coller", "Supprimer", "Renommer",
                   "Partager", "Archiver", "Importer", "Exporter", "Actualiser", "Annuler", "Aperçu", "Dupliquer",
                   "Restaurer", "Détails", "Déplacer", "Comparer")),
    "ru": ("ltr", ("Сохранить", "Открыть", "Печать", "Отправить", "Копировать", "Вставить", "Удалить",
                   "Переименовать", "Поделиться", "Архив", "Импорт", "Экспорт", "Обновить", "Отмена", "Просмотр",
                   "Дублировать", "Восстановить", "Подробнее", "Переместить", "Сравнить")),
    "ar": ("rtl", ("حفظ", "فتح", "طباعة", "إرسال", "نسخ", "لصق", "حذف", "تسمية", "مشاركة", "أرشيف", "استيراد",
                   "تصدير", "تحديث", "إلغاء", "معاينة", "تكرار", "استعادة", "تفاصيل", "نقل", "مقارنة")),
}  # fmt: skip
PEOPLE: Final = ("Ada", "Bruno", "Chiara", "Dilan", "Emeka", "Farid", "Greta", "Hana", "Ivo", "Jonas", "Kaya", "Lena")


#: English word of a control -> its use in words, and words and icons of controls that somebody would use for the same. What is not
#: here, "Open" and "Copy", has no use of its own.
USES: Final[dict[str, tuple[str, tuple[str, ...]]]] = {
    "Save": ("keep what was changed", ("Archive", "Export")),
    "Print": ("get this on paper", ("Preview",)),
    "Send": ("have this delivered to somebody", ("Share", "Export", "Mail")),
    "Paste": ("put in what was copied", ("Import",)),
    "Delete": ("get rid of this for good", ("Archive", "Cancel", "Close")),
    "Rename": ("give this another name", ()),
    "Share": ("let other people see this", ("Preview", "Export", "Mail")),
    "Archive": ("put this away without deleting it", ("Move", "Export", "Close")),
    "Import": ("bring in data from elsewhere", ("Open", "Download")),
    "Export": ("write the data out for another program", ("Copy",)),
    "Refresh": ("load the newest state", ("Restore", "Alerts")),
    "Cancel": ("call off what was begun", ("Pause", "Restore")),
    "Preview": ("see beforehand what it will look like", ("Details", "Open")),
    "Duplicate": ("make a second one of this", ("Copy",)),
    "Restore": ("bring back an earlier version", ("Archive", "Open")),
    "Details": ("read more about this", ("Open", "Compare", "Alerts", "Account")),
    "Move": ("put this in another place", ("Copy", "Paste")),
    "Compare": ("see where two of these differ", ("Preview",)),
}


@dataclass(frozen=True, slots=True)
class Icon:
    """A drawing on a 24 px board, the name that assistive technology reads, its look and its use in words.

    `likewise`: English words of controls that somebody would use for the same.
    """

    name: str
    look: str
    does: str
    path: str
    likewise: tuple[str, ...] = ()


ICONS: Final = (
    Icon("Search", "magnifying glass icon", "look something up",
         "M10 4a6 6 0 1 0 0 12a6 6 0 0 0 0-12ZM14.5 14.5L20 20", ("Details",)),
    Icon("Close", "cross-shaped icon", "close this", "M5 5L19 19M19 5L5 19", ("Cancel",)),
    Icon("Add", "plus sign icon", "add something new", "M12 4V20M4 12H20",
         ("Copy", "Paste", "Import", "Duplicate")),
    Icon("Menu", "three bars icon", "show all sections", "M4 6H20M4 12H20M4 18H20", ("Details",)),
    Icon("Download", "arrow onto a tray icon", "get the file onto this computer", "M12 3V15M7 10L12 15L17 10M4 20H20",
         ("Save", "Open", "Copy", "Archive", "Export")),
    Icon("Favourite", "star icon", "remember this as a favourite",
         "M12 3L14.8 9H21L16 13.2L18 20L12 16L6 20L8 13.2L3 9H9.2Z", ("Save",)),
    Icon("Home", "house icon", "go to the start page", "M3 12L12 4L21 12M6 10V20H18V10"),
    Icon("Mail", "envelope icon", "read messages", "M3 6H21V18H3ZM3 6L12 13L21 6", ("Open",)),
    Icon("Play", "triangle icon", "start playing", "M7 4L19 12L7 20Z", ("Open", "Preview")),
    Icon("Pause", "two bars icon", "hold playing for a moment", "M8 5V19M16 5V19"),
    Icon("Alerts", "bell icon", "look at the latest notifications", "M6 17H18L16.5 14V10a4.5 4.5 0 0 0-9 0V14ZM10.5 20H13.5"),
    Icon("Account", "head and shoulders icon", "see who is signed in",
         "M12 4a4 4 0 1 0 0 8a4 4 0 0 0 0-8ZM4 21a8 7 0 0 1 16 0"),
)  # fmt: skip

_DIGITS: Final = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine")
_NTH: Final = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth")
_TEENS: Final = (
    "tenth", "eleventh", "twelfth", "thirteenth", "fourteenth", "fifteenth", "sixteenth", "seventeenth", "eighteenth",
    "nineteenth",
)  # fmt: skip
#: Key of a keypad, in their order -> its use.
KEYS: Final = {str(n): f"enter the digit {word}" for n, word in enumerate(_DIGITS, 1)} | {
    "*": "enter an asterisk", "0": "enter the digit zero", "#": "enter a number sign",
}  # fmt: skip
#: Day of a calendar -> its use.
DAYS: Final = {
    str(n): f"choose the {word} of the month"
    for n, word in enumerate(
        (*_NTH, *_TEENS, "twentieth", *(f"twenty-{nth}" for nth in _NTH), "thirtieth", "thirty-first"), 1
    )
}

_LIKEWISE: Final = [(name, set(held)) for name, (_, held) in USES.items()] + [
    (one.name, set(one.likewise)) for one in ICONS
]
#: Word or icon -> words and icons that somebody would use for the same, whichever of the two says so: beside one of them its use
#: names no single control.
LIKEWISE: Final[dict[str, frozenset[str]]] = {
    name: frozenset(held.union(other for other, theirs in _LIKEWISE if name in theirs)) for name, held in _LIKEWISE
}
