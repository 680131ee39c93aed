"""MindSpore's two engines: answers, captured graphs, code listings, and the reader of its IR."""
