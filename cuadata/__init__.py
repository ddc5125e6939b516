"""Turns browser recordings into provably valid single-action examples, publishes them, and trains on them."""

from cuadata.types import Action, BBox, Element, Image, Observation, Point, Size, Step, Task, Trajectory

__all__ = ["Action", "BBox", "Element", "Image", "Observation", "Point", "Size", "Step", "Task", "Trajectory"]
__version__ = "0.1.0"
