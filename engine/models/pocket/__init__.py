"""The pocket world: a small model, trained by this project on a world that this project renders."""
