"""Lays a gradient graph out as a ladder.

The leaves and the gradients are side columns; between them are two lanes, forward and backward.
``assembly`` goes through these steps in order; each takes the records of those before it:

1. ``columns``: every node goes into one of the four columns.
2. ``placement``: Graphviz places the boxes of the forward lane.
3. ``rows``: both lanes get rows, each backward node level with its forward node.
4. ``placement``: the boxes of the backward lane get their x.
5. ``columns``: lanes and side columns get their x, and edges that pass rows a vertical way.
6. ``routing``: every edge becomes a route through rows, gaps between rows, and ways.
7. ``groups``: modules get the sides and the rows of the background behind their boxes.
8. ``assembly``: rows and gaps get their y, and with them boxes, routes and groups.
"""
