"""The house: floors and the arrows between them, who may import a framework, and what is documented."""

import ast
import subprocess
import sys

import pytest

from explorer.shipped import PACKAGE
from tests.support.house import FLOORS, FRAMEWORKS, House, packages_imported, part_of

ROOT = PACKAGE.parent


@pytest.fixture(scope="module")
def house() -> House:
    return House.at(ROOT)


@pytest.mark.slow
def test_no_modules_import_each_other(house: House) -> None:
    assert house.cycles() == []


def test_a_cycle_is_found() -> None:
    planted = House(
        {
            "explorer.text.a": "from explorer.text import b",
            "explorer.text.b": "def f():\n    from explorer.text.c import g\n",
            "explorer.text.c": "import explorer.text.a\n",
            "explorer.text.d": "from explorer.text.a import x\n",
        }
    )
    (cycle,) = planted.cycles()
    assert set(cycle) == {"explorer.text.a", "explorer.text.b", "explorer.text.c"}


def test_every_part_stands_on_a_floor(house: House) -> None:
    parts = {part_of(module) for module in house.trees}
    assert parts == {"explorer", *(part for floor in FLOORS for part in floor)}


@pytest.mark.slow
def test_no_arrow_goes_from_a_lower_floor_to_a_higher_one(house: House) -> None:
    assert house.upward_arrows() == []


@pytest.mark.parametrize(
    ("module", "imported"),
    [
        ("explorer.model.a", "explorer.text.b"),
        ("explorer.workers.a", "explorer.scenario.b"),
        ("explorer.drawing.a", "explorer.report.b"),
        ("explorer.web.a", "explorer.cli.b"),
        ("explorer.words.a", "explorer.drawing.b"),
        ("explorer.topics.a", "explorer.drawing.b"),
        ("explorer.shipped", "explorer.model.b"),
    ],
)
def test_an_arrow_upward_is_found(module: str, imported: str) -> None:
    planted = House({module: f"def f():\n    from {imported} import x\n", imported: ""})
    assert planted.upward_arrows() == [(module, imported)]
    downward = House({imported: f"from {module} import x\n", module: ""})
    assert downward.upward_arrows() == [] or module.split(".")[1] in ("web", "words")


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
        for module in ("answers", "noise", "results", "verdicts")
    ),
]


@pytest.mark.slow
@pytest.mark.parametrize(("one", "other"), APART)
def test_parts_that_know_nothing_of_each_other_are_apart(
    house: House, one: str, other: str
) -> None:
    assert house.arrows_between(one, other) == []
    for planted, imported in ((one, other), (other, one)):
        between = House({f"{planted}.a": f"from {imported}.b import x\n", f"{imported}.b": ""})
        assert between.arrows_between(one, other) == [(f"{planted}.a", f"{imported}.b")]


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
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[]"


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


def test_whatever_is_public_has_a_docstring(house: House) -> None:
    assert house.undocumented() == []


def test_a_missing_docstring_is_found() -> None:
    planted = House(
        {
            "explorer.text.a": '"""A."""\nclass B:\n    def c(self): ...\n    def _d(self): ...\n',
            "explorer.text.e": "",
        }
    )
    assert planted.undocumented() == ["explorer.text.a:B", "explorer.text.a:c", "explorer.text.e"]


@pytest.mark.whole
def test_no_module_of_the_app_has_the_name_of_one_imported_from_elsewhere(house: House) -> None:
    packages: set[str] = set(sys.stdlib_module_names)
    for tree in house.trees.values():
        packages |= packages_imported(tree)
    own = {name.removeprefix("explorer.web.") for name in house.trees if ".web." in name}
    assert own.isdisjoint(packages)
