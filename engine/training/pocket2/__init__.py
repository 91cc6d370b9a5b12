"""Trains and judges the second make of the pocket world."""
