"""MindSpore's tape style: PYNATIVE_MODE records the forward while it runs, then walks back."""

from explorer.engines.mindspore_answer import answer
from explorer.engines.mindspore_net import describe

__all__ = ["answer", "describe"]
