"""Foreland's desktop program: the window, and the command line."""
