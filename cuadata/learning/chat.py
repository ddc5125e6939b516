"""Chat samples that a trainer can learn from: picture marks that fit the pictures, lengths that cut none, a loss mask."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from cuadata import geometry
from cuadata.contracts import Message
from cuadata.errors import DataError
from cuadata.types import Size

#: The label of a token that is not trained on, as in PyTorch's cross entropy.
IGNORED = -100
#: Roles in whose turns a template renders pictures; TRL fills them from the `images` column in these only.
PICTURE_ROLES: tuple[str, ...] = ("user",)
#: Who may speak in a turn.
ROLES: tuple[str, ...] = ("system", "user", "assistant", "tool")


class NothingToLearn(DataError):
    """A sample without a token to train on. Its loss would be 0 and nobody would be told."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pictures:
    """The picture marks of a conversation against its pictures."""

    keep: Annotated[bool, "as many marks are rendered as there are pictures"]
    rendered: Annotated[int, "marks that the template renders"]
    pictures: Annotated[int, "pictures that come with it"]
    reason: Annotated[Literal["lost_picture", "too_few_marks", "too_many_marks"] | None, "why not"] = None
    message: Annotated[int | None, "position of the first message that loses its picture"] = None


def is_message(message: object) -> bool:
    """Whether this is a turn: a role, and a content of text or of parts, all of it text that can be written down."""
    if not isinstance(message, Mapping) or message.get("role") not in ROLES:
        return False
    content = message.get("content")
    if content is None:
        return True
    parts = [content] if isinstance(content, str) else content
    if not isinstance(parts, list) or not all(isinstance(part, str | Mapping) for part in parts):
        return False
    texts = [part if isinstance(part, str) else part.get("text", "") for part in parts]
    return all(map(_writable, texts))


def _writable(text: object) -> bool:
    if not isinstance(text, str):
        return False
    try:
        text.encode()
    except UnicodeEncodeError:  # half a surrogate pair
        return False
    return True


def text(message: Message) -> str:
    """The text of a turn."""
    content = message.get("content") or ""
    return content if isinstance(content, str) else "".join(str(part.get("text", "")) for part in content)


def plain(message: Message) -> Message:
    """A turn whose content is a text, for models that take no pictures."""
    return message if isinstance(message.get("content"), str) else {**message, "content": text(message)}


def check_pictures(
    messages: Sequence[Message], pictures: int, *, roles: Sequence[str] = PICTURE_ROLES
) -> Pictures:  # fmt: skip
    """Whether the template will render as many marks as there are pictures.

    A mark is a part of type image (or image_url), or one with that key and no type; a word such as `<image>` that stands in a text is text. Marks in turns
    of other roles than `roles` vanish when the template is applied, and their pictures land at other marks.
    """
    rendered = sum(_marks(m) for m in messages if m.get("role") in roles)
    lost = next((at for at, m in enumerate(messages) if m.get("role") not in roles and _marks(m)), None)
    if lost is not None:
        return Pictures(keep=False, rendered=rendered, pictures=pictures, reason="lost_picture", message=lost)
    if rendered != pictures:
        reason: Literal["too_few_marks", "too_many_marks"] = (
            "too_few_marks" if rendered < pictures else "too_many_marks"
        )
        return Pictures(keep=False, rendered=rendered, pictures=pictures, reason=reason)
    return Pictures(keep=True, rendered=rendered, pictures=pictures)


def move_pictures(messages: Sequence[Message], *, roles: Sequence[str] = PICTURE_ROLES) -> list[Message]:
    """The same conversation with the pictures of other turns in user turns of their own, right behind.

    For pictures that a tool returned: Qwen's templates show a tool's answer in a user turn between `<tool_response>` tags,
    which is what this writes.
    """
    moved: list[Message] = []
    for message in messages:
        if message.get("role") in roles or not _marks(message):
            moved.append(message)
        elif message.get("role") == "tool":
            opening, closing = (
                {"type": "text", "text": "<tool_response>\n"},
                {"type": "text", "text": "\n</tool_response>"},
            )
            moved.append({"role": "user", "content": [opening, *_parts(message), closing]})
        else:
            kept = [part for part in _parts(message) if not _is_mark(part)]
            moved.append({**message, "content": kept})
            moved.append({"role": "user", "content": [part for part in _parts(message) if _is_mark(part)]})
    return moved


