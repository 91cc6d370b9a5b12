"""Trains and judges the pocket world (pocket2)."""
