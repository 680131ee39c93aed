"""Alignment of two gradient graphs: which nodes hold the same quantity, why others have no partner,
and where the graphs part.
"""

from explorer.compare.align.aligning import align
from explorer.model.alignment import Alignment, Coverage, Divergence, Pair, Reason, Unpaired

__all__ = ["Alignment", "Coverage", "Divergence", "Pair", "Reason", "Unpaired", "align"]
