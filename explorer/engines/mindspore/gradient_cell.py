"""Cells that hold a gradient call: inside one the compiler keeps the net's module paths (2.10.0).

MindSpore compiles them from this source: each order is written out, so that nothing but the calls
stands in the IR.
"""

from typing import Any

import mindspore as ms
from mindspore import nn

from explorer.model.cases import GradCase
from explorer.model.errors import UsageError


class GradNet(nn.Cell):  # type: ignore[misc]  # mindspore ships no types
    """``ms.grad`` of a net, as a net."""

    def __init__(self, network: Any, case: GradCase, weights: Any) -> None:
        super().__init__(auto_prefix=False)
        self.network = network
        self.position = case.grad_position
        self.weights = weights
        self.aux = case.has_aux

    def construct(self, *inputs):  # type: ignore[no-untyped-def]  # noqa: ANN201, ANN002  # compiled, which reads no annotations
        """The gradients."""
        return ms.grad(self.network, self.position, self.weights, self.aux)(*inputs)


class ValueAndGradNet(GradNet):
    """``ms.value_and_grad`` of a net, as a net."""

    def construct(self, *inputs):  # type: ignore[no-untyped-def]  # noqa: ANN201, ANN002  # likewise
        """The outputs and the gradients."""
        return ms.value_and_grad(self.network, self.position, self.weights, self.aux)(*inputs)


class SecondNet(GradNet):
    """``ms.grad`` nested twice, as a net."""

    def construct(self, *inputs):  # type: ignore[no-untyped-def]  # noqa: ANN201, ANN002  # likewise
        """The second derivative."""
        return ms.grad(ms.grad(self.network, self.position), self.position)(*inputs)


class ThirdNet(GradNet):
    """``ms.grad`` nested three times, as a net."""

    def construct(self, *inputs):  # type: ignore[no-untyped-def]  # noqa: ANN201, ANN002  # likewise
        """The third derivative."""
        return ms.grad(ms.grad(ms.grad(self.network, self.position), self.position), self.position)(
            *inputs
        )


class FourthNet(GradNet):
    """``ms.grad`` nested four times, as a net."""

    def construct(self, *inputs):  # type: ignore[no-untyped-def]  # noqa: ANN201, ANN002  # likewise
        """The fourth derivative."""
        at = self.position
        return ms.grad(ms.grad(ms.grad(ms.grad(self.network, at), at), at), at)(*inputs)


class FifthNet(GradNet):
    """``ms.grad`` nested five times, as a net."""

    def construct(self, *inputs):  # type: ignore[no-untyped-def]  # noqa: ANN201, ANN002  # likewise
        """The fifth derivative."""
        at = self.position
        return ms.grad(ms.grad(ms.grad(ms.grad(ms.grad(self.network, at), at), at), at), at)(
            *inputs
        )


class OperationNet(nn.Cell):  # type: ignore[misc]  # likewise
    """``GradOperation`` of a net, as a net."""

    def __init__(self, network: Any, case: GradCase) -> None:
        super().__init__(auto_prefix=False)
        self.network = network
        self.grad = ms.ops.GradOperation(case.get_all, case.get_by_list, case.sens_param)

    def construct(self, *inputs):  # type: ignore[no-untyped-def]  # noqa: ANN201, ANN002  # likewise
        """The gradients."""
        return self.grad(self.network)(*inputs)


class OperationByListNet(OperationNet):
    """``GradOperation`` of a net for weights, as a net."""

    def __init__(self, network: Any, case: GradCase, weights: Any) -> None:
        super().__init__(network, case)
        self.weights = weights

    def construct(self, *inputs):  # type: ignore[no-untyped-def]  # noqa: ANN201, ANN002  # likewise
        """The gradients."""
        return self.grad(self.network, self.weights)(*inputs)


BY_ORDER = (GradNet, SecondNet, ThirdNet, FourthNet, FifthNet)
"""The Cells of ``ms.grad`` by the order of the derivative, from 1."""


def wrapped(network: Any, case: GradCase, weights: Any) -> Any:
    """The Cell that computes a case; UsageError beyond the orders that are written down here."""
    if case.api == "GradOperation":
        if case.get_by_list:
            return OperationByListNet(network, case, weights)
        return OperationNet(network, case)
    if case.order > len(BY_ORDER):
        raise UsageError(
            f"the graph of order {case.order} cannot be captured:"
            f" give an order from 1 to {len(BY_ORDER)}"
        )
    kind = ValueAndGradNet if case.api == "value_and_grad" else BY_ORDER[case.order - 1]
    return kind(network, case, weights)
