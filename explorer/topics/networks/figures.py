"""What is kept of layers that depend on the mode, the same for cells and for modules."""

from collections.abc import Callable
from typing import Any

from explorer.model.arrays import AnyArray


def starting_figures(layer: Any, own: Any, dropout: Any) -> dict[str, bool]:
    """Whether a framework's layer, a net of the user's own and dropout are in training mode."""
    return {"layer": layer.training, "own": own.training, "dropout": dropout.training}


def figures_by_mode(run: Callable[[bool], tuple[Any, Any, AnyArray]]) -> dict[str, Any]:
    """What ``run``, called with True in training mode and with False in inference, gives of a batch
    norm and of a dropout: what the norm returns and the mean that it remembers, in nested lists, and
    what dropout makes of ones, of which the zeros are counted and the values listed.
    """
    figures = {}
    for mode, training in (("training", True), ("inference", False)):
        normalized, running_mean, dropped = run(training)
        figures[mode] = {
            "norm": normalized,
            "running_mean": running_mean,
            "dropout_zeros": int((dropped == 0).sum()),
            "dropout_values": sorted(set(dropped.ravel().tolist())),
        }
    return figures
