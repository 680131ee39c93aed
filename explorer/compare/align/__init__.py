"""Alignment of two gradient graphs: which nodes hold the same quantity, why others have no partner,
and where the graphs part.
"""

from explorer.compare.align.alignment import align

__all__ = ["align"]
