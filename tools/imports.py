"""Which files of the package a piece of Python depends on, read from its imports and from the data that they name."""

from __future__ import annotations

import ast
import hashlib
from collections.abc import Iterator
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "src" / "posenc"
SHIPPED = ROOT / "src" / "posenc_lab"  # what the distribution posenc-lab has, in its folders
# the pages bring the first two as they are now, whatever an execution held; the third is the package's page on PyPI
BY_PATH = {".js", ".css", ".md"}
Use = tuple[str, str]  # a module, and what is taken from it; "" is all of it


def _nodes(tree: ast.AST) -> Iterator[ast.AST]:
    """All nodes of a tree, but for what only a type checker imports."""
    for child in ast.iter_child_nodes(tree):
        if not (isinstance(child, ast.If) and ast.unparse(child.test) == "TYPE_CHECKING"):
            yield child
            yield from _nodes(child)


class Package:
    """The modules and data files of a package, and what depends on which."""

    def __init__(self, folder: Path = PACKAGE, shipped: Path = SHIPPED) -> None:
        self.folder = folder
        self.modules: dict[str, Path] = {}
        self.data: list[Path] = []
        for path in sorted([*folder.rglob("*"), *shipped.glob("*/*")]):
            if path.suffix == ".py":
                parts = path.relative_to(folder.parent).with_suffix("").parts
                self.modules[".".join(parts[: -1 if path.stem == "__init__" else None])] = path
            elif path.is_file() and path.suffix not in BY_PATH and path.parent.name != "__pycache__":
                self.data.append(path)
        self.digest = cache(lambda path: hashlib.sha256(path.read_bytes()).hexdigest())
        self._nodes = cache(lambda module: list(_nodes(ast.parse(self.modules[module].read_text(encoding="utf-8")))))
        self._exports = cache(self._exports_of)
        self._data = cache(lambda module: list(self._data_of(module)))
        self._uses = cache(lambda module: set(self._uses_of(self._nodes(module))))

    def _exports_of(self, package: str) -> dict[str, Use]:
        """The names that a package's `__init__` takes from its modules, at its top or when they are used."""
        exports: dict[str, Use] = {}
        for node in self._nodes(package):
            if isinstance(node, ast.ImportFrom) and node.module in self.modules:
                exports |= {alias.asname or alias.name: (node.module, alias.name) for alias in node.names}
            if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "_HOMES":
                exports |= {name: (f"{package}.{home}", name) for name, home in ast.literal_eval(node.value).items()}
        return exports

    def _uses_of(self, nodes: list[ast.AST]) -> Iterator[Use]:
        """What some code takes from the package; of a module bound to a name, only the attributes that it asks for."""
        bound: dict[str, str] = {}
        for node in nodes:
            if isinstance(node, ast.Import):
                for alias in node.names:
                    if alias.name in self.modules:
                        top = alias.name.partition(".")[0]
                        bound[alias.asname or top] = alias.name if alias.asname else top
                        if "." in alias.name and not alias.asname:  # it binds the package, and its module counts wholly
                            yield alias.name, ""
            elif isinstance(node, ast.ImportFrom) and node.module in self.modules:
                for alias in node.names:
                    module = f"{node.module}.{alias.name}"
                    if module in self.modules:
                        bound[alias.asname or alias.name] = module
                    else:
                        yield node.module, "" if alias.name == "*" else alias.name
        attributes = [node for node in nodes if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name)]
        for node in attributes:
            if node.value.id in bound:
                yield bound[node.value.id], node.attr
        through = {id(node.value) for node in attributes}
        for node in nodes:
            if isinstance(node, ast.Name) and node.id in bound and id(node) not in through:
                yield bound[node.id], ""
        for module in bound.values():
            yield module, "__name__"  # imported, if nothing else

    def _data_of(self, module: str) -> Iterator[Path]:
        """The data that a module names: by a file's name or its stem, or, but for js/, by its folder's name."""
        texts = {node.value for node in self._nodes(module) if isinstance(node, ast.Constant)}
        for path in self.data:
            names = {path.name, path.name.partition(".")[0]} | ({path.parent.name} - {"js"})
            if names & texts:
                yield path

    def files(self, source: str) -> list[Path]:
        """The files on which the result of some code depends; where it is no plain Python, all files."""
        try:
            todo = set(self._uses_of(list(_nodes(ast.parse(source)))))
        except SyntaxError:
            return sorted([*self.modules.values(), *self.data])
        seen: set[Use] = set()
        files: set[Path] = set()
        while todo - seen:
            use = (todo - seen).pop()
            seen.add(use)
            module, name = use
            parts = module.split(".")
            files |= {self.modules[".".join(parts[:end])] for end in range(1, len(parts) + 1)}
            if f"{module}.{name}" in self.modules:
                todo.add((f"{module}.{name}", ""))
            elif self.modules[module].name == "__init__.py" and name == "__name__":
                pass
            elif self.modules[module].name == "__init__.py" and name in self._exports(module):
                todo.add(self._exports(module)[name])
            else:
                todo |= self._uses(module)
                files.update(self._data(module))
        return sorted(files)
