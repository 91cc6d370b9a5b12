"""Processes start as in the tests of ranks."""

from tests.engine.distributed.conftest import quick_starts

__all__ = ["quick_starts"]
