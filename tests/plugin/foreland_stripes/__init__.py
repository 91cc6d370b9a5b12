"""A plug-in of Foreland: stripes that the keys move."""
