"""Gradient graphs as pictures: SVG, PNG, DOT, Mermaid, and their record as JSON."""

from explorer.drawing.collapse import collapse
from explorer.drawing.formats import FORMATS, draw, pair

__all__ = ["FORMATS", "collapse", "draw", "pair"]
