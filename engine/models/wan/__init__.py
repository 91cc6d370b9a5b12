"""Wan models: loading, sampling after retained history, and streaming decode."""
