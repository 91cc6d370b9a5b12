"""Foreland's engine: speculative sampling in interactive video generation. Knows nothing of Qt or keyboards."""
