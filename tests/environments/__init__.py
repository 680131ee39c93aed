"""Environments: found, added, asked what they are, and left as they were."""
