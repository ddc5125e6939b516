"""What two pictures and two states say of an action. `cuadata.effects` is its face."""
