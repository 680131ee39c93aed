"""MindSpore's graph style: GRAPH_MODE compiles forward and backward into one graph before it runs."""

from explorer.engines.mindspore_answer import answer
from explorer.engines.mindspore_net import describe

__all__ = ["answer", "describe"]
