"""Nets of one's own package as a scenario: what is refused, what is written, what changes its key."""

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors.numpy import save_file

from explorer import nets
from explorer.engines.listing import scenario_import
from explorer.model.engines import Framework
from explorer.model.errors import ScenarioError, UsageError
from explorer.scenario.declaration import Factory
from explorer.scenario.find import files_read
from explorer.scenario.load import load, make_net
from explorer.scenario.own_nets import code_of, factory_of, packages_of, sent
from explorer.scenario.templates import scenario_of_factories
from tests.support.own_package import MINDSPORE, PACKAGE, RIGHT, write_package

X = np.arange(6, dtype=np.float32).reshape(2, 3)
Y = np.ones((2, 1), np.float32)


@pytest.fixture(autouse=True)
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = write_package(tmp_path / "own")
    monkeypatch.syspath_prepend(folder)
    return folder


def written(folder: Path, **given: Any) -> Path:
    folder.mkdir(exist_ok=True)
    return sent(nets(**{"mindspore": MINDSPORE, "torch": RIGHT, **given}), folder).path


def test_a_written_file_is_a_scenario_with_the_inputs_in_their_order(tmp_path: Path) -> None:
    path = written(tmp_path / "out", inputs={"y": Y, "x": X}, constants=("y",), train=True)
    scenario = load(path)
    inputs = scenario.inputs()
    assert list(inputs) == ["y", "x"]
    assert inputs["x"].dtype == np.float32
    assert np.array_equal(inputs["x"], X)
    assert scenario.constants == ("y",)
    assert scenario.train
    assert scenario.defines("mindspore")
    assert scenario.defines("torch")
    # Arrays may have any name.
    parameters = {"file": Y, "first.weight": X}
    path = written(tmp_path / "named", inputs={"file": X, "args": Y}, parameters=parameters)
    assert np.array_equal(load(path).inputs()["file"], X)
    start = load(path).parameters()
    assert start is not None
    assert np.array_equal(start["first.weight"], X)
    assert np.array_equal(start["file"], Y)


def test_one_array_under_two_names_is_one_input_to_the_nets(tmp_path: Path) -> None:
    inputs = load(written(tmp_path / "out", inputs={"a": X, "b": X, "c": X.copy()})).inputs()
    assert inputs["a"] is inputs["b"]
    assert inputs["c"] is not inputs["a"]


def test_inputs_are_read_from_npz_and_safetensors(tmp_path: Path) -> None:
    np.savez(tmp_path / "batch.npz", x=X, y=Y)
    save_file({"x": X, "y": Y}, tmp_path / "batch.safetensors")
    for name in ("batch.npz", "batch.safetensors"):
        given = nets(torch=RIGHT, inputs=tmp_path / name)
        assert set(given.inputs()) == {"x", "y"}
        assert np.array_equal(given.inputs()["x"], X)


@pytest.mark.parametrize("what", ["inputs", "parameters"])
def test_arrays_without_names_are_refused(what: str) -> None:
    given: dict[str, Any] = {"inputs": {"x": X}, what: [X, Y]}
    with pytest.raises(UsageError, match=f"{what} must be arrays by name, such as .*, got a list"):
        nets(torch=RIGHT, **given)


def test_a_file_of_pickles_is_refused_and_not_run(tmp_path: Path) -> None:
    class Trap:
        def __reduce__(self) -> tuple[Any, ...]:
            return Path.touch, (tmp_path / "sprung",)

    trapped = np.array([Trap()], dtype=object)
    np.savez(tmp_path / "batch.npz", x=trapped)
    assert pickle.dumps(trapped)
    with pytest.raises(UsageError, match="cannot be read"):
        nets(torch=RIGHT, inputs=tmp_path / "batch.npz")
    assert not (tmp_path / "sprung").exists()


