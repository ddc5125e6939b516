"""What a person did, from what was heard: one gesture an action, never twice and never none. Pure: no browser in it.

Events come in the order of their times. The last gesture stays open as long as something may still belong to it: a second
click, further characters of a field, the option that a drop-down was opened for.
"""

from __future__ import annotations

from collections.abc import Callable

from cuadata.people.heard import Gesture, Heard, apart, ended_at, erase, led_elsewhere, may_be_text, press, settle

#: A press and release closer than this are a click, CSS px; the same as for scripts.
SHORTEST_DRAG = 4.0
#: Wheel events further apart than this are two scrolls; clicks further apart than `CLICK_SECONDS` no double click.
SCROLL_SECONDS, CLICK_SECONDS = 0.4, 0.6
#: Seconds within which a list takes a further letter as one of the same option's name, as Chromium does.
TYPED_AHEAD = 1.0
#: Kinds of fields whose value a picker of the browser's own may set, without any input that the page hears.
PICKED = frozenset(
    ("date", "time", "month", "week", "datetime-local", "color", "text", "search", "email", "url", "tel")
)
#: What a person does to the browser itself: each is an action by itself.
WHOLE = ("dialog", "navigate", "switch_page", "back", "forward", "reload")
_MODES = {0: "px", 1: "line", 2: "page"}


