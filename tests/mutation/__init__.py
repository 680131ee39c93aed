"""Mutation testing: small changes to the pure core, and whether a test notices each."""
