"""Failures made on purpose and the ways out of them, played and measured."""
