"""Mistakes that migrations make, planted in the nets of ``scenarios/real`` one at a time."""
