"""Row 39: indexing by what is known only when the program runs."""

from typing import Any


def in_mindspore_graph() -> dict[str, Any]:
    """The gradient through each, or the class of the error."""

    def by_tensor(x: Any, i: Any) -> Any:
        return x[i]

    def slice_by_tensor(x: Any, i: Any) -> Any:
        return x[i:].sum()

    def by_mask(x: Any, i: Any) -> Any:
        return x[x > i].sum()

    def loop_to_tensor(x: Any, i: Any) -> Any:
        total = x.sum() * 0
        for k in range(i):
            total = total + x[k]
        return total

    def loop_while(x: Any, i: Any) -> Any:
        total = x.sum() * 0
        while i > 0:
            i = i - 1
            total = total + x[i]
        return total

    def of_a_list(x: Any, i: Any) -> Any:
        several = [x, x + x, x + x + x]
        return several[i].sum()

    programs = (by_tensor, slice_by_tensor, by_mask, loop_while, loop_to_tensor, of_a_list)
    return {program.__name__: _gradient(program) for program in programs}


def _gradient(program: Any) -> Any:
    import mindspore as ms

    try:
        return ms.grad(program)(ms.Tensor([1.0, 2.0, 3.0]), ms.Tensor(1)).asnumpy().tolist()
    except Exception as error:  # which class it is, is the question
        return type(error).__name__
