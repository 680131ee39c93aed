"""GradCase: one way to ask a net for a gradient, in MindSpore's terms."""

from typing import Literal, TypeAlias

import msgspec

Api = Literal["grad", "value_and_grad", "GradOperation"]
Weights = Literal["one", "all"]
Position: TypeAlias = "int | tuple[int, ...] | None"


class GradCase(msgspec.Struct, frozen=True, omit_defaults=True):
    """One way to ask for a gradient.

    ``api`` "grad" and "value_and_grad" take ``grad_position``, ``weights`` (one Parameter, all of
    them, or none) and ``has_aux``. "GradOperation" is the older form: its ``get_all``,
    ``get_by_list`` and ``sens_param`` are given, and ``grad_position`` and ``weights`` say what
    they amount to. ``order`` n > 1 nests the call n times at one int position. Source: the API
    pages of mindspore.grad, mindspore.value_and_grad and mindspore.ops.GradOperation, 2.10.
    """

    api: Api
    grad_position: int | tuple[int, ...] | None = None
    weights: Weights | None = None
    has_aux: bool = False
    order: int = 1
    get_all: bool = False
    get_by_list: bool = False
    sens_param: bool = False

    @property
    def label(self) -> str:
        """The call as a reader would write it; unique and stable."""
        if self.api == "GradOperation":
            flags = f"get_all={self.get_all}, get_by_list={self.get_by_list}, sens_param={self.sens_param}"
            return f"GradOperation({flags})(net{', weights' if self.get_by_list else ''})"
        if self.order > 1:
            opening = "grad(" * self.order
            closing = f", {self.grad_position})" * self.order
            return f"{opening}net{closing}"
        arguments = (
            f"grad_position={self.grad_position}, weights={self.weights}, has_aux={self.has_aux}"
        )
        return f"{self.api}(net, {arguments})"

    @property
    def arguments(self) -> str:
        """The arguments beside the net, without defaults: ``0, weights=all, has_aux``."""
        if self.api == "GradOperation":
            flags = ("get_all", "get_by_list", "sens_param")
            return ", ".join(flag for flag in flags if getattr(self, flag))
        parts = [str(self.grad_position)]
        if self.weights:
            parts.append(f"weights={self.weights}")
        if self.has_aux:
            parts.append("has_aux")
        return ", ".join(parts)

    @property
    def short(self) -> str:
        """The call in fewer words than its label, unique among the cases of one net."""
        return self.label if self.order > 1 else f"{self.api}({self.arguments})"

    @property
    def positions(self) -> tuple[int, ...]:
        """The inputs differentiated, as a tuple whatever the form of ``grad_position``."""
        if isinstance(self.grad_position, int):
            return (self.grad_position,)
        return self.grad_position or ()

    def weight_names(self, trainable: tuple[str, ...]) -> tuple[str, ...]:
        """The parameters differentiated, of all ``trainable`` ones: none, the first, or all."""
        counts = {None: 0, "one": 1, "all": len(trainable)}
        return trainable[: counts[self.weights]]

    @property
    def takes_ids(self) -> bool:
        """Whether ``return_ids=True`` names what it returns: a first gradient, and nothing beside it."""
        return self.api == "grad" and self.order == 1 and not self.has_aux

    @property
    def must_fail(self) -> bool:
        """True when nothing is asked for: no position and no weights."""
        return not self.positions and self.weights is None
