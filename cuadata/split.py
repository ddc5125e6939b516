"""Trajectory -> what is learnt from: examples, chunks, transitions and recoveries, cut at boundaries that the evidence shows."""

from __future__ import annotations

from cuadata.chunks import chunks, transitions
from cuadata.examples import examples, history_lines
from cuadata.phases import phases
from cuadata.recoveries import recoveries

__all__ = ["chunks", "examples", "history_lines", "phases", "recoveries", "transitions"]
