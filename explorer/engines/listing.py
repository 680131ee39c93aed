"""Parts of code listings: how a scenario is imported, and how its inputs become tensors."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from explorer.model.arrays import AnyArray
from explorer.model.engines import Framework
from explorer.scenario.declaration import SENT, Declaration, Factory
from explorer.scenario.find import FOLDER, module_name
from explorer.scenario.own_nets import GIVEN

COTANGENT_IMPORT = "from explorer.numeric.cotangents import cotangent"
"""The import of a listing with explicit cotangents."""


DRAWS = "# These dropout layers draw their own masks; in the report both nets have the same (SAME_DROPOUT)."
"""The remark in a listing on a net whose dropout was fixed."""


READING: dict[Framework, str] = {
    "torch": "net.load_state_dict(torch.load({file!r}, map_location='cpu', weights_only=True))",
    "mindspore": "ms.load_param_into_net(net, ms.load_checkpoint({file!r}))",
}
"""The line of a listing in which a net reads a checkpoint of its framework."""

WRITTEN_ELEMENTS = 64
"""The greatest number of elements of an array that a listing writes out."""


def gives_parameters(scenario: Declaration) -> bool:
    """Whether the scenario itself says where its nets start, so that a listing can ask it."""
    return scenario.start is not None


def scenario_import(scenario: Declaration, names: Sequence[str]) -> list[str]:
    """The lines that import ``names`` from a scenario, wherever its file lies."""
    wanted = ", ".join(names)
    if scenario.path.suffix == SENT:
        return list(_of_own_nets(scenario, names))
    shipped = module_name(scenario.path)
    if shipped:
        return [f"from {shipped} import {wanted}"]
    return [
        "import sys",
        "",
        f"sys.path.insert(0, {_folder(scenario.path.parent)!r})",
        f"from {scenario.name} import {wanted}",
    ]


def _of_own_nets(scenario: Declaration, names: Sequence[str]) -> Iterator[str]:
    """The lines that define ``names`` for nets of one's own package, which no file defines."""
    yield from ("import sys", "", "import numpy as np", "")
    folders = dict.fromkeys(factory.folder for factory in scenario.nets.values())
    for folder in folders:
        yield f"sys.path.append({folder!r})"
    for framework, factory in scenario.nets.items():
        if f"{framework}_net" in names:
            yield from _own_net(scenario, framework, factory)
    for function, arrays in (("inputs", scenario.inputs()), ("parameters", scenario.parameters())):
        if function in names and arrays is not None:
            yield from ("", "", f"def {function}():", "    return {")
            for name, array in arrays.items():
                yield f"        {name!r}: {_array(array)}"
            yield "    }"
    yield ""


def _own_net(scenario: Declaration, framework: Framework, factory: Factory) -> Iterator[str]:
    """The lines that define the function of a framework's net."""
    first, __, rest = factory.name.partition(".")
    yield f"from {factory.module} import {first} as {GIVEN}"
    yield from ("", "", f"def {framework}_net():")
    call = ".".join(filter(None, (GIVEN, rest)))
    yield f"    net = {call}({factory.written_arguments})"
    checkpoint = scenario.checkpoint
    if checkpoint and checkpoint.framework == framework:
        yield f"    {READING[framework].format(file=checkpoint.file)}"
    yield "    return net"


def _array(array: AnyArray) -> str:
    """The expression of an array, and a comma; of a large one its shape alone."""
    dtype = f"np.{array.dtype.name}"
    if array.size > WRITTEN_ELEMENTS:
        return f"np.zeros({array.shape}, {dtype}),  # replace: the array that nets() was given"
    if not array.size:
        return f"np.zeros({array.shape}, {dtype}),"
    return f"np.array({array.tolist()}, {dtype}),"


def input_expressions(scenario: Declaration, tensor: str, aliased: bool = True) -> dict[str, str]:
    """The expression that makes each input, by its name, where ``arrays`` are the scenario's.

    ``tensor`` is the expression for an array that stands in the place of its ``{}``. With
    ``aliased``, an array under two names becomes one tensor: the second input is the first one's
    name.
    """
    expressions: dict[str, str] = {}
    first_names: dict[int, str] = {}
    for name, array in scenario.inputs().items():
        # The array object counts, not its values: two equal arrays are two tensors.
        first = first_names.setdefault(id(array), name)
        if aliased and first != name:
            expressions[name] = first
        else:
            expressions[name] = tensor.format(f"arrays[{name!r}]")
    return expressions


def _folder(folder: Path) -> str:
    """A folder as a listing names it: relative to where it is run from, if it lies there."""
    root = FOLDER.parent
    return str(folder.relative_to(root) if folder.is_relative_to(root) else folder)
