"""Parts of code listings: importing a scenario, and making tensors of its inputs."""

from pathlib import Path

import pytest

from explorer.engines.listing import gives_parameters, input_expressions, scenario_import, variables
from explorer.scenario.find import find
from explorer.scenario.load import load
from tests.support.command_line import python
from tests.support.scenario_files import MINIMAL, written


def test_a_shipped_scenario_is_imported_from_its_package_and_another_from_its_folder(
    tmp_path: Path,
) -> None:
    shipped = load(find("dense_mse"))
    assert scenario_import(shipped, ["inputs", "torch_net"]) == [
        "from scenarios.dense_mse import inputs, torch_net"
    ]
    lines = scenario_import(load(written(tmp_path, MINIMAL)), ["inputs"])
    assert f"sys.path.insert(0, {str(tmp_path)!r})" in lines
    assert lines[-1] == "from given import inputs"


def test_an_array_under_two_names_is_one_tensor_unless_every_position_is_to_have_its_own() -> None:
    aliased = load(find("aliased_input"))
    tensor = "torch.tensor({})"
    assert input_expressions(aliased, tensor) == {"a": "torch.tensor(arrays['a'])", "b": "a"}
    assert input_expressions(aliased, tensor, aliased=False) == {
        "a": "torch.tensor(arrays['a'])",
        "b": "torch.tensor(arrays['b'])",
    }


def test_a_scenario_says_where_its_nets_start_or_leaves_it_to_the_net(tmp_path: Path) -> None:
    assert gives_parameters(load(find("dense_mse")))
    assert not gives_parameters(load(written(tmp_path, MINIMAL)))


@pytest.mark.slow
@pytest.mark.parametrize("name", ["my-net.py", "3d net.py", "class.py", "string.py", "a.b.py"])
def test_a_file_that_no_import_can_name_is_loaded_by_its_path(name: str, tmp_path: Path) -> None:
    scenario = load(written(tmp_path, MINIMAL, name))
    lines = scenario_import(scenario, ["inputs", "torch_net"])
    program = [*lines, "print(list(inputs()), torch_net())"]
    assert python("-c", "\n".join(program)) == "['x'] None\n"


def test_inputs_are_variables_that_python_and_the_listing_have_no_other_use_for(
    tmp_path: Path,
) -> None:
    text = MINIMAL.replace("{'x': np.ones(2, np.float32)}", "dict.fromkeys(NAMES, np.ones(2))")
    names = ["x", "input ids", "net", "class", "2d", "x_", "input_ids"]
    scenario = load(written(tmp_path, f"NAMES = {names}\n{text}"))
    assert list(variables(scenario).values()) == [
        "x",
        "input_ids",
        "net_",
        "_class",
        "_2d",
        "x_",
        "input_ids_",
    ]
    lines = [f"{name} = {value}" for name, value in input_expressions(scenario, "{}").items()]
    compile("\n".join(lines), "listing", "exec")
