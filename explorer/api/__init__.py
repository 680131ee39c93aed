"""The Python API: the shell commands as functions, whose results display in a notebook.

No framework is imported in the caller's process: the nets run in workers.
"""

from explorer.api.asking import claims, diff, explore, graph, nets, study
from explorer.api.results import Claims, Difference, Exploration, Picture, Study
from explorer.api.same import assert_same_gradients

__all__ = [
    "Claims",
    "Difference",
    "Exploration",
    "Picture",
    "Study",
    "assert_same_gradients",
    "claims",
    "diff",
    "explore",
    "graph",
    "nets",
    "study",
]
