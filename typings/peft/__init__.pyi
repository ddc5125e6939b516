# Heavy library: its names are taken as they come, so that checking stays fast.
from typing import Any

def __getattr__(name: str) -> Any: ...
