"""Text for readers: names checked, foreign text made harmless, numbers shortened."""
