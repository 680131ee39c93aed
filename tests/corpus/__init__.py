"""What the explorer recorded about every shipped scenario, as text that a change is reviewed by."""
