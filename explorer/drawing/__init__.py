"""Gradient graphs and charts as pictures: SVG, PNG, DOT and Mermaid.

``shown`` merges the nodes of modules (``collapse``), the parameters and gradients of those
(``leaf_cards``), and what a forward only moves (``state``). ``marks`` says of nodes what their
records do not: pair numbers, the first divergence. ``cards`` turns each node into the texts and the size of
its box. ``views`` lays the cards out as a picture, with ``ladder`` and ``layout``. ``formats``
writes a picture or a graph as a file. ``chart`` draws the charts of studies.
"""

from explorer.drawing.formats import FORMATS, PAIR_FORMATS, draw, pair, two
from explorer.drawing.shown import Depth, show

__all__ = ["FORMATS", "PAIR_FORMATS", "Depth", "draw", "pair", "show", "two"]
