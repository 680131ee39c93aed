"""Alignment of two gradient graphs: their pairs of nodes, and where the graphs part.

``align`` says which nodes hold the same quantity, why the others have no partner, and which is the
first divergence. Leaves and results pair by name (anchors); all other nodes by what they hold
(fingerprints), by where that comes from (provenance), or by the order of execution (order).
"""

from explorer.compare.align.alignment import align

__all__ = ["align"]
