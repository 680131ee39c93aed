"""The source text that a factory's net can be made of: the definitions it reaches in its package.

To reach more than the net needs costs a run; to reach less would show a stored
result of a net that has changed. So what runs on import counts in every module
that is imported, and what cannot be followed in the text makes it the whole
package.
"""

import ast
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from explorer.scenario.declaration import Factory
from explorer.scenario.find import digest_of
from explorer.text.parsing import parsed

WHOLE = "*"
"""In place of a name: every definition of a module."""

UNFOLLOWED = frozenset(
    {"getattr", "globals", "locals", "vars", "eval", "exec", "__import__", "import_module"}
)
"""Functions that find others by strings."""


class UnfollowedError(Exception):
    """Code whose definitions cannot be found in the text."""


class Import(NamedTuple):
    """What an import binds: a module, or a name of it."""

    module: str
    name: str


class Module:
    """One module: its definitions, its imports, and the statements that always run."""

    def __init__(self, path: Path, name: str) -> None:
        self.path = path
        self.name = name
        content = path.read_bytes()
        self.lines = content.decode("utf-8", "replace").splitlines()
        self.definitions: dict[str, list[ast.stmt]] = {}
        self.always: list[ast.stmt] = []
        self.imports: dict[str, Import] = {}
        for statement in parsed(content, str(path)).body:
            names = _defined(statement)
            for name in names:
                self.definitions.setdefault(name, []).append(statement)
            if not names:
                self.always.append(statement)
                for inner in ast.walk(statement):
                    self.imports.update(self.bound_by(inner))

    @property
    def has_star(self) -> bool:
        """Whether a name may come from another module without being named here."""
        return WHOLE in self.imports

    def bound_by(self, statement: ast.AST) -> dict[str, Import]:
        """What an import statement binds, by the names that it gives them."""
        bound = {}
        if isinstance(statement, ast.Import):
            for alias in statement.names:
                # "import a.b" binds a, through which all of a.b is reached.
                bound[alias.asname or alias.name.partition(".")[0]] = Import(alias.name, WHOLE)
        elif isinstance(statement, ast.ImportFrom):
            module = self._absolute(statement)
            for alias in statement.names:
                bound[alias.asname or alias.name] = Import(module, alias.name)
        return bound

    def _absolute(self, statement: ast.ImportFrom) -> str:
        if not statement.level:
            return statement.module or ""
        parts = self.name.split(".")
        if self.path.name == "__init__.py":
            parts.append("")
        parts = parts[: len(parts) - statement.level]
        return ".".join([*parts, *filter(None, [statement.module])])

    def bound_always(self) -> set[str]:
        """The names that the statements which always run define, among others."""
        names = set()
        for statement in self.always:
            for inner in ast.walk(statement):
                if isinstance(inner, ast.Name) and isinstance(inner.ctx, ast.Store):
                    names.add(inner.id)
                elif isinstance(inner, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                    names.add(inner.name)
        return names

    def text_of(self, statement: ast.stmt) -> str:
        """The lines of a statement, behind the line number, which reports show, where it defines."""
        decorators: list[ast.expr] = getattr(statement, "decorator_list", [])
        start = min([statement.lineno, *(decorator.lineno for decorator in decorators)])
        lines = self.lines[start - 1 : statement.end_lineno]
        if isinstance(statement, ast.Import | ast.ImportFrom | ast.Expr):
            start = 0
        return "\n".join([f"{start}:", *lines])


def _defined(statement: ast.stmt) -> list[str]:
    """The names that a statement defines, if it does nothing else: no decorator, and no call."""
    if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return [] if statement.decorator_list else [statement.name]
    if isinstance(statement, ast.Assign):
        targets = statement.targets
    elif isinstance(statement, ast.AnnAssign):
        targets = [statement.target]
    else:
        return []
    if any(isinstance(inner, ast.Call) for inner in ast.walk(statement)):
        return []
    names = [target.id for target in targets if isinstance(target, ast.Name)]
    return names if len(names) == len(targets) else []


class Reach:
    """The definitions that a factory reaches in the modules of its top-level package."""

    def __init__(self, factory: Factory) -> None:
        self._folder = Path(factory.folder)
        self._package = factory.package
        self._modules: dict[str, Module | None] = {}
        self._reached: dict[str, dict[int, ast.stmt]] = {}
        self._waiting = [(factory.module, factory.name.partition(".")[0])]
        self._seen: set[tuple[str, str]] = set()

    def sources(self) -> dict[str, str]:
        """A digest of what is reached, by file; raises UnfollowedError."""
        while self._waiting:
            module, name = self._waiting.pop()
            if (module, name) not in self._seen:
                self._seen.add((module, name))
                self._follow(module, name)
        digests = {}
        for name, statements in self._reached.items():
            module_of = self._modules[name]
            assert module_of is not None
            texts = [module_of.text_of(statements[line]) for line in sorted(statements)]
            digests[str(module_of.path.relative_to(self._folder))] = _digest("\n".join(texts))
        return digests

    def _follow(self, module_name: str, name: str) -> None:
        module = self._module(module_name)
        if module is None:
            raise UnfollowedError(module_name)
        # Importing a module runs the packages that it is in.
        parent = module_name.rpartition(".")[0]
        if parent:
            self._waiting.append((parent, ""))
        if module_name not in self._reached:
            self._import(module)
        if name and module.has_star:
            raise UnfollowedError(module_name)
        if name == WHOLE:
            for statements in module.definitions.values():
                self._include(module, statements)
            for bound in module.imports.values():
                self._wait_for(bound)
        elif name in module.definitions:
            self._include(module, module.definitions[name])
        elif module.imports.get(name, Import(module_name, name)) != (module_name, name):
            self._wait_for(module.imports[name])
        elif name and name not in module.bound_always():
            self._wait_for_submodule(f"{module_name}.{name}")

    def _import(self, module: Module) -> None:
        """Reach what runs when a module is imported."""
        self._reached[module.name] = {}
        self._include(module, module.always)
        for bound in module.imports.values():
            self._wait_for(Import(bound.module, ""))
            self._wait_for_module(f"{bound.module}.{bound.name}", "")

    def _include(self, module: Module, statements: Iterable[ast.stmt]) -> None:
        """Add statements to what is reached, and what they name."""
        reached = self._reached[module.name]
        for statement in statements:
            if statement.lineno in reached:
                continue
            reached[statement.lineno] = statement
            for inner in ast.walk(statement):
                name = _used(inner)
                if name in UNFOLLOWED:
                    raise UnfollowedError(name)
                if name in module.definitions or name in module.imports:
                    self._waiting.append((module.name, name))
                if statement not in module.always:
                    for bound in module.bound_by(inner).values():
                        self._wait_for(bound)

    def _wait_for_submodule(self, module: str) -> None:
        """Follow all of a module whose package names it; raises UnfollowedError if there is none."""
        if not self._wait_for_module(module, WHOLE):
            raise UnfollowedError(module)

    def _wait_for_module(self, module: str, name: str) -> bool:
        """Follow a name of what may be a module of the package; whether it is one."""
        if not self._is_ours(module) or self._module(module) is None:
            return False
        self._waiting.append((module, name))
        return True

    def _wait_for(self, bound: Import) -> None:
        if self._is_ours(bound.module):
            self._waiting.append((bound.module, bound.name))

    def _is_ours(self, module: str) -> bool:
        return module.partition(".")[0] == self._package

    def _module(self, name: str) -> Module | None:
        if name not in self._modules:
            self._modules[name] = self._read(name)
        return self._modules[name]

    def _read(self, name: str) -> Module | None:
        place = self._folder.joinpath(*name.split("."))
        for path in (place / "__init__.py", place.with_suffix(".py")):
            if path.is_file():
                return Module(path, name)
        return None


def _used(node: ast.AST) -> str:
    """The name that a node of the tree uses, or calls as an attribute; "" for other nodes."""
    if isinstance(node, ast.Name):
        return node.id
    return node.attr if isinstance(node, ast.Attribute) and node.attr in UNFOLLOWED else ""


def sources(factory: Factory, code: Path) -> dict[str, str]:
    """The digests of the source text that a factory's net can be made of, by file.

    ``code`` is its top-level package, or single module, which counts whole if it cannot be followed.
    """
    try:
        return Reach(factory).sources()
    except (UnfollowedError, SyntaxError, ValueError, OSError, RecursionError):
        pass
    files = sorted(code.rglob("*.py")) if code.is_dir() else [code]
    digests = {}
    for path in files:
        digests[str(path.relative_to(factory.folder))] = _digest(path.read_bytes())
    return digests


def _digest(content: str | bytes) -> str:
    return digest_of(content.encode() if isinstance(content, str) else content)
