"""Cells that hold a gradient call: inside one the compiler keeps the net's module paths (2.10.0).

MindSpore compiles them from this source: each order is written out, so that nothing but the calls
is in the IR. Arguments are added up before they are handed on: where a call unpacks two tuples,
the compiler keeps the Cell, with all that it compiled, until the process ends (2.10.0).
"""

import inspect
from typing import Any, TypeAlias

import mindspore as ms
from mindspore import nn

from explorer.model.cases import GradCase
from explorer.model.errors import RefusedNetError

Defaults: TypeAlias = tuple[Any, ...]
"""The values of a net's parameters that a scenario gives no input for."""


class GradNet(nn.Cell):  # type: ignore[misc]  # mindspore ships no types
    """``ms.grad`` of a net, as a net."""

    def __init__(self, network: Any, case: GradCase, weights: Any, defaults: Defaults) -> None:
        super().__init__(auto_prefix=False)
        self.differentiated = network
        self.defaults = defaults
        self.position = case.grad_position
        self.weights = weights
        self.aux = case.has_aux

    def construct(self, *inputs):  # type: ignore[no-untyped-def]  # noqa: ANN201, ANN002  # compiled, which reads no annotations
        """The gradients."""
        return ms.grad(self.differentiated, self.position, self.weights, self.aux)(
            *(inputs + self.defaults)
        )


class ValueAndGradNet(GradNet):
    """``ms.value_and_grad`` of a net, as a net."""

    def construct(self, *inputs):  # type: ignore[no-untyped-def]  # noqa: ANN201, ANN002  # likewise
        """The outputs and the gradients."""
        return ms.value_and_grad(self.differentiated, self.position, self.weights, self.aux)(
            *(inputs + self.defaults)
        )


class SecondNet(GradNet):
    """``ms.grad`` nested twice, as a net."""

    def construct(self, *inputs):  # type: ignore[no-untyped-def]  # noqa: ANN201, ANN002  # likewise
        """The second derivative."""
        return ms.grad(ms.grad(self.differentiated, self.position), self.position)(
            *(inputs + self.defaults)
        )


class ThirdNet(GradNet):
    """``ms.grad`` nested three times, as a net."""

    def construct(self, *inputs):  # type: ignore[no-untyped-def]  # noqa: ANN201, ANN002  # likewise
        """The third derivative."""
        return ms.grad(
            ms.grad(ms.grad(self.differentiated, self.position), self.position), self.position
        )(*(inputs + self.defaults))


class FourthNet(GradNet):
    """``ms.grad`` nested four times, as a net."""

    def construct(self, *inputs):  # type: ignore[no-untyped-def]  # noqa: ANN201, ANN002  # likewise
        """The fourth derivative."""
        at = self.position
        return ms.grad(ms.grad(ms.grad(ms.grad(self.differentiated, at), at), at), at)(
            *(inputs + self.defaults)
        )


class FifthNet(GradNet):
    """``ms.grad`` nested five times, as a net."""

    def construct(self, *inputs):  # type: ignore[no-untyped-def]  # noqa: ANN201, ANN002  # likewise
        """The fifth derivative."""
        at = self.position
        return ms.grad(ms.grad(ms.grad(ms.grad(ms.grad(self.differentiated, at), at), at), at), at)(
            *(inputs + self.defaults)
        )


class OperationNet(nn.Cell):  # type: ignore[misc]  # likewise
    """``GradOperation`` of a net, as a net."""

    def __init__(self, network: Any, case: GradCase, defaults: Defaults) -> None:
        super().__init__(auto_prefix=False)
        self.differentiated = network
        self.defaults = defaults
        self.cotangents = int(case.sens_param)
        self.grad = ms.ops.GradOperation(case.get_all, case.get_by_list, case.sens_param)

    def construct(self, *inputs):  # type: ignore[no-untyped-def]  # noqa: ANN201, ANN002  # likewise
        """The gradients."""
        if self.cotangents:
            return self.grad(self.differentiated)(*(inputs[:-1] + self.defaults + inputs[-1:]))
        return self.grad(self.differentiated)(*(inputs + self.defaults))


class OperationByListNet(OperationNet):
    """``GradOperation`` of a net for weights, as a net."""

    def __init__(self, network: Any, case: GradCase, weights: Any, defaults: Defaults) -> None:
        super().__init__(network, case, defaults)
        self.weights = weights

    def construct(self, *inputs):  # type: ignore[no-untyped-def]  # noqa: ANN201, ANN002  # likewise
        """The gradients."""
        if self.cotangents:
            return self.grad(self.differentiated, self.weights)(
                *(inputs[:-1] + self.defaults + inputs[-1:])
            )
        return self.grad(self.differentiated, self.weights)(*(inputs + self.defaults))


BY_ORDER = (GradNet, SecondNet, ThirdNet, FourthNet, FifthNet)
"""The Cells of ``ms.grad`` by the order of the derivative, from 1."""


def defaults_of(network: Any, given: int) -> Defaults:
    """The values of a net's parameters beyond the ``given`` ones, which have defaults.

    A gradient inside of a Cell does not fill them in (2.10.0).
    """
    function = network.construct if isinstance(network, nn.Cell) else network
    values = []
    for parameter in list(inspect.signature(function).parameters.values())[given:]:
        if parameter.kind is not parameter.POSITIONAL_OR_KEYWORD:
            break
        if parameter.default is parameter.empty:
            break
        values.append(parameter.default)
    return tuple(values)


def wrapped(network: Any, case: GradCase, weights: Any, inputs: int) -> Any:
    """The Cell that computes a case of a net of so many inputs.

    Raises UsageError beyond the orders that are written down here.
    """
    defaults = defaults_of(network, inputs)
    if case.api == "GradOperation":
        if case.get_by_list:
            return OperationByListNet(network, case, weights, defaults)
        return OperationNet(network, case, defaults)
    if case.order > len(BY_ORDER):
        raise RefusedNetError("high_order", str(case.order), str(len(BY_ORDER)))
    kind = ValueAndGradNet if case.api == "value_and_grad" else BY_ORDER[case.order - 1]
    return kind(network, case, weights, defaults)
