"""The layers of the code base, drawn from its imports alone."""

import ast
import sys
from collections.abc import Collection, Iterator, Mapping
from functools import cached_property
from pathlib import Path
from typing import TypeGuard

FLOORS = (
    ("shipped", "folders", "whole_files"),
    ("model",),
    ("text",),
    ("numeric",),
    ("correspondence",),
    ("environments",),
    ("store",),
    ("workers",),
    ("scenario",),
    ("engines",),
    ("recording",),
    ("compare",),
    ("exploration",),
    ("topics",),
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
"""A module, and one that it imports."""


Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef


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

    @cached_property
    def imports(self) -> dict[str, set[str]]:
        """Which modules of the house each module imports, anywhere in its text."""
        return {name: set(self._imported(name)) for name in self.trees}

    def _imported(self, module: str) -> Iterator[str]:
        for node in ast.walk(self.trees[module]):
            if is_import(node):
                yield from House._names(node, self.trees)

    @staticmethod
    def _names(node: ast.Import | ast.ImportFrom, known: Collection[str]) -> Iterator[str]:
        """The ``known`` modules that a statement imports."""
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name in known)
        elif node.module:
            # "from explorer.report import json" names a module, or something of a package.
            for alias in node.names:
                submodule = f"{node.module}.{alias.name}"
                imported = submodule if submodule in known else node.module
                if imported in known:
                    yield imported

    def cycles(self) -> list[list[str]]:
        """Modules that import each other, directly or by way of others; one cycle for each knot."""
        cycles = []
        done: set[str] = set()
        for start in self.trees:
            path: list[str] = []
            waiting = [iter([start])]
            while waiting:
                module = next(waiting[-1], None)
                if module is None:
                    waiting.pop()
                    if path:
                        done.add(path.pop())
                elif module in path:
                    cycles.append(path[path.index(module) :])
                elif module not in done:
                    path.append(module)
                    waiting.append(iter(sorted(self.imports[module])))
        return cycles

    def upward_arrows(self) -> list[Arrow]:
        """Imports from a higher floor, or from another part on the same floor."""
        floors = {part: floor for floor, parts in enumerate(FLOORS) for part in parts}
        arrows = []
        for module, imported in self.arrows():
            part, other = part_of(module), part_of(imported)
            if part == other or "explorer" in (part, other):
                continue
            if floors[other] >= floors[part]:
                arrows.append((module, imported))
        return arrows

    def arrows(self) -> Iterator[Arrow]:
        """Every import of one module of the house by another."""
        for module, imported_modules in self.imports.items():
            for imported in sorted(imported_modules):
                yield module, imported

    def arrows_between(self, one: str, other: str) -> list[Arrow]:
        """Imports between two packages, in either direction."""
        arrows = []
        for module, imported in self.arrows():
            for here, there in ((one, other), (other, one)):
                if module.startswith(here) and imported.startswith(there):
                    arrows.append((module, imported))
        return arrows

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
                packages = packages_imported(node) if is_import(node) else set()
                arrows += [(module, package) for package in sorted(packages - allowed)]
        return arrows

    def _imported_at_once(self, module: str) -> Iterator[str]:
        """The modules of the house that a module imports while it is imported itself."""
        for node in run_at_import(self.trees[module]):
            if is_import(node):
                yield from House._names(node, self.trees)

    def framework_imports(self) -> list[Arrow]:
        """Frameworks that modules import which the parent's process runs."""
        arrows = []
        for module in self.parent_modules():
            packages = packages_imported(self.trees[module]) & FRAMEWORKS
            arrows += [(module, package) for package in sorted(packages)]
        return arrows

    def undocumented(self) -> list[str]:
        """Public modules, classes, methods and functions without a docstring, as "module:name"."""
        missing = []
        for module, tree in self.trees.items():
            if not ast.get_docstring(tree):
                missing.append(module)
            bare = [node.name for node in public_definitions(tree) if not ast.get_docstring(node)]
            missing += [f"{module}:{name}" for name in bare]
        return missing


def part_of(module: str) -> str:
    """The part of the package that a module belongs to; "explorer" is the package itself."""
    parts = module.split(".")
    return parts[1] if len(parts) > 1 else parts[0]


def is_for_workers(module: str) -> bool:
    """Whether a module may import a framework."""
    return part_of(module) == "engines" or module.split(".")[-1].startswith(WORKER_MODULES)


def public_definitions(tree: ast.Module | ast.ClassDef) -> Iterator[Definition]:
    """What others can call: functions and classes of a module, and the methods of such a class."""
    for node in tree.body:
        if isinstance(node, Definition) and not node.name.startswith("_"):
            yield node
            if isinstance(node, ast.ClassDef):
                yield from public_definitions(node)


def is_import(node: ast.AST) -> TypeGuard[ast.Import | ast.ImportFrom]:
    """Whether a node is a statement that imports."""
    return isinstance(node, ast.Import | ast.ImportFrom)


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
