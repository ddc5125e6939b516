"""Pictures as arrays: whatever a picture comes as, once decoded, and remembered by its bytes."""

from __future__ import annotations

import hashlib
import io
import zlib
from collections import OrderedDict
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any, TypeAlias

from cuadata import image as images
from cuadata.types import Image

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

#: What `load` takes: encoded bytes, a described picture, a file, or an array of (height, width[, channels]).
Picture: TypeAlias = "bytes | Image | Path | NDArray[Any]"

#: Decoded pictures are kept up to this many bytes, the least used dropped first: 12 pictures of 1280x720.
CACHE_BYTES = 32_000_000

_cache: OrderedDict[str, Any] = OrderedDict()
_lock = Lock()


def encoded(picture: Picture) -> bytes | None:
    """The encoded bytes of a picture; None for an array. Raises BadImage or OSError."""
    if isinstance(picture, bytes):
        return picture
    if isinstance(picture, Image):
        return images.read(picture)
    if isinstance(picture, Path):
        return picture.read_bytes()
    return None


def load(picture: Picture) -> NDArray[np.uint8]:
    """Decode to (height, width, 3) uint8 as a person sees it; a read-only array. Raises BadImage, OSError, TypeError."""
    data = encoded(picture)
    if data is None:
        return from_array(picture)
    key = hashlib.sha256(data).hexdigest()
    with _lock:
        held = _cache.get(key)
        if held is not None:
            _cache.move_to_end(key)
            return held  # type: ignore[no-any-return]
    pixels = images.rgb(data)
    pixels.flags.writeable = False
    with _lock:
        _cache[key] = pixels
        while sum(kept.nbytes for kept in _cache.values()) > CACHE_BYTES and len(_cache) > 1:
            _cache.popitem(last=False)
    return pixels


def forget() -> None:
    """Drop the decoded pictures."""
    with _lock:
        _cache.clear()


def from_array(pixels: Any) -> NDArray[np.uint8]:
    """An array of any common kind as (height, width, 3) uint8.

    Grey (height, width), with one, two (grey, alpha), three or four channels (alpha over white); bool, uint8, uint16
    (65535 is white), or float (0 to 1, or 0 to 255 where a value exceeds 1). Raises BadImage for other shapes and for
    numbers that are not finite, TypeError for what is no array.
    """
    import numpy as np

    if not isinstance(pixels, np.ndarray):
        raise TypeError(f"wanted a picture as bytes, Image, Path or array, got {type(pixels).__name__}")
    if pixels.ndim not in (2, 3) or 0 in pixels.shape or (pixels.ndim == 3 and pixels.shape[2] > 4):
        raise images.BadImage(f"an array of shape {pixels.shape} is no picture; wanted (height, width[, 1 to 4])")
    levels = _levels(pixels)
    if levels.ndim == 2:
        levels = levels[:, :, None]
    if levels.shape[2] in (2, 4):
        alpha = levels[:, :, -1:].astype(np.float64) / 255
        levels = np.round(levels[:, :, :-1] * alpha + 255 * (1 - alpha)).astype(np.uint8)
    if levels.shape[2] == 1:
        levels = np.repeat(levels, 3, axis=2)
    return np.ascontiguousarray(levels)


def _levels(pixels: NDArray[Any]) -> NDArray[np.uint8]:
    import numpy as np

    if pixels.dtype == np.uint8:
        return pixels
    if pixels.dtype == np.bool_:
        return pixels.astype(np.uint8) * 255
    if not np.isfinite(pixels).all():
        raise images.BadImage("the array holds numbers that are not finite")
    if pixels.dtype == np.uint16:
        return (pixels // 257).astype(np.uint8)
    if np.issubdtype(pixels.dtype, np.floating) and pixels.max() <= 1:
        pixels = pixels * 255
    return np.clip(np.round(pixels), 0, 255).astype(np.uint8)


def lossy(data: bytes | None) -> bool:
    """Whether encoded bytes are of a lossy codec, JPEG or lossy WebP, whose noise is no change of the page."""
    if not data:
        return False
    return is_jpeg(data) or (data[:4] == b"RIFF" and b"VP8 " in data[8:64])


def is_jpeg(data: bytes) -> bool:
    """Whether encoded bytes are a JPEG."""
    return data[:3] == b"\xff\xd8\xff"


def like_jpeg(pixels: NDArray[np.uint8], model: bytes) -> NDArray[np.uint8]:
    """A picture after the loss of a JPEG's own tables and chroma sampling, so that the two can be compared fairly.

    Where the model cannot be asked, the picture comes back as it was.
    """
    import numpy as np
    from PIL import Image as Pillow
    from PIL import JpegImagePlugin

    try:
        with Pillow.open(io.BytesIO(model)) as opened:
            tables = getattr(opened, "quantization", None)
            sampling = JpegImagePlugin.get_sampling(opened)
        if not tables or sampling < 0:
            return pixels
        out = io.BytesIO()
        Pillow.fromarray(pixels).save(out, "JPEG", qtables=tables, subsampling=sampling)
        with Pillow.open(out) as again:
            return np.asarray(again.convert("RGB"))
    except (OSError, ValueError, SyntaxError):
        return pixels


def check_png(data: bytes) -> None:
    """Walk a PNG's chunks and their checksums without decoding it; other formats pass. Raises BadImage."""
    if data[:8] != b"\x89PNG\r\n\x1a\n":
        return
    place = 8
    while place + 12 <= len(data):
        length = int.from_bytes(data[place : place + 4], "big")
        end = place + 12 + length
        if end > len(data):
            break
        if zlib.crc32(data[place + 4 : end - 4]) != int.from_bytes(data[end - 4 : end], "big"):
            raise images.BadImage(f"the PNG's chunk at byte {place} does not fit its checksum")
        if data[place + 4 : place + 8] == b"IEND":
            return
        place = end
    raise images.BadImage(f"the PNG of {len(data)} bytes is cut off")
