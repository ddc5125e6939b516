"""Errors that a user can act on: what was wanted, what came, what would do."""

from __future__ import annotations


class CallError(ValueError):
    """The call is wrong: exit code 2."""

    exit_code = 2


class DataError(ValueError):
    """The data is bad: exit code 1. `place` names the recording, file or step."""

    exit_code = 1

    def __init__(self, message: str, *, place: str = "") -> None:
        super().__init__(f"{place}: {message}" if place else message)
        self.place = place


class DiskError(DataError):
    """The disk takes no more: it is full, read-only, or the file may not be written. What was written before is whole."""