def _parts(message: Message) -> list[Mapping[str, Any]]:
    content = message.get("content")
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    return [part for part in content or () if isinstance(part, Mapping)]


def _is_mark(part: Mapping[str, Any]) -> bool:
    if "type" not in part:  # templates ask for the key as well
        return "image" in part or "image_url" in part
    return part["type"] in ("image", "image_url", "input_image")


def _marks(message: Message) -> int:
    return sum(map(_is_mark, _parts(message)))


def picture_tokens(
    size: Size, *, factor: int = 28, marks: int = 2, min_pixels: int = 56 * 56, max_pixels: int = 14 * 14 * 4 * 1280
) -> int:
    """Tokens of one picture in a Qwen vision model: one a `factor` x `factor` patch of the resized picture, and its marks."""
    tall, wide = geometry.smart_resize(
        size.height, size.width, factor=factor, min_pixels=min_pixels, max_pixels=max_pixels
    )
    return tall // factor * (wide // factor) + marks


def tokens(text_tokens: int, pictures: Iterable[Size], **resize: int) -> int:
    """Tokens of a sample: its text and its pictures. `resize` are the keywords of `picture_tokens`."""
    return text_tokens + sum(picture_tokens(size, **resize) for size in pictures)


def fits(text_tokens: int, pictures: Iterable[Size], max_length: int, **resize: int) -> bool:
    """Whether a sample fits whole. One that does not is left out, never cut: half a picture is an error, half an answer
    is a lesson in breaking off."""
    return tokens(text_tokens, pictures, **resize) <= max_length


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnMarks:
    """Token ids of a chat template's marks. A turn is `start`, role, `newline`, content, `end`."""

    start: Annotated[int, "opens a turn"]
    end: Annotated[int, "closes a turn"]
    newline: Annotated[int, "stands behind the role"]
    assistant: Annotated[int | tuple[int, ...], "the role of the model"]
    never: Annotated[tuple[int, ...], "tokens that are never trained on: padding, picture patches"] = ()


def labels(input_ids: Sequence[int], marks: TurnMarks) -> list[int]:
    """Labels of one sequence: the content of every assistant turn and the mark that ends it, IGNORED elsewhere.

    NothingToLearn where no token is left.
    """
    role = marks.assistant if isinstance(marks.assistant, tuple) else (marks.assistant,)
    opening = (marks.start, *role, marks.newline)
    found = [IGNORED] * len(input_ids)
    at = 0
    while at < len(input_ids):
        if tuple(input_ids[at : at + len(opening)]) != opening:
            at += 1
            continue
        at += len(opening)
        while at < len(input_ids) and input_ids[at] not in (marks.end, marks.start):
            found[at] = input_ids[at] if input_ids[at] not in marks.never else IGNORED
            at += 1
        if at < len(input_ids) and input_ids[at] == marks.end:
            found[at] = marks.end
            at += 1
    _some(found)
    return found


def check_labels(input_ids: Sequence[int], given: Sequence[int], marks: TurnMarks) -> None:
    """Whether a collator's labels train on assistant tokens alone.

    DataError that names the first token that should not be trained on, or is labelled as another; NothingToLearn where
    there is none to train on.
    """
    if len(input_ids) != len(given):
        raise DataError(f"{len(given)} labels for {len(input_ids)} tokens; as many are wanted")
    _some(given)
    wanted = labels(input_ids, marks)
    for at, (label, want) in enumerate(zip(given, wanted, strict=True)):
        if label not in (IGNORED, want):
            what = (
                f"label {label} for token {input_ids[at]}"
                if want != IGNORED
                else f"token {input_ids[at]} is trained on"
            )
            raise DataError(
                f"{what}, outside of the assistant's turns" if want == IGNORED else what, place=f"position {at}"
            )


def _some(given: Sequence[int]) -> None:
    if all(label == IGNORED for label in given):
        raise NothingToLearn("no token of the assistant is left to train on: no answer, or one that was cut away")
