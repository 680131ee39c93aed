"""Gradient graphs as pictures: SVG, PNG, DOT, Mermaid, and their record as JSON.

collapse: a graph with its modules merged. cards: what each node's box says. views, with ladder and
layout: the picture, everything in its place. formats: a picture or a graph as a file.
"""

from explorer.drawing.collapse import collapse
from explorer.drawing.formats import FORMATS, draw, pair

__all__ = ["FORMATS", "collapse", "draw", "pair"]
