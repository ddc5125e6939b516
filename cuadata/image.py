"""Pictures: described from their bytes, decoded as a person would see them, hashed; never encoded again."""

from __future__ import annotations

import dataclasses
import hashlib
import io
import struct
import typing
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cuadata.types import Image

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from PIL import Image as Pillow

#: A decoded picture may have this many pixels; larger ones are refused before they are decoded.
MAX_PIXELS = 100_000_000
#: Formats whose EXIF orientation readers heed, and the orientations in which width and height change places.
_ORIENTED = ("JPEG", "MPO", "PNG", "WEBP")
_SIDEWAYS = (5, 6, 7, 8)
#: What a PNG's chunk of text begins with that may tell an orientation, as its chunk eXIf does.
_PNG_EXIF = (b"Raw profile type exif", b"XML:com.adobe.xmp")


class BadImage(ValueError):
    """Bytes that are no picture that we can read."""


def from_bytes(data: bytes, *, phash: bool = True, path: str | None = None, keep: bool = True) -> Image:
    """Describe an encoded picture.

    `phash=False` leaves the perceptual hash and the colours empty and decodes nothing: 50 times cheaper, sizes still read
    from the header.
    `keep=False` leaves the bytes out, for pictures that stay in a file. Raises BadImage.
    """
    kind, width, height = header(data)
    seen = _as_seen(data) if phash else None
    return Image(
        sha256=hashlib.sha256(data).hexdigest(),
        width=width,
        height=height,
        format=kind,
        phash="" if seen is None else _hash_of(seen),
        colours="" if seen is None else _colours_of(seen),
        path=path,
        data=data if keep else None,
    )


def with_looks(picture: Image) -> Image:
    """A picture with its perceptual hash and its colours, taken from its pixels where it has none. Raises BadImage."""
    if picture.phash and picture.colours:
        return picture
    seen = _as_seen(read(picture))
    return dataclasses.replace(picture, phash=_hash_of(seen), colours=_colours_of(seen))


def from_file(path: Path | str, *, phash: bool = True) -> Image:
    """Describe a picture on disk; its bytes stay there. Raises BadImage or OSError."""
    return from_bytes(Path(path).read_bytes(), phash=phash, path=str(path), keep=False)


def from_any(value: Any, place: str, *, files: bool = True) -> Image:
    """An Image from an Image, bytes, a path or the Hub's `{bytes, path}`; ValueError that names the place otherwise.

    Of `{bytes, path}` the bytes are taken and no file is opened, since such rows come from others, who may name any file of
    the machine that reads them. `files=False` says so of every value: only bytes are a picture then.
    """
    if isinstance(value, Image):
        return value
    if files and isinstance(value, Mapping) and "sha256" in value:
        return Image(**value)
    held = value.get("bytes") if isinstance(value, Mapping) else value
    try:
        if isinstance(held, bytes):
            return from_bytes(held, phash=False)
        if files and isinstance(value, (str, Path)):
            return from_file(value, phash=False)
    except BadImage as error:
        raise BadImage(f"{place}: {error}") from error
    if isinstance(value, (str, Path, Mapping)):
        raise BadImage(
            f"{place}: wanted a picture, got {value!r:.80}; files that a row names are not opened:"
            " store the bytes, as `datasets` does with embed_external_files"
        )
    raise ValueError(f"{place}: wanted a picture, got {value!r:.80}; give bytes, a path, or {{bytes, path}}")


def read(image: Image) -> bytes:
    """The encoded bytes, from memory or from the file; ValueError where there are none or they are others."""
    if image.data is not None:
        return image.data
    if image.path is None:
        raise ValueError(f"picture {image.sha256[:12]} has neither bytes nor a path")
    with open(image.path, "rb", buffering=0) as file:
        data = file.read()
    if hashlib.sha256(data).hexdigest() != image.sha256:
        raise BadImage(f"{image.path} does not hold the picture {image.sha256[:12]} that its record names")
    return data


def header(data: bytes) -> tuple[str, int, int]:
    """Format, width and height read from the first bytes, without decoding. Raises BadImage.

    Where the picture says that it lies on its side (EXIF orientation), the size is that of the upright picture, which
    `rgb`, `datasets` and browsers show.
    """
    if data[:8] == b"\x89PNG\r\n\x1a\n" and len(data) >= 24:
        width, height = struct.unpack(">II", data[16:24])
        if b"IEND" not in data[-12:]:
            raise BadImage(f"the PNG of {len(data)} bytes is cut off: it has no end mark")
        if not _may_be_turned(data):
            return _checked("png", width, height)
    if data[:40].startswith(b"version https://git-lfs"):
        raise BadImage("the file is a Git LFS pointer, not the picture; fetch it with `git lfs pull`")
    from PIL import Image as Pillow
    from PIL import UnidentifiedImageError

    try:
        with Pillow.open(io.BytesIO(data)) as opened:
            kind = (opened.format or "?").lower()
            size = opened.size[::-1] if _orientation(opened) in _SIDEWAYS else opened.size
            return _checked(kind, *size)
    except UnidentifiedImageError as error:  # its own words name an object in memory
        raise BadImage(f"{len(data)} bytes that begin with {data[:8]!r} are no picture of a known format") from error
    except (OSError, Pillow.DecompressionBombError, SyntaxError, ValueError) as error:
        raise BadImage(f"{len(data)} bytes that begin with {data[:8]!r} are no picture: {error}") from error


