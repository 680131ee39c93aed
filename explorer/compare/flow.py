"""What reads what in a gradient graph, by the names that the modules of causes use."""

from explorer.compare.graphs.view import MOVES, RESHAPES, GraphView, Shape

Flow = GraphView

__all__ = ["MOVES", "RESHAPES", "Flow", "Shape"]
