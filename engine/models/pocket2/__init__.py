"""The pocket world (pocket2): ground latents in, pictures out."""
