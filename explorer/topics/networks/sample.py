"""The numbers that both frameworks' measurements on cells use."""

import numpy as np

ROWS = np.array([[1.0, 2.0], [3.0, -2.0], [5.0, 6.0]], np.float32)
MANY = np.ones((10, 10), np.float32)
