"""Row 43: the running statistics after one step of batch norm, by the share of the old ones that stays."""

from typing import Any

from tests.independent import drawn


def closed_form() -> dict[str, Any]:
    """The share of the old ones plus the rest of the batch's mean and unbiased variance."""
    batch = drawn.BATCH.astype(float)
    mean, variance = batch.mean((0, 2, 3)), batch.var((0, 2, 3), ddof=1)
    figures = {}
    for kept in (0.0, 0.1, 0.5, 0.9, 0.99, 1.0):
        means = kept * drawn.OLD_MEAN + (1 - kept) * mean
        variances = kept * drawn.OLD_VARIANCE + (1 - kept) * variance
        figures[f"keeping {kept}"] = [means.tolist(), variances.tolist()]
    return figures
