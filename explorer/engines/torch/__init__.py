"""The two engines of PyTorch, tape style and graph style; imported by workers only."""
