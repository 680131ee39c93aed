"""What engines say of one net, compared: their results, and the graphs of their gradients."""
