"""Where a net's text is, a scenario's file or a package of nets(), and copies of it with other texts."""

import contextlib
import os
import shutil
from collections.abc import Iterator, Mapping
from functools import cached_property
from pathlib import Path
from tempfile import TemporaryDirectory

from msgspec.structs import replace

from explorer.mending.source import Source
from explorer.model.engines import Framework
from explorer.scenario.declaration import Declaration
from explorer.scenario.own_nets import sent
from explorer.scenario.reader import read

WITHOUT = shutil.ignore_patterns("__pycache__")


class Origin:
    """The files of one framework's net in a ``declaration``: those that may be written otherwise.

    They are the scenario's file, or of nets() those of the package that creates the net. Names of files
    are relative to ``folder``, as the sources of nodes have them.
    """

    def __init__(self, declaration: Declaration, framework: Framework) -> None:
        self.declaration = declaration
        self._framework = framework
        self._factory = declaration.nets[framework]
        self.folder = Path(self._factory.folder or declaration.path.parent)
        self._sources: dict[str, Source] = {}

    @cached_property
    def _code(self) -> Path:
        """The file or the folder that the net is in."""
        if not self._factory.folder:
            return self.declaration.path
        package = self.folder / self._factory.package
        return package if package.is_dir() else package.with_suffix(".py")

    def place(self, source: str) -> tuple[str, int] | None:
        """The file and the line that a source "file.py:12" names; None where the net has no such file."""
        file, _, line = source.rpartition(":")
        # Of a file that lies alone the last name is told, or its folder too.
        name = file if self._factory.folder else Path(file).name
        path = self.folder / name
        is_own = path == self._code or path.is_relative_to(self._code)
        return (name, int(line)) if is_own and line.isdigit() and path.is_file() else None

    def source(self, name: str) -> Source:
        """The text of a file; UsageError where that is no text of Python in UTF-8."""
        if name not in self._sources:
            self._sources[name] = Source.of(self.folder / name)
        return self._sources[name]

    def with_texts(self, texts: Mapping[str, str], folder: Path) -> "Origin":
        """A copy in an empty ``folder`` in which some files have other texts."""
        copied = {self._code, *(self.folder / name for name in texts)}
        for beside in self.folder.iterdir():
            if beside not in copied and beside.name != "__pycache__":
                (folder / beside.name).symlink_to(beside)
        if self._code.is_dir():
            shutil.copytree(
                self._code, folder / self._code.name, ignore=WITHOUT, copy_function=_put
            )
        for name, text in texts.items():
            (folder / name).write_bytes(text.encode())
        return Origin(self._moved(folder), self._framework)

    def _moved(self, folder: Path) -> Declaration:
        """The declaration of the same net in another folder."""
        if not self._factory.folder:
            return replace(self.declaration, file=str(folder / self._code.name))
        moved = replace(self._factory, folder=str(folder))
        nets = {**self.declaration.nets, self._framework: moved}
        place = folder.with_name(f"{folder.name}-declared")
        place.mkdir()
        return sent(replace(self.declaration, nets=nets), place)

    def read(self) -> Declaration:
        """The declaration, as the text says it."""
        return self.declaration if self._factory.folder else read(self.declaration.path)


def _put(source: str, target: str) -> None:
    """Copy a file of Python; of another one, which may be large, a link is enough."""
    if source.endswith(".py"):
        shutil.copyfile(source, target)
    else:
        os.symlink(source, target)


@contextlib.contextmanager
def folders() -> Iterator[Iterator[Path]]:
    """Empty folders, one after the other, which are removed at the end."""
    with TemporaryDirectory(prefix="explorer-mend-") as place:

        def each() -> Iterator[Path]:
            number = 0
            while True:
                number += 1
                folder = Path(os.path.realpath(place)) / str(number)
                folder.mkdir()
                yield folder

        yield each()
