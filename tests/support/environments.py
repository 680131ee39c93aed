"""Real environments for tests: Pythons that see the packages of the one that the tests run in."""

import sys
import sysconfig
import venv
from pathlib import Path


def environment(folder: Path) -> Path:
    """A new environment without any package of its own; the path of its Python."""
    venv.EnvBuilder(with_pip=False, symlinks=True).create(folder)
    return folder / "bin" / "python"


def packages_of(folder: Path) -> Path:
    """The folder of an environment's own packages."""
    version = f"python{sys.version_info.major}.{sys.version_info.minor}"
    return folder / "lib" / version / "site-packages"


def lend_packages(folder: Path) -> None:
    """Let an environment import what is installed here."""
    (packages_of(folder) / "lent.pth").write_text(sysconfig.get_path("purelib") + "\n")


def say_version(folder: Path, package: str, version: str) -> None:
    """Have an environment's own folder say that it holds a version of a package."""
    own = packages_of(folder)
    for earlier in own.glob(f"{package}-*.dist-info"):
        (earlier / "METADATA").unlink()
        earlier.rmdir()
    made = own / f"{package}-{version}.dist-info"
    made.mkdir()
    (made / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: {version}\n")
