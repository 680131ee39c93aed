"""The house: floors and the arrows between them, and who may import a framework."""

import ast
import sys
from copy import deepcopy
from graphlib import TopologicalSorter

import grimp
import pytest

from explorer.shipped import PACKAGE
from tests.support.command_line import python
from tests.support.house import FLOORS, FRAMEWORKS, House, packages_imported, part_of

ROOT = PACKAGE.parent


@pytest.fixture(scope="module")
def house() -> House:
    return House.at(ROOT)


@pytest.fixture(scope="module")
def imports() -> grimp.ImportGraph:
    """Which modules of the package each imports, anywhere in its text."""
    return grimp.build_graph("explorer", cache_dir=None)


@pytest.mark.slow
def test_no_modules_import_each_other(imports: grimp.ImportGraph) -> None:
    by_module = {name: imports.find_modules_directly_imported_by(name) for name in imports.modules}
    TopologicalSorter(by_module).prepare()  # whose error names the modules of a cycle


def test_every_part_stands_on_a_floor(imports: grimp.ImportGraph) -> None:
    parts = {part_of(module) for module in imports.find_children("explorer")}
    assert parts == {part for floor in FLOORS for part in floor}


def arrows_upward(imports: grimp.ImportGraph) -> set[grimp.PackageDependency]:
    """Imports from a higher floor, or from another part on the same floor."""
    parts = deepcopy(imports)
    for imported in parts.find_modules_directly_imported_by("explorer"):
        parts.remove_import(importer="explorer", imported=imported)  # which hands on the API
    layers = [grimp.Layer(*floor, independent=True) for floor in reversed(FLOORS)]
    return parts.find_illegal_dependencies_for_layers(layers, containers={"explorer"})


@pytest.mark.slow
def test_no_arrow_goes_from_a_lower_floor_to_a_higher_one(imports: grimp.ImportGraph) -> None:
    assert arrows_upward(imports) == set()


@pytest.mark.parametrize(
    ("module", "imported"),
    [("model.graph", "text.failures"), ("web", "cli"), ("drawing", "blocks"), ("shipped", "model")],
)
def test_an_arrow_upward_is_found(module: str, imported: str, imports: grimp.ImportGraph) -> None:
    planted = deepcopy(imports)
    planted.add_import(importer=f"explorer.{module}", imported=f"explorer.{imported}")
    assert arrows_upward(planted)


JUDGING = ("answers", "comparison", "verdicts")

APART = [
    ("explorer.engines.mindspore", "explorer.engines.torch"),
    # A report words what was compared, and compares nothing.
    ("explorer.report", "explorer.compare"),
    ("explorer.report", "explorer.numeric.differences"),
    # Drawings and the app get alignments as records.
    ("explorer.drawing", "explorer.compare"),
    ("explorer.web", "explorer.compare"),
    # No face compares answers again; a pair of graphs is aligned when a page shows other stages.
    *(
        (f"explorer.{face}", f"explorer.compare.{module}")
        for face in ("api", "cli", "pair", "fuzz")
        for module in ("graphs.sameness", *(f"results.{name}" for name in JUDGING))
    ),
]


@pytest.mark.slow
@pytest.mark.parametrize(("one", "other"), APART)
def test_parts_that_know_nothing_of_each_other_are_apart(
    imports: grimp.ImportGraph, one: str, other: str
) -> None:
    for importer, imported in ((one, other), (other, one)):
        assert not imports.direct_import_exists(
            importer=importer, imported=imported, as_packages=True
        )


def test_blocks_alone_escape_the_text_of_reports_and_documents(house: House) -> None:
    found = []
    for name, tree in house.trees.items():
        if part_of(name) in ("report", "documents"):
            found += [(name, package) for package in packages_imported(tree) & {"html", "rich"}]
    assert found == []


@pytest.mark.slow
def test_only_modules_of_workers_import_a_framework(house: House) -> None:
    assert house.framework_imports() == []
    app = ast.parse((ROOT / "app.py").read_text(encoding="utf-8"))
    assert packages_imported(app).isdisjoint(FRAMEWORKS)


def test_an_import_of_a_framework_is_found_and_a_net_s_own_is_passed_over() -> None:
    planted = House(
        {
            "explorer.web.a": "def f():\n    from torch import nn\n",
            "explorer.topics.b": "def torch_net():\n    from torch import nn\n",
            "explorer.topics.in_torch_c": "import torch\n",
            "explorer.engines.torch.d": "import torch\n",
        }
    )
    assert planted.framework_imports() == [("explorer.web.a", "torch")]


@pytest.mark.slow
def test_importing_what_the_parent_s_process_runs_loads_no_framework(house: House) -> None:
    modules = [name for name in house.parent_modules() if name != "explorer.__main__"]
    code = (
        "import importlib, sys\n"
        f"for name in {modules}:\n    importlib.import_module(name)\n"
        f"print(sorted(set({sorted(FRAMEWORKS)}) & set(sys.modules)))"
    )
    assert python("-c", code).strip() == "[]"


@pytest.mark.slow
def test_workers_import_nothing_that_an_environment_with_a_framework_may_lack(house: House) -> None:
    modules = house.worker_modules()
    assert {
        "explorer.engines.torch.tape",
        "explorer.model.study",
        "explorer.workers.forking",
    } <= set(modules)
    assert house.foreign_to_workers() == []


def test_a_package_that_a_worker_would_import_is_found() -> None:
    planted = House(
        {
            "explorer.engines.torch.tape": "import torch\nfrom explorer.topics.a import f\n",
            "explorer.topics": "from explorer.topics import b\n",
            "explorer.topics.a": "def f():\n    import scipy\n",
            "explorer.topics.b": "try:\n    import psutil\nexcept ImportError:\n    import torch\n",
            "explorer.topics.c": "import rich\n",
        }
    )
    found = planted.foreign_to_workers()
    assert sorted(found) == [("explorer.topics.b", "psutil"), ("explorer.topics.b", "torch")]


@pytest.mark.whole
def test_no_module_of_the_app_has_the_name_of_one_imported_from_elsewhere(house: House) -> None:
    packages: set[str] = set(sys.stdlib_module_names)
    for tree in house.trees.values():
        packages |= packages_imported(tree)
    own = {name.removeprefix("explorer.web.") for name in house.trees if ".web." in name}
    assert own.isdisjoint(packages)
