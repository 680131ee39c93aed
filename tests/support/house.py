"""The layers of the code base, drawn from its imports alone."""

import ast
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

FLOORS = (
    ("shipped", "folders", "whole_files"),
    ("model",),
    ("operators",),
    ("text",),
    ("numeric",),
    ("environments",),
    ("store",),
    ("workers",),
    ("scenario",),
    ("engines",),
    ("recording",),
    ("compare",),
    ("exploration",),
    ("mending", "topics"),
    ("words",),
    ("drawing", "blocks"),
    ("sweep", "fuzz"),
    ("pair",),
    ("report",),
    ("pytest_plugin",),
    ("api",),
    ("documents",),
    ("cli", "web", "sphinx", "mkdocs"),
    ("__main__",),
)
"""The parts of the package, lowest floor first: a module imports from its own part or lower floors.

Two parts that share a floor import nothing of each other: the faces, say.
"""

FRAMEWORKS = {"mindspore", "torch", "keras", "jax"}

WORKER_MODULES = ("in_mindspore", "in_torch", "in_keras", "in_jax")
"""How modules outside engines/ begin that workers alone import."""

SERVING = (
    "explorer.workers.serving",
    "explorer.workers.forking",
    "explorer.scenario.reading",
    "explorer.topics.in_worker",
    "explorer.topics.data_parallel.processes",
)
"""The other modules that a process of a worker runs, or is started on."""

WORKERS_PACKAGES = {"numpy", "msgspec"}
"""What a worker may import beside Python's own modules, the explorer's and its framework."""

NETS = {"mindspore_net", "torch_net", "jax_net"}
"""Functions of a file that follows the scenario's contract; only workers call them."""

Arrow = tuple[str, str]
"""A module, and what it imports."""


class House:
    """Modules by name, as text; nothing of them is run."""

    def __init__(self, sources: Mapping[str, str]) -> None:
        self.trees = {name: ast.parse(source) for name, source in sources.items()}

    @classmethod
    def at(cls, root: Path) -> "House":
        """The package ``explorer`` in the folder ``root``."""
        sources = {}
        for path in sorted((root / "explorer").rglob("*.py")):
            parts = path.relative_to(root).with_suffix("").parts
            name = ".".join(parts).removesuffix(".__init__")
            sources[name] = path.read_text(encoding="utf-8")
        return cls(sources)

    def parent_modules(self) -> list[str]:
        """The modules that run in the parent's process; the others are for workers alone."""
        return [name for name in self.trees if not is_for_workers(name)]

    def worker_modules(self) -> list[str]:
        """The modules that workers load: those they are started on and run, and all these import."""
        waiting = [name for name in self.trees if is_for_workers(name) or name in SERVING]
        loaded: set[str] = set()
        while waiting:
            module = waiting.pop()
            if module in self.trees and module not in loaded:
                loaded.add(module)
                packages = module.split(".")[:-1]
                waiting += [".".join(packages[:end]) for end in range(1, len(packages) + 1)]
                waiting += self._imported_at_once(module)
        return sorted(loaded)

    def foreign_to_workers(self) -> list[Arrow]:
        """Packages that modules of workers import at once, and an environment of a user's may lack."""
        arrows = []
        for module in self.worker_modules():
            allowed = {"explorer", *WORKERS_PACKAGES, *sys.stdlib_module_names}
            if is_for_workers(module):
                allowed |= FRAMEWORKS
            for node in run_at_import(self.trees[module]):
                if isinstance(node, ast.Import | ast.ImportFrom):
                    foreign = sorted(packages_imported(node) - allowed)
                    arrows += [(module, package) for package in foreign]
        return arrows

    def _imported_at_once(self, module: str) -> Iterator[str]:
        """What a module imports while it is imported itself: modules, and perhaps names in these."""
        for node in run_at_import(self.trees[module]):
            if isinstance(node, ast.Import):
                yield from (alias.name for alias in node.names)
            elif isinstance(node, ast.ImportFrom) and node.module:
                yield node.module
                yield from (f"{node.module}.{alias.name}" for alias in node.names)

    def framework_imports(self) -> list[Arrow]:
        """Frameworks that modules import which the parent's process runs."""
        arrows = []
        for module in self.parent_modules():
            packages = packages_imported(self.trees[module]) & FRAMEWORKS
            arrows += [(module, package) for package in sorted(packages)]
        return arrows


def part_of(module: str) -> str:
    """The part of the package that a module belongs to; "explorer" is the package itself."""
    parts = module.split(".")
    return parts[1] if len(parts) > 1 else parts[0]


def is_for_workers(module: str) -> bool:
    """Whether a module may import a framework."""
    return part_of(module) == "engines" or module.split(".")[-1].startswith(WORKER_MODULES)


def run_at_import(tree: ast.AST) -> Iterator[ast.AST]:
    """The nodes that run when a module is imported: not functions' bodies, nor what only checkers read."""
    waiting = [tree]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            waiting.extend(node.orelse)
            continue
        yield node
        waiting.extend(ast.iter_child_nodes(node))


def packages_imported(tree: ast.AST) -> set[str]:
    """Packages that a tree imports anywhere, but for the functions that make a scenario's nets."""
    packages: set[str] = set()
    waiting = [tree]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.FunctionDef) and node.name in NETS:
            continue
        if isinstance(node, ast.Import):
            packages.update(alias.name.split(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            packages.add(node.module.split(".")[0])
        waiting.extend(ast.iter_child_nodes(node))
    return packages
