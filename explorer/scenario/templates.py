"""Templates of scenario files: a commented net in every framework, or two existing nets."""

import os
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from string import Template

from explorer.model.engines import FRAMEWORK_LABELS, Framework
from explorer.scenario.declaration import Factory
from explorer.scenario.load import INSTALLED

HEAD = '''"""$name: a title of one line.

Notes in Markdown; the reports show them. Run it with `explorer scenario $file`.
"""

${before}import numpy as np
$after
# OUTPUTS = ("loss", "logits")  # names of the outputs
# CONSTANTS = ("y",)  # inputs that are not differentiated, such as labels and masks
# TRAIN = True  # run in training mode, which changes batch norm and dropout

'''

INPUTS = '''
def inputs():
    """The inputs by name, in the order of the nets' arguments; small arrays are easiest to read."""
    return {
        "x": np.array([[1.0, 2.0, 3.0]], np.float32),
        "y": np.array([[2.0]], np.float32),
    }

'''

PLACEHOLDERS = '''
def inputs():
    """REPLACE: the inputs of both nets by name, in the order of their arguments.

    The arrays below are placeholders; use arrays of the shapes and dtypes that your nets take.
    """
    return {
        "x": np.ones((2, 3), np.float32),  # replace
        "y": np.ones((2, 1), np.float32),  # replace or delete
    }

'''

READ_INPUTS = '''
def inputs():
    """The inputs by name, in the order of the nets' arguments."""
    with np.load($inputs) as arrays:
        return dict(arrays)

'''

PARAMETERS = '''
def parameters():
    """Initial values of both nets by PyTorch's names; by default, those of PyTorch's net."""
    return {"fc.weight": np.array([[0.5, -1.0, 2.0]], np.float32), "fc.bias": np.zeros(1, np.float32)}

'''

NETS = '''
def mindspore_net():
    """The net in MindSpore; import the framework here, not at the top of the file."""
    from mindspore import nn

    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.fc = nn.Dense(3, 1)

        def construct(self, x, y):
            return ((self.fc(x) - y) ** 2).mean()

    return Net()


def torch_net():
    """The same net in PyTorch."""
    from torch import nn

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.fc = nn.Linear(3, 1)

        def forward(self, x, y):
            return ((self.fc(x) - y) ** 2).mean()

    return Net()


def jax_net():
    """The same net in JAX, if wanted: a function of parameters, by PyTorch's names, and of inputs."""

    def net(params, x, y):
        predicted = x @ params["fc.weight"].T + params["fc.bias"]
        return ((predicted - y) ** 2).mean()

    return net
'''

OWN_NET = '''
def ${framework}_net():
    """The net in $label, from your own package."""
    from $module import $first as given

    return $call($arguments)

'''


def new_scenario(name: str) -> str:
    """A scenario of a small net, with comments on the optional names."""
    head = Template(HEAD).substitute(name=name, file=f"{name}.py", before="", after="")
    return head + INPUTS + PARAMETERS + NETS


def scenario_of_factories(
    name: str,
    factories: Mapping[Framework, Factory],
    folders: Iterable[Path],
    inputs: Path | None,
    at: Path,
) -> str:
    """A scenario of nets that exist already, whose file is to lie in the folder ``at``.

    ``factories`` create the nets, by framework; ``folders`` are those from which their packages are
    imported. ``inputs`` is the path of an .npz file, or None for arrays to be replaced.
    """
    head = Template(HEAD).substitute(
        name=name,
        file=f"{name}.py",
        before="import sys\nfrom pathlib import Path\n\n",
        after="\n" + "\n".join(_paths(folders, at)) + "\n",
    )
    read = PLACEHOLDERS
    if inputs is not None:
        read = Template(READ_INPUTS).substitute(inputs=_seen_from(at, inputs))
    parts = [head, read]
    for framework, factory in factories.items():
        first, _, rest = factory.name.partition(".")
        net = Template(OWN_NET).substitute(
            framework=framework,
            label=FRAMEWORK_LABELS[framework],
            module=factory.module,
            arguments=factory.written_arguments,
            first=first,
            call=f"given.{rest}" if rest else "given",
        )
        parts.append(net)
    return "".join(parts).rstrip("\n") + "\n"


def _paths(folders: Iterable[Path], at: Path) -> Iterator[str]:
    """The lines that let packages be imported; of those that are installed there is none to write."""
    yield "FOLDER = Path(__file__).resolve().parent"
    for folder in folders:
        if folder.name not in INSTALLED:
            yield f"sys.path.append(str({_seen_from(at, folder)}))"


def _seen_from(at: Path, path: Path) -> str:
    """An expression for a path: from the file's own folder where one lies in the other, else as it is."""
    here, there = at.resolve(), path.resolve()
    if there == here:
        return "FOLDER"
    if there.is_relative_to(here) or here.is_relative_to(there):
        return f"FOLDER / {os.path.relpath(there, here)!r}"
    return f"Path({str(there)!r})"
