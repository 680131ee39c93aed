"""Row 39: indexing by what is known only when the program runs."""

from typing import Any

from tests.independent.attempts import attempt


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


def in_mindspore() -> dict[str, Any]:
    """Value and gradient of each; what it raises in graph style, under ms.jit and by grad."""
    import mindspore as ms

    x, at = ms.Tensor([1.0, 2.0, 3.0]), ms.Tensor(1)
    is_graph = ms.get_context("mode") == ms.GRAPH_MODE

    def numbers_of(function: Any) -> Any:
        return function(x, at).asnumpy().tolist()

    figures = {}
    for function in (
        by_tensor,
        slice_by_tensor,
        by_mask,
        write_by_tensor,
        write_by_mask,
        list_by_tensor,
        reshape_by_tensor,
        while_below_tensor,
        loop_to_tensor,
    ):
        figures[function.__name__] = {
            "value": attempt(numbers_of, ms.jit(function) if is_graph else function),
            "gradient": attempt(numbers_of, ms.grad(function)),
        }
    return {"both": figures}


def by_tensor(x: Any, at: Any) -> Any:
    """One element."""
    return x[at]


def slice_by_tensor(x: Any, at: Any) -> Any:
    """The elements from one on."""
    return x[at:]


def by_mask(x: Any, at: Any) -> Any:
    """The elements above 1."""
    return x[x > 1]


def write_by_tensor(x: Any, at: Any) -> Any:
    """The squares, one of them 0."""
    kept = x * 1
    kept[at] = 0.0
    return kept * kept


def write_by_mask(x: Any, at: Any) -> Any:
    """The squares, 0 above 1."""
    kept = x * 1
    kept[x > 1] = 0.0
    return kept * kept


def list_by_tensor(x: Any, at: Any) -> Any:
    """One result of three."""
    return [x * 1, x * 2, x * 3][at]


def reshape_by_tensor(x: Any, at: Any) -> Any:
    """The squares, in rows."""
    return x.reshape(at, -1) ** 2


def while_below_tensor(x: Any, at: Any) -> Any:
    """The sum of the first elements."""
    total, index = x.sum() * 0, at * 0
    while index < at:
        total = total + x[index]
        index = index + 1
    return total


def loop_to_tensor(x: Any, at: Any) -> Any:
    """The same by range."""
    total = x.sum() * 0
    for index in range(at):
        total = total + x[index]
    return total


def in_mindspore_tape() -> dict[str, Any]:
    """How many graphs are compiled for three lengths, by what the length is declared to."""
    import mindspore as ms

    ms.set_context(mode=ms.GRAPH_MODE)
    try:
        return {"compilations": _compilations()}
    finally:
        ms.set_context(mode=ms.PYNATIVE_MODE)


def _compilations() -> dict[str, int]:
    import mindspore as ms
    from mindspore import nn
    from mindspore.graph import api

    class Squares(nn.Cell):  # type: ignore[misc]  # mindspore ships no types
        def construct(self, x: Any) -> Any:
            return (x * x).sum()

    class Gradient(nn.Cell):  # type: ignore[misc]  # mindspore ships no types
        def __init__(self) -> None:
            super().__init__()
            self.net = Squares()

        def construct(self, x: Any) -> Any:
            return ms.grad(self.net)(x)

    def compiled(function: Any) -> int:
        before = len(api.ms_compile_cache)
        for length in (2, 3, 4, 4):
            function(ms.ops.ones(length, ms.float32))
        if isinstance(function, nn.Cell):
            return len(function.compile_cache)
        return len(api.ms_compile_cache) - before

    def declared(cell: Any) -> Any:
        cell.set_inputs(ms.Tensor(shape=[None], dtype=ms.float32))
        return cell

    return {
        "fixed": compiled(Squares()),
        "dynamic": compiled(declared(Squares())),
        "gradient": compiled(ms.grad(declared(Squares()))),
        "gradient_in_a_cell": compiled(declared(Gradient())),
    }
