"""Trajectory -> what is learnt from: examples, chunks, transitions and recoveries, cut at boundaries that the evidence shows."""

from __future__ import annotations

from cuadata.splitting.chunks import chunks, transitions
from cuadata.splitting.examples import examples, history_lines
from cuadata.splitting.phases import phases
from cuadata.splitting.recoveries import recoveries

__all__ = ["chunks", "examples", "history_lines", "phases", "recoveries", "transitions"]
