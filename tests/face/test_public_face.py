"""The public face: one table, `__all__` and the typed imports say the same."""

from __future__ import annotations

import ast
import doctest
import inspect
import pathlib
import pkgutil
import subprocess
import sys
import tomllib
from importlib import import_module

import pytest

import surefoot

ROOT = pathlib.Path(__file__).resolve().parents[2]
SOURCE = pathlib.Path(surefoot.__file__).parent


def _modules() -> list[str]:
    found = pkgutil.walk_packages([str(SOURCE)], "surefoot.")
    return sorted(module.name for module in found if not module.name.endswith("__main__"))


def _typed_imports() -> dict[str, str]:
    tree = ast.parse((SOURCE / "__init__.py").read_text(encoding="utf-8"))
    return {
        alias.name: str(node.module)
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and str(node.module).startswith("surefoot.")
        for alias in node.names
        if alias.name != "__version__"
    }


def test_table_all_and_typed_imports_are_equal() -> None:
    table = surefoot._FACE
    assert sorted(surefoot.__all__) == list(surefoot.__all__)
    assert set(table) == set(surefoot.__all__)
    assert _typed_imports() == table


@pytest.mark.parametrize("name", surefoot.__all__)
def test_every_public_name_resolves_and_is_documented(name: str) -> None:
    value = getattr(surefoot, name)
    assert value.__module__.startswith("surefoot.")
    assert inspect.getdoc(value)


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="has no attribute 'simulat'"):
        surefoot.simulat  # noqa: B018  # looking it up is the test


def test_no_room_bears_the_name_of_a_public_function() -> None:
    rooms = {path.stem for path in SOURCE.iterdir() if not path.name.startswith("_")}
    assert rooms.isdisjoint(surefoot.__all__)


def test_importing_surefoot_loads_nothing_heavy() -> None:
    code = (
        "import sys, surefoot\n"
        "print([m for m in ('numpy', 'mujoco', 'numba', 'tyro', 'scipy') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_top_level_help_loads_nothing_heavy() -> None:
    code = (
        "import sys\nfrom surefoot.cli.main import run\nrun(['--help'])\n"
        "print([m for m in ('numpy', 'mujoco', 'numba', 'tyro', 'rich') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip().splitlines()[-1] == "[]"


@pytest.mark.parametrize("name", _modules())
def test_every_public_function_is_annotated_and_documented(name: str) -> None:
    tree = ast.parse(pathlib.Path(str(import_module(name).__file__)).read_text(encoding="utf-8"))
    assert ast.get_docstring(tree), f"{name} has no docstring"
    kernel = name.startswith("surefoot.kernels.")
    for node in ast.walk(tree):
        if not isinstance(node, ast.FunctionDef) or node.name.startswith("_"):
            continue
        assert ast.get_docstring(node) or _is_nested(tree, node), (
            f"{name}.{node.name}: no docstring"
        )
        if kernel:  # numba's functions take plain arrays and numbers: docstrings give the shapes
            continue
        given = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
        bare = [a.arg for a in given if a.annotation is None and a.arg not in ("self", "cls")]
        assert not bare, f"{name}.{node.name}: {bare} without a type"
        assert node.returns is not None, f"{name}.{node.name}: no return type"


def _is_nested(tree: ast.Module, function: ast.FunctionDef) -> bool:
    return any(
        function in ast.walk(outer) and outer is not function
        for outer in ast.walk(tree)
        if isinstance(outer, ast.FunctionDef)
    )


def test_shape_checks_cover_every_room_but_the_kernels() -> None:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]
    (option,) = [
        o
        for o in settings["pytest"]["ini_options"]["addopts"]
        if o.startswith("--jaxtyping-packages=")
    ]
    hooked = {p for p in option.partition("=")[2].split(",") if p.startswith("surefoot")}
    rooms = {f"surefoot.{p.stem}" for p in SOURCE.iterdir() if p.suffix == ".py" or p.is_dir()}
    rooms = {room for room in rooms if "__" not in room}
    assert hooked == rooms - {"surefoot.kernels"}


MAX_LINES = 500  # of a module, by the house style


@pytest.mark.parametrize("folder", ["src", "tests", "examples", "benchmarks"])
def test_no_module_is_longer_than_the_house_style_allows(folder: str) -> None:
    long = {
        str(path.relative_to(ROOT)): lines
        for path in (ROOT / folder).rglob("*.py")
        if (lines := path.read_text(encoding="utf-8").count("\n")) >= MAX_LINES
    }
    assert not long


def test_layers_name_every_room() -> None:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]
    layers = settings["importlinter"]["contracts"][0]
    assert layers["type"] == "layers"
    assert layers["exhaustive"] is True
    named = {n.strip(" ()") for row in layers["layers"] for n in row.split("|")}
    rooms = {p.stem for p in SOURCE.iterdir() if p.suffix == ".py" or (p / "__init__.py").exists()}
    assert rooms - {"__init__"} <= named
    assert not [c for c in settings["importlinter"]["contracts"] if "ignore_imports" in c]


@pytest.mark.slow
@pytest.mark.parametrize("name", ["load_robot", "read", "report", "retarget", "write"])
def test_every_public_verb_ends_with_an_example_that_runs(
    name: str, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    verb = getattr(surefoot, name)
    (found,) = doctest.DocTestFinder(recurse=False).find(
        verb, name, globs=dict(vars(import_module(verb.__module__)))
    )
    assert found.examples
    assert doctest.DocTestRunner().run(found).failed == 0
