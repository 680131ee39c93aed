"""Compares the gradients of one net in MindSpore and PyTorch, in tape style and in graph style."""

__version__ = "0.1.0"