def _may_be_turned(png: bytes) -> bool:
    """Whether a PNG has a chunk that may tell an orientation; without one its size is read from its head alone.

    Goes from chunk to chunk: to look through all of a picture for a word takes longer than to hash it.
    """
    at = 8
    while at + 8 <= len(png):
        length, kind = struct.unpack_from(">I4s", png, at)
        if kind == b"eXIf" or (kind in (b"tEXt", b"zTXt", b"iTXt") and png.startswith(_PNG_EXIF, at + 8)):
            return True
        at += 12 + length
    return False


def is_whole(data: bytes) -> bool:
    """Whether bytes are a PNG whose chunks are all there, each with its checksum: as its encoder wrote it; decodes nothing.

    A hundredth of the time that decoding takes. It vouches for a picture of an encoder that is trusted, no more: what somebody
    made up may be whole and yet no picture.
    """
    if data[:8] != b"\x89PNG\r\n\x1a\n" or data[12:16] != b"IHDR":
        return False
    at, held = 8, memoryview(data)
    while at + 12 <= len(data):
        length, kind = struct.unpack_from(">I4s", data, at)
        end = at + 8 + length
        if end + 4 > len(data) or zlib.crc32(held[at + 4 : end]) != struct.unpack_from(">I", data, end)[0]:
            return False
        if kind == b"IEND":
            return bool(end + 4 == len(data))
        at = end + 4
    return False


def is_turned(data: bytes) -> bool:
    """Whether a picture is stored on its side or mirrored, and says so: its stored pixels are not what is seen."""
    from PIL import Image as Pillow

    header(data)
    with Pillow.open(io.BytesIO(data)) as opened:
        return _orientation(opened) not in (None, 1)


def _orientation(opened: Any) -> int | None:
    """The EXIF orientation of an opened picture, 1 to 8; None where it says none that readers heed."""
    if opened.format not in _ORIENTED:
        return None
    try:
        found = opened.getexif().get(0x0112)
    except (OSError, SyntaxError, ValueError, KeyError, TypeError, struct.error):
        return None  # notes that cannot be read turn nothing
    return found if isinstance(found, int) and 1 <= found <= 8 else None


def _checked(kind: str, width: int, height: int) -> tuple[str, int, int]:
    if width < 1 or height < 1:
        raise BadImage(f"the picture is {width}x{height} px; it needs at least one")
    if width * height > MAX_PIXELS:
        raise BadImage(f"the picture is {width}x{height} px, over the limit of {MAX_PIXELS} px")
    return kind, width, height


def rgb(data: bytes) -> NDArray[np.uint8]:
    """Decode to (height, width, 3) uint8 as a person sees it: upright, transparency over white, 16 bit scaled.

    Raises BadImage.
    """
    import numpy as np

    pixels = _of_browser(data)
    return np.asarray(_as_seen(data)) if pixels is None else pixels


#: What a PNG as browsers write it says of its pixels: 8 bits of red, green and blue, not interlaced.
_RGB8 = b"\x08\x02\x00\x00\x00"


def _of_browser(data: bytes) -> NDArray[np.uint8] | None:
    """The pixels of a PNG as a browser's debugger writes it, whole and with every row told by what is above it; None for others.

    Half the time of a decoder for all kinds: such rows are sums down the picture (PNG specification, section 9.2, "Up").
    """
    import numpy as np

    if data[:16] != b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR" or data[24:29] != _RGB8:
        return None
    width, height = struct.unpack_from(">II", data, 16)
    if not 0 < width * height <= MAX_PIXELS:
        return None
    packed = _packed(data)
    unpack, size = zlib.decompressobj(), height * (1 + 3 * width)
    try:
        flat = unpack.decompress(b"".join(packed or ()), size)
    except zlib.error:
        return None
    if len(flat) != size or not unpack.eof:
        return None
    rows = np.frombuffer(flat, np.uint8).reshape(height, 1 + 3 * width)
    if (rows[:, 0] != 2).any():
        return None
    pixels = np.empty((height, 3 * width), np.uint8)
    pixels[0] = rows[0, 1:]
    for at in range(1, height):  # a row at a time is ten times faster than `np.add.accumulate` down the columns
        np.add(pixels[at - 1], rows[at, 1:], out=pixels[at])
    pixels.flags.writeable = False  # as what Pillow gives
    return pixels.reshape(height, width, 3)


