"""Programs that find the figures of claims and studies without the explorer, and what they agree with."""
