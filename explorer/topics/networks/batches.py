"""The samples and weights that both frameworks infer with, batch by batch; no framework here."""

import numpy as np

SAMPLES = np.array([[1.0, 2.0], [3.0, -2.0], [5.0, 6.0], [-1.0, 0.5], [0.25, -4.0]], np.float32)
"""Five samples: two batches of two, and one left over."""

BATCH = 2

MEAN = np.array([0.5, -1.0], np.float32)
VARIANCE = np.array([2.0, 0.25], np.float32)
"""Batch norm's running statistics, far from those of any batch."""

WEIGHT = np.array([[2.0, -3.0]], np.float32)
"""The row of the dense layer behind it."""
