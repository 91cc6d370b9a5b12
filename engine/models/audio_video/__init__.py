"""Models that make picture and sound together, call by call: MiniMax-H3 and LTX-2.3."""
