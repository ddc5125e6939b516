"""Scripts of other tools, played and recorded step by step."""
