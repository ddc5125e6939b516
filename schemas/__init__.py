"""JSON Schemas, printed by `cuadata schema` and held equal to the types by a test."""
