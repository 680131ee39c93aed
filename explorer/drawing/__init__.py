"""Gradient graphs and charts as pictures: SVG, PNG, DOT and Mermaid.

``collapse`` merges the nodes of modules. ``cards`` turns each node into the texts and the size of
its box. ``views`` lays the cards out as a picture, with ``ladder`` and ``layout``. ``formats``
writes a picture or a graph as a file. ``chart`` draws the charts of studies.
"""

from explorer.drawing.collapse import collapse
from explorer.drawing.formats import FORMATS, draw, pair

__all__ = ["FORMATS", "collapse", "draw", "pair"]
