"""Parts of code listings: how a scenario is imported, and how its inputs become tensors."""

import keyword
import re
import sys
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

INSTALLED = {"mindspore", "numpy", "torch", "explorer", "scenarios"}
"""Modules of a listing that a scenario's file of the same name must not hide."""

USED = {
    *("print", "list", "dict", "tuple", "isinstance", "enumerate", "zip", "str"),
    *("arrays", "cotangent", "ms", "net", "np", "outputs", "several", "sens", "torch", "weights"),
    *("aux", "by_name", "loss", "names", "roots", "seeds", "trained", "Any", "Callable"),
    *("contextlib", "forward", "joint", "name", "parameter", "places", "primals", "stack"),
    *("tangents", "tensors", "gradients"),
    *("jax", "jnp", "start", "held", "gradient", "gradient_of", "function", "pull", "tree", "root"),
    *("with_others", "as_function", "place"),
}
"""Names that a listing uses once its inputs have theirs."""

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
    folder = _folder(scenario.path.parent)
    if is_importable(scenario.name):
        return [
            "import sys",
            "",
            f"sys.path.insert(0, {folder!r})",
            f"from {scenario.name} import {wanted}",
        ]
    # A file that an import statement cannot name, or that another module's name hides.
    module = f"scenario_{identifier(scenario.name)}"
    members = ", ".join(f"{module}.{name}" for name in names)
    return [
        "import importlib.util",
        "import sys",
        "",
        f"sys.path.append({folder!r})",
        f"spec = importlib.util.spec_from_file_location({module!r}, {_folder(scenario.path)!r})",
        f"{module} = importlib.util.module_from_spec(spec)",
        f"sys.modules[{module!r}] = {module}",
        f"spec.loader.exec_module({module})",
        f"{wanted} = {members}",
    ]


def is_importable(name: str) -> bool:
    """Whether ``from name import …`` imports the file of this name from a folder on Python's path."""
    is_name = name.isidentifier() and not keyword.iskeyword(name)
    return is_name and name not in sys.stdlib_module_names and name not in INSTALLED


def identifier(name: str) -> str:
    """A name as Python can have one: "my-net" becomes "my_net"."""
    text = re.sub(r"\W", "_", name)
    return f"_{text}" if text[:1].isdigit() or keyword.iskeyword(text) else text


def variables(scenario: Declaration) -> dict[str, str]:
    """The variable of each input in a listing: its name, changed where Python or the code has another use."""
    taken: dict[str, str] = {}
    for name in scenario.inputs():
        variable = identifier(name) or "_"
        while variable in USED or variable in taken.values():
            variable += "_"
        taken[name] = variable
    return taken


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
    """The expression that makes each input, by its variable, where ``arrays`` are the scenario's.

    ``tensor`` is the expression for an array that stands in the place of its ``{}``. With
    ``aliased``, an array under two names becomes one tensor: the second input is the first one's
    name.
    """
    expressions: dict[str, str] = {}
    first_names: dict[int, str] = {}
    by_input = variables(scenario)
    for name, array in scenario.inputs().items():
        # The array object counts, not its values: two equal arrays are two tensors.
        first = first_names.setdefault(id(array), name)
        if aliased and first != name:
            expressions[by_input[name]] = by_input[first]
        else:
            expressions[by_input[name]] = tensor.format(f"arrays[{name!r}]")
    return expressions


def _folder(folder: Path) -> str:
    """A folder as a listing names it: relative to where it is run from, if it lies there."""
    root = FOLDER.parent
    return str(folder.relative_to(root) if folder.is_relative_to(root) else folder)