def _packed(png: bytes) -> list[bytes] | None:
    """The data of a PNG that has no chunks but head, data and end, all whole; None for others."""
    parts: list[bytes] = []
    at = 8
    while at + 12 <= len(png):
        length, kind = struct.unpack_from(">I4s", png, at)
        end = at + 12 + length
        if end > len(png) or zlib.crc32(png[at + 4 : end - 4]) != int.from_bytes(png[end - 4 : end], "big"):
            return None
        if kind == b"IEND":
            return parts if end == len(png) else None
        if kind == b"IDAT":
            parts.append(png[at + 8 : end - 4])
        elif kind != b"IHDR" or at != 8:
            return None
        at = end
    return None


def _as_seen(data: bytes) -> Pillow.Image:
    """Decoded as a person sees it, in mode RGB."""
    import numpy as np
    from PIL import Image as Pillow
    from PIL import ImageOps

    header(data)
    try:
        with Pillow.open(io.BytesIO(data)) as encoded:
            encoded.load()
            opened = encoded if _orientation(encoded) in (None, 1) else ImageOps.exif_transpose(encoded)
            if opened.mode in ("I;16", "I;16B", "I;16L", "I", "F"):
                levels = np.asarray(opened, dtype=np.float64)
                grey = np.clip(levels / (257.0 if levels.max(initial=0) > 255 else 1.0), 0, 255).astype(np.uint8)
                return Pillow.fromarray(grey).convert("RGB")
            if opened.has_transparency_data:
                seen = opened.convert("RGBA")
                ground = Pillow.new("RGBA", seen.size, (255, 255, 255, 255))
                return Pillow.alpha_composite(ground, seen).convert("RGB")
            return opened if opened.mode == "RGB" else opened.convert("RGB")
    except (OSError, SyntaxError, ValueError, Pillow.DecompressionBombError) as error:
        raise BadImage(f"the picture does not decode: {error}") from error


def pixel_hash(pixels: NDArray[np.uint8]) -> str:
    """sha256 of size and decoded pixels: equal for the same picture under another compression or with opaque alpha."""
    shape = struct.pack(">III", *typing.cast(tuple[int, int, int], pixels.shape))
    return hashlib.sha256(shape + pixels.tobytes()).hexdigest()


def perceptual_hash(pixels: NDArray[np.uint8]) -> str:
    """64-bit DCT hash of an RGB picture, 16 hex digits; near pictures differ in few bits.

    The picture is reduced to 32x32 grey, its 2D DCT-II taken, and each of the 64 lowest terms compared with their median,
    the constant term left out of the median (Zauner, "Implementation and Benchmarking of Perceptual Image Hash
    Functions", 2010).
    """
    from PIL import Image as Pillow

    return _hash_of(Pillow.fromarray(pixels))


def _hash_of(seen: Pillow.Image) -> str:
    import numpy as np
    from PIL import Image as Pillow
    from scipy.fft import dctn

    small = seen.convert("L").resize((32, 32), Pillow.Resampling.BOX)
    terms: Any = dctn(np.asarray(small, dtype=np.float64), norm="ortho")
    low = terms[:8, :8].ravel()
    # Rounded, so that a picture of one colour gives the same hash whatever the last digit of its zero terms.
    low = np.round(low, 6)
    bits = low > np.median(low[1:])
    return f"{int(''.join('1' if b else '0' for b in bits), 2):016x}"


def colours(pixels: NDArray[np.uint8]) -> str:
    """Averages of 8x8 cells of an RGB picture, 192 bytes in base64: tells pictures apart whose hashes agree.

    A hash of 64 bits sees the rough pattern only, and all flat pictures have one. Large pictures are sampled at every n-th
    pixel, about 16,000 in all.
    """
    from PIL import Image as Pillow

    return _colours_of(Pillow.fromarray(pixels))


def _colours_of(seen: Pillow.Image) -> str:
    import base64

    from PIL import Image as Pillow

    step = max(1, round((seen.width * seen.height / 16384) ** 0.5))
    first = step // 2
    size = len(range(first, seen.width, step)), len(range(first, seen.height, step))
    # The middle of each pixel of the small picture falls on that of a pixel of the large one.
    move = first + (1 - step) / 2
    sampled = seen.transform(size, Pillow.Transform.AFFINE, (step, 0, move, 0, step, move), Pillow.Resampling.NEAREST)
    return base64.b64encode(sampled.resize((8, 8), Pillow.Resampling.BOX).tobytes()).decode()


def hash_distance(one: str, other: str) -> int:
    """Bits in which two perceptual hashes differ, 0 to 64."""
    return (int(one, 16) ^ int(other, 16)).bit_count()


def thumbnail(data: bytes, width: int = 320) -> bytes:
    """A PNG of at most `width` image px for tables; the only place where a picture is encoded by us."""
    from PIL import Image as Pillow

    picture = Pillow.fromarray(rgb(data))
    picture.thumbnail((width, width * 4))
    out = io.BytesIO()
    picture.save(out, "PNG")
    return out.getvalue()
