"""What claims and surprises advise, done: programs that follow the advice and check what comes of it."""
