"""The pocket world, second make: ground latents in, pictures out."""
