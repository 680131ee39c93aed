"""The engines: MindSpore and PyTorch, each as a tape and as a graph, and an oracle beside them."""
