"""What to run where a package is missing: the extra of the explorer that brings it."""

import re
import sys

from explorer.model.errors import MissingFrameworkError
from explorer.shipped import requirements_file
from explorer.text.language import _
from explorer.text.program_name import program

DISTRIBUTION = "autodiff-explorer"
"""The explorer's name in pip."""

EXTRAS = {
    "mindspore": "mindspore",
    "torch": "torch",
    "jax": "jax",
    "keras": "keras",
    "scipy": "keras",
    "streamlit": "app",
    "pygraphviz": "pictures",
    "resvg_py": "pictures",
    "font_roboto": "pictures",
    "vl_convert": "pictures",
    "distributed": "cluster",
}
"""The packages that only some need, by the names that they are imported by, and the extra with each."""

PIN = re.compile(
    r"(?P<pin>(?P<name>[\w.-]+)==[\w.]+)"
    r"(?:\s*;\s*python_version\s*(?P<sign>>=|<)\s*[\"'](?P<version>[\d.]+)[\"'])?"
    r"(?:\s*#.*)?"
)
"""A line of requirements.txt, and the versions of Python that it is for.

A test sees that every line reads like this.
"""


def remedy(package: str) -> str:
    """The pip line that brings ``package``, by its name in pip or in Python.

    In a checkout it names the version that the explorer is tried with there.
    """
    pin = pins().get(package.replace("_", "-"))
    extra = EXTRAS.get(package)
    if pin or not extra:
        return f'python -m pip install "{pin or package}"'
    return f'python -m pip install "{DISTRIBUTION}[{extra}]"'


def framework_remedy(framework: str) -> str:
    """What to run where a framework is missing: installed here, or in an environment of its own."""
    text = _("{command}, or `{program} env add NAME PYTHON` for a Python that has it")
    return text.format(command=remedy(framework), program=program())


def missing(package: str, need: str) -> MissingFrameworkError:
    """The error where ``need``, a text of the catalogue, lacks an optional package."""
    text = _("{need} needs {package}, which is not installed; run {command}")
    return MissingFrameworkError(text, need=need, package=package, command=remedy(package))


def pins(python: tuple[int, ...] = sys.version_info[:2]) -> dict[str, str]:
    """The pins of a checkout for a version of Python: "mindspore" gives "mindspore==2.10.0"."""
    file = requirements_file()
    pinned: dict[str, str] = {}
    for line in file.read_text(encoding="utf-8").splitlines() if file else ():
        # Where a version dropped a Python, two lines pin one package, each for some Pythons.
        match = PIN.fullmatch(line)
        if match and _is_for(python, match["sign"], match["version"]):
            pinned[match["name"]] = match["pin"]
    return pinned


def _is_for(python: tuple[int, ...], sign: str | None, version: str | None) -> bool:
    if sign is None or version is None:
        return True
    bound = tuple(int(part) for part in version.split("."))
    return python >= bound if sign == ">=" else python < bound
