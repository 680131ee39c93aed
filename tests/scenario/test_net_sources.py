"""Which edits of a package make another net of a factory: those of what it reaches, and no others."""

from pathlib import Path

import pytest

from explorer.scenario.declaration import Factory
from explorer.scenario.net_sources import sources
from tests.support import tables
from tests.support.tables import rows

FILES = tables.package(__file__, "ported")


@pytest.fixture
def package(tmp_path: Path) -> Path:
    folder = tmp_path / "ported"
    for name, text in FILES.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return folder


def digests(package: Path, factory: str) -> dict[str, str]:
    module, _, name = factory.partition(":")
    return sources(Factory(f"ported.{module}", name, str(package.parent)), package)


@pytest.mark.parametrize(
    ("factory", "file", "old", "new", "is_another"),
    rows(__file__, "test_an_edit_makes_another_net_where_the_factory_reaches_it"),
)
def test_an_edit_makes_another_net_where_the_factory_reaches_it(
    package: Path, factory: str, file: str, old: str, new: str, is_another: bool
) -> None:
    before = digests(package, factory)
    path = package / file
    assert path.read_text().count(old) >= 1
    path.write_text(path.read_text().replace(old, new, 1))
    assert (digests(package, factory) != before) == is_another


def test_a_variable_of_the_environment_that_a_net_names_makes_another_net(
    package: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sizes = package / "sizes.py"
    sizes.write_text("import os\n\nLARGE = int(os.environ.get('NET_SIZE', '64'))\n")
    before = digests(package, "nets:large")
    monkeypatch.setenv("NET_OTHER", "32")
    assert digests(package, "nets:large") == before
    monkeypatch.setenv("NET_SIZE", "32")
    assert digests(package, "nets:large") != before


def test_a_module_by_itself_is_followed_like_a_package(tmp_path: Path) -> None:
    file = tmp_path / "alone.py"
    file.write_text("def one():\n    return 1\n\n\ndef two():\n    return 2\n")
    factories = [Factory("alone", name, str(tmp_path)) for name in ("one", "two")]
    one, two = (sources(factory, file) for factory in factories)
    file.write_text(file.read_text().replace("return 2", "return 3"))
    assert sources(factories[0], file) == one
    assert sources(factories[1], file) != two
