"""Row 62: averaged SGD by its formula, and the names of MindSpore's optimizers."""

from typing import Any

from tests.independent.given_gradients import weights_after

LAMBDA, ALPHA, RATE = 1e-4, 0.75, 0.1


def closed_form() -> dict[str, Any]:
    """The weights after each of five gradients under ASGD, before any averaging."""
    return {"ASGD": weights_after(_averaged)}


def _averaged(step: int, weight: Any, gradient: Any, state: dict[str, Any]) -> Any:
    # The rate falls with the steps before this one; the common rate is taken out of it.
    fallen = (1 + LAMBDA * RATE * (step - 1)) ** -ALPHA
    return fallen * (gradient + LAMBDA * weight)


def in_mindspore_tape() -> dict[str, Any]:
    """The names that come from mindspore.nn.optim, and the optimizers of the experimental module."""
    from mindspore import nn
    from mindspore.experimental import optim

    return {
        "nn": [name for name in dir(nn) if _comes_from(getattr(nn, name), "mindspore.nn.optim")],
        "experimental": [name for name in dir(optim) if _is_optimizer(optim, name)],
        "minimum": _minimum(),
    }


def _minimum() -> list[float]:
    """Where LBFGS ends for (a − 1)² + (b − 2)²."""
    import mindspore as ms
    from mindspore.scipy.optimize import minimize

    def function(x: Any) -> Any:
        away = x - ms.Tensor([1.0, 2.0])
        return (away * away).sum()

    found: list[float] = (
        minimize(function, ms.Tensor([0.0, 0.0]), method="LBFGS").x.asnumpy().tolist()
    )
    return found


def _is_optimizer(module: Any, name: str) -> bool:
    value = getattr(module, name)
    return isinstance(value, type) and issubclass(value, module.Optimizer)


def _comes_from(value: Any, package: str) -> bool:
    return callable(value) and getattr(value, "__module__", "").startswith(package)
