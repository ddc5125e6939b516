"""Who acts: an oracle, chance, a model. One file a policy."""