def test_what_is_written_changes_with_all_that_the_nets_are_made_of(
    tmp_path: Path, package: Path
) -> None:
    def now(name: str, x: Any = X, **given: Any) -> str:
        (key,) = files_read(written(tmp_path / name, inputs={"x": x, "y": Y}, **given)).values()
        return key

    first = now("first")
    assert now("again", X.copy()) == first
    assert now("other_values", X + 1) != first
    assert now("other_shape", X.reshape(3, 2)) != first
    assert now("other_dtype", X.view(np.int32)) != first
    assert now("trained", train=True) != first
    assert now("other_start", parameters={"first.bias": Y[:, 0]}) != first
    # Other arguments are other nets, and a checkpoint counts by its content.
    sizes = [now(f"size{n}", torch_arguments={"size": n % 2}) for n in range(3)]
    assert sizes[0] == sizes[2] != sizes[1]
    contents = []
    for number, content in enumerate((b"one", b"two", b"one")):
        (tmp_path / "weights.pt").write_bytes(content)
        contents.append(now(f"content{number}", parameters=tmp_path / "weights.pt"))
    assert contents[0] == contents[2] != contents[1]
    # A file of the package that the module itself imports only through another one.
    (package / PACKAGE / "sizes.py").write_text("HIDDEN = 5\n")
    assert now("other_sizes") != first


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"torch": "", "mindspore": ""}, ["no net is given"]),
        ({"torch": "models.torch_net"}, ["'models.torch_net'", "package.module:function"]),
        ({"torch": "no_such_package.models:net"}, ["no_such_package", "path"]),
        ({"torch": "__main__:net"}, ["__main__"]),
        ({"torch": f"{RIGHT}(4"}, ["package.module:function"]),
        ({"torch": f"{RIGHT}(4)"}, ["'(4)'", "by name", "num_classes=10"]),
        ({"torch": f"{RIGHT}(a=b)"}, ["'(a=b)'", "numbers, strings"]),
        ({"torch": f"{RIGHT}(**a)"}, ["package.module:function"]),
        ({"torch_arguments": {"a": X}}, ["torch_arguments['a']"]),
        ({"torch_arguments": {"class": 1}}, ["torch_arguments", "num_classes"]),
        ({"torch_arguments": ["resnet"]}, ["torch_arguments", "num_classes"]),
        ({"torch": "", "torch_arguments": {"a": 1}}, ["torch_arguments is given without torch"]),
        ({"inputs": {"x": object()}}, ["inputs['x']", "object"]),
        ({"inputs": {"x": "text"}}, ["inputs['x']"]),
        ({"inputs": {"x": [[1.0], [1.0, 2.0]]}}, ["inputs['x']"]),
        ({"inputs": "no_such.npz"}, ["no_such.npz", "does not exist"]),
        ({"parameters": "no_such.pt"}, ["no_such.pt", "does not exist"]),
        ({"inputs": __file__}, [".npz", ".safetensors"]),
        ({"parameters": __file__}, [".npz", ".safetensors", ".ckpt", ".pt"]),
        ({"trian": True}, ["trian", "train"]),
        ({"tolerances": (X,)}, ["tolerances"]),
        ({"torch": write_package}, ["package"]),
    ],
)
def test_what_is_no_net_or_no_array_is_refused(given: dict[str, Any], words: list[str]) -> None:
    usual: dict[str, Any] = {"mindspore": "", "torch": RIGHT, "inputs": {"x": X, "y": Y}}
    with pytest.raises(UsageError) as refused:
        nets(**{**usual, **given})
    for word in words:
        assert word in str(refused.value)


def test_naming_a_net_runs_nothing_of_its_package(package: Path) -> None:
    (package / PACKAGE / "__init__.py").write_text("raise SystemExit('was run')\n")
    nets(torch=RIGHT, inputs={"x": X})


def test_the_packages_of_nets_are_found_in_a_file_and_in_what_is_sent(
    tmp_path: Path, package: Path
) -> None:
    factories: dict[Framework, Factory] = {
        "mindspore": factory_of(MINDSPORE),
        "torch": factory_of(RIGHT),
    }
    file = tmp_path / "ports.py"
    file.write_text(scenario_of_factories("ports", factories, [package], None, tmp_path))
    assert packages_of(file) == (PACKAGE,)
    assert code_of(file) == (tmp_path, package / PACKAGE)
    assert packages_of(written(tmp_path / "out", inputs={"x": X})) == (PACKAGE,)
    file.write_text(
        "def torch_net():\n    from one import net\n    from .two import net as given\n"
    )
    assert packages_of(file) == ()
    file.write_text("def torch_net(:\n")
    assert packages_of(file) == ()
    assert packages_of(tmp_path / "gone.py") == ()


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"constants": ("z",)}, "port: constants: unknown input 'z'; allowed: x, y"),
        ({"train": 1}, "port: train must be True or False, got 1"),
        ({"inputs": {}}, "port: inputs is empty; give at least one array by name"),
        ({"inputs": {"x": X.astype(np.uint16)}}, "port: input 'x' has dtype uint16; allowed: bool"),
    ],
)
def test_a_wrong_declaration_is_refused_at_once_under_the_nets_name(
    given: dict[str, Any], message: str
) -> None:
    with pytest.raises(ScenarioError) as refused:
        nets(**{"torch": RIGHT, "inputs": {"x": X, "y": Y}, "name": "port", **given})
    assert str(refused.value).startswith(message)


def test_arguments_reach_the_function_that_creates_a_net(tmp_path: Path) -> None:
    factory = "collections:OrderedDict"
    given = nets(
        mindspore=f"{factory}(a=1, b=(2, 'x'))",
        torch=factory,
        torch_arguments={"size": 10, "names": ["y"]},
        inputs={"x": X},
    )
    assert make_net(given, "mindspore") == {"a": 1, "b": (2, "x")}
    # As a worker has it, too.
    scenario = load(sent(given, tmp_path).path)
    assert make_net(scenario, "torch") == {"size": 10, "names": ["y"]}
    lines = scenario_import(scenario, ["mindspore_net", "torch_net"])
    assert "    net = given(a=1, b=(2, 'x'))" in lines
    assert "    net = given(size=10, names=['y'])" in lines


@pytest.mark.parametrize("framework", ["mindspore", "torch"])
def test_a_file_of_factories_has_their_arguments(framework: Framework, tmp_path: Path) -> None:
    factory = factory_of("json:loads(s='[1]')")
    file = tmp_path / "port.py"
    file.write_text(scenario_of_factories("port", {framework: factory}, [], None, tmp_path))
    assert "return given(s='[1]')" in file.read_text()
    assert make_net(load(file), framework) == [1]
