"""Bad files and bad command lines, by the thousand: `python -m tests.fuzz`."""
