"""Text in pictures, where the `ocr` extra is installed: RapidOCR on ONNX Runtime, which carries its models."""

from __future__ import annotations

import functools
import importlib.util
from typing import Any


def installed() -> bool:
    """Whether pictures can be read."""
    return importlib.util.find_spec("rapidocr_onnxruntime") is not None


def read(picture: bytes) -> str:
    """The lines of text in an encoded picture, from the top down."""
    from cuadata import image

    lines, _ = _engine()(image.rgb(picture)[:, :, ::-1])  # the engine takes BGR
    return "\n".join(text for _, text, _ in lines or ())


@functools.cache
def _engine() -> Any:
    from rapidocr_onnxruntime import RapidOCR

    return RapidOCR()
