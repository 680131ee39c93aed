"""What all comparisons of graphs share: when two values are the same, and how noisy each is."""