class Gestures:
    """Feed it what was heard; it gives the gestures that are over."""

    def __init__(self) -> None:
        self.open: Gesture | None = None
        self._down: Heard | None = None
        self._first: Gesture | None = None  # a click that the one in progress may double
        self._count = 1
        self._dragged = False
        self._entering: Heard | None = None
        self._ways: dict[str, Callable[[Heard], list[Gesture]]] = {
            "down": self._on_down,
            "count": self._on_count,
            "up": self._on_up,
            "cancel": self._on_cancel,
            "dragged": self._on_dragged,
            "dropped": self._on_up,
            "key": self._on_key,
            "text": self._on_text,
            "entering": self._on_entering,
            "wheel": self._on_wheel,
            "choose": self._on_choose,
            "files": self._on_files,
            "set": self._on_set,
            **dict.fromkeys(WHOLE, self._on_whole),
        }

    @property
    def busy(self) -> bool:
        """Whether a pointer button is down."""
        return self._down is not None

    @property
    def following(self) -> Heard | None:
        """What began the first gesture that is not over yet."""
        first = self._first or self.open
        return first.begin if first is not None else self._down

    def feed(self, heard: Heard) -> list[Gesture]:
        """The gestures that are over now, in order."""
        return self._ways[heard.kind](heard)

    def expire(self, now: float) -> list[Gesture]:
        """Those that are over because nothing came for a while; typing waits for as long as it takes."""
        held = self.open
        if held is None or self._down is not None or held.type in ("type", "select"):
            return []
        if held.type in ("click", "press") and held.begin.data.get("select"):
            return []  # its list may still be open
        return self.close() if now - held.ended > max(SCROLL_SECONDS, CLICK_SECONDS) else []

    def close(self) -> list[Gesture]:
        """End what is open; a button that is still down is taken as released where it was pressed."""
        done: list[Gesture] = []
        if self._down is not None:
            done += self._on_up(self._down)
        held, self.open = self.open, None
        if held is not None:
            waiting, held.waiting = held.waiting, None
            done += [held] if held.type != "type" or held.typed else []
            done += [press(waiting)] if waiting is not None else []
        return done

    def left(self, page: int) -> list[Gesture]:
        """A page is gone: a button that was pressed in it is never heard to be released."""
        down = self._down
        return self._on_up(down) if down is not None and down.place[:1] == (page,) else []

    # --- pointer ----------------------------------------------------------------------------------------------------

    def _on_down(self, heard: Heard) -> list[Gesture]:
        held, done = self.open, []
        if self._down is not None:
            done += self.close()
            held = None
        if heard.data["button"] > 2:
            return done  # buttons that go back and forward are heard as what they do
        again = (
            held is not None and held.type == "click" and heard.data["button"] == 0 and held.point is not None
            and heard.point is not None and apart(held.point, heard.point) < SHORTEST_DRAG and held.count == 1
            and heard.time - held.ended < CLICK_SECONDS and held.begin.place[:2] == heard.place[:2]
        )  # fmt: skip
        if again:
            self._first, self.open = held, None
        else:
            done += self.close()
        done += [
            Gesture(type="hover", begin=one, ended=heard.time, point=one.point) for one in heard.data.get("hovered", ())
        ]
        self._down, self._count, self._dragged = heard, 1, False
        return done

    def _on_count(self, heard: Heard) -> list[Gesture]:
        self._count = heard.data["count"]
        return []

    def _on_dragged(self, heard: Heard) -> list[Gesture]:
        self._dragged = True
        return []

    def _on_cancel(self, heard: Heard) -> list[Gesture]:
        # The browser's own dragging takes the pointer away; the end of it comes as "dropped".
        return [] if self._dragged else self._on_up(heard)

    def _on_up(self, heard: Heard) -> list[Gesture]:
        down, self._down = self._down, None
        if down is None:
            return []
        first, self._first = self._first, None
        done: list[Gesture] = []
        end = ended_at(down, heard)
        far = down.point is not None and end is not None and apart(down.point, end) >= SHORTEST_DRAG
        if down.data["button"] == 0 and (far or self._dragged) and heard is not down:
            made = Gesture(type="drag", begin=down, ended=heard.time, point=down.point, end=end)
            made.dropped = heard.kind == "dropped"
        elif first is not None and self._count > 1:
            made = first
            made.type, made.count, made.ended, first = "double_click", 2, heard.time, None
        else:
            made = Gesture(
                type="right_click" if down.data["button"] == 2 else "click",
                begin=down, ended=heard.time, point=down.point,
            )  # fmt: skip
        made.modifiers = tuple(down.data["modifiers"])
        if down.data["button"] == 1 and "Control" not in made.modifiers:
            made.modifiers = ("Control", *made.modifiers)  # the middle button opens a link as Control and a click do
        done += [first] if first is not None else []
        self.open = made
        return done

    def _on_wheel(self, heard: Heard) -> list[Gesture]:
        across, along, unit = heard.data["right"], heard.data["down"], _MODES[heard.data["mode"]]
        if unit == "page":
            height = heard.data.get("height", 600)
            across, along, unit = across * height, along * height, "px"
        held, modifiers = self.open, tuple(heard.data["modifiers"])
        if (
            held is not None and held.type == "scroll" and held.unit == unit and held.modifiers == modifiers
            and heard.time - held.ended <= SCROLL_SECONDS and held.begin.place[:2] == heard.place[:2]
            and held.right * across >= 0 and held.down * along >= 0
        ):  # fmt: skip
            held.right, held.down, held.ended = held.right + across, held.down + along, heard.time
            return []
        done = self.close()
        self.open = Gesture(
            type="scroll", begin=heard, ended=heard.time, point=heard.point, right=across, down=along, unit=unit,
            modifiers=modifiers,
        )  # fmt: skip
        return done

    # --- keys and text ----------------------------------------------------------------------------------------------

    def _typing(self, heard: Heard) -> tuple[list[Gesture], Gesture]:
        """The typing that is open in this field, begun where there is none; and what that ended."""
        held = self.open
        if held is not None and held.type == "type" and held.begin.place == heard.place:
            return [], held
        entering, self._entering = self._entering, None
        begin = entering if entering is not None and _announced(entering, heard) else heard
        if held is not None and begin is not heard and led_elsewhere(held, heard):
            # The page led the text of that key to this field: one action, and what stood is what stood before the key.
            begin.time, begin.before, self.open = held.begin.time, held.begin.before, None
        done = self.close()
        self.open = Gesture(type="type", begin=begin, ended=heard.time, secret=heard.data.get("secret"))
        return done, self.open

    def _on_key(self, heard: Heard) -> list[Gesture]:
        data = heard.data
        key, held = data["key"], self.open
        if data["types"] and data["editable"]:
            done, held = self._typing(heard)
            if held.waiting is not None:
                done += self.close()
                more, held = self._typing(heard)
                done += more
            settle(held)
            held.typed.append(key)
            held.sure, held.ended = False, heard.time
            return done
        typing = held if held is not None and held.type == "type" and held.begin.place == heard.place else None
        if key == "Backspace" and typing is not None and typing.typed and typing.waiting is None:
            settle(typing)
            typing.corrected += erase(typing.typed, word="Control" in data["modifiers"])
            typing.ended = heard.time
            return []
        if may_be_text(key, data):
            if typing is None or typing.waiting is not None:
                done = self.close()
                more, typing = self._typing(heard)
                done += more
            else:
                done = []
            typing.waiting, typing.ended = heard, heard.time
            return done
        chosen = held if held is not None and held.type == "select" and held.begin.place == heard.place else None
        if data["select"] and chosen is not None and chosen.waiting is None:
            # A further letter of the option's name need not move the choice; any other key may act by itself.
            spelt = data["types"] and heard.time - chosen.ended < TYPED_AHEAD
            chosen.waiting, chosen.ended = None if spelt else heard, heard.time
            return []
        done = self.close()
        self.open = press(heard)
        return done

    def _on_entering(self, heard: Heard) -> list[Gesture]:
        self._entering = heard
        return []

    def _on_text(self, heard: Heard) -> list[Gesture]:
        how, text = heard.data["how"] or "", heard.data["data"]
        held = self.open
        given_up = how == "deleteCompositionText" or (how == "insertCompositionText" and text is None)
        if given_up and held is not None and held.composing:
            held.typed.pop()
            held.composing = False
            return []
        if how.startswith(("delete", "history", "format")) or how == "insertFromDrop":
            return []  # of a key or a drag that was heard itself
        if how in ("insertLineBreak", "insertParagraph"):
            if held is not None and held.type == "type" and held.waiting is not None:
                held.waiting = None
                held.typed.append("\n")
            return []
        if text is None:
            return []
        done, held = self._typing(heard)
        held.ended = heard.time
        if held.waiting is not None and how.startswith("insertFrom"):
            held.waiting = None
        if how == "insertCompositionText":
            if held.composing:
                held.typed.pop()
            held.typed.append(text)
            held.composing = held.sure = True
            return done
        settle(held)
        if not held.sure and held.typed:
            held.typed.pop()  # the key that made this text
        held.typed.append(text)
        held.sure = True
        return done

    # --- fields of the browser's own --------------------------------------------------------------------------------

    def _on_choose(self, heard: Heard) -> list[Gesture]:
        done, begin, held = [], heard, self.open
        if held is not None and held.begin.place == heard.place and held.type in ("click", "press", "select", "type"):
            begin, self.open = held.begin, None  # what opened the list, or moved in it
            begin.data["chain"] = heard.data.get(
                "chain", begin.data.get("chain")
            )  # the list, not the option under a click
        else:
            done = self.close()
        self.open = Gesture(
            type="select", begin=begin, ended=heard.time, value=heard.data["value"], text=heard.data["label"]
        )
        return done

    def _on_files(self, heard: Heard) -> list[Gesture]:
        held, done = self.open, []
        if held is not None and held.type in ("click", "press"):
            heard.before, self.open = held.begin.before, None  # it opened the chooser
        else:
            done = self.close()
        self.open = Gesture(type="upload", begin=heard, ended=heard.time, files=tuple(heard.data["files"]))
        return done

    def _on_set(self, heard: Heard) -> list[Gesture]:
        held = self.open
        by_hand = self._down is not None or (held is not None and held.begin.place == heard.place)
        picked = held is not None and held.type == "click" and heard.data["type"] in PICKED
        emptied = not heard.data["value"] and heard.data.get("secret") is None
        if by_hand and (emptied or not picked):
            return []  # a slider under the pointer, a number by its arrows, a field's own cross: the gesture itself is heard
        done = self.close()
        made = Gesture(type="type", begin=heard, ended=heard.time, secret=heard.data.get("secret"))
        made.typed.append(heard.data["value"] or "\u2022")
        self.open = made
        return done

    # --- what the browser tells itself ------------------------------------------------------------------------------

    def _on_whole(self, heard: Heard) -> list[Gesture]:
        done, data = self.close(), heard.data
        made = Gesture(
            type=heard.kind, begin=heard, ended=heard.time, url=data.get("url"), page=data.get("page"),  # type: ignore[arg-type]
            accept=data.get("accept"), text=data.get("text"),
        )  # fmt: skip
        return [*done, made]


def _announced(entering: Heard, text: Heard) -> bool:
    """Whether the field said of this very text that it would come; what it refused, or set by its arrows, has no text."""
    return text.kind == "text" and entering.place == text.place and text.time - entering.time < 0.5
