"""The documents say what the code does."""

from __future__ import annotations

import pathlib
import re
import subprocess
import sys
import tomllib
from importlib import import_module
from typing import Any

import pytest

from make.command_page import PAGE, head, section, words
from surefoot.cli.main import COMMANDS
from surefoot.version import __version__

ROOT = pathlib.Path(__file__).resolve().parents[2]
EXAMPLES = sorted((ROOT / "examples").glob("[0-9][0-9]_*.py"))
DOCUMENTS = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md")])


def test_the_page_of_the_command_line_is_the_real_help() -> None:
    """All but the keys of --json, which are compared where the examples run."""
    written = PAGE.read_text(encoding="utf-8")
    without = re.sub(r"^Keys of `--json`: .*\n", "", written, flags=re.MULTILINE)
    assert words(without) == words("\n".join([head(), *map(section, COMMANDS)]))


@pytest.mark.slow
@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.name)
def test_every_example_runs(path: pathlib.Path, tmp_path: pathlib.Path) -> None:
    done = subprocess.run(
        [sys.executable, str(path)], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip()


def test_examples_are_numbered_without_a_gap() -> None:
    assert [int(path.name[:2]) for path in EXAMPLES] == list(range(1, len(EXAMPLES) + 1))
    assert len(EXAMPLES) >= 4


def test_readme_has_the_two_commands_each_on_a_line_of_its_own() -> None:
    lines = [line.strip() for line in (ROOT / "README.md").read_text(encoding="utf-8").splitlines()]
    assert "pip install . && surefoot demo" in lines
    assert "pip install '.[test]' && pytest" in lines


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.name)
def test_every_link_within_the_documents_leads_somewhere(path: pathlib.Path) -> None:
    for target in re.findall(r"\]\(([^)#]+?)(?:#[^)]*)?\)", path.read_text(encoding="utf-8")):
        if "://" not in target:
            assert (path.parent / target).exists(), f"{path.name}: {target}"


def _project() -> dict[str, Any]:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert isinstance(project, dict)
    return project


def test_readme_and_package_name_the_same_versions_of_python() -> None:
    declared = [
        row.rsplit(" ", 1)[1]
        for row in _project()["classifiers"]
        if re.fullmatch(r"Programming Language :: Python :: 3\.\d+", row)
    ]
    readme = " ".join((ROOT / "README.md").read_text(encoding="utf-8").split())
    tested = re.search(r"Tested on CPython ([\d., and]+?), with MuJoCo", readme)
    assert tested
    assert re.findall(r"3\.\d+", tested[1]) == declared
    assert _project()["requires-python"] == f">={declared[0]}"


def test_the_oldest_versions_that_are_tested_are_the_oldest_that_are_allowed() -> None:
    pinned = (ROOT / ".ci" / "oldest.txt").read_text(encoding="utf-8")
    for requirement in _project()["dependencies"]:
        name, oldest = re.match(r"([a-z]+)>=([\d.]+)", requirement).groups()  # type: ignore[union-attr]
        assert re.search(rf"^{name}=={re.escape(oldest)}(\.|$)", pinned, re.MULTILINE), name


def test_the_citation_names_this_version_and_the_four_papers() -> None:
    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert f"\nversion: {__version__}\n" in citation
    assert citation.count("\n  - type: conference-paper\n") == 4


def test_the_changelog_has_one_section_of_what_is_unreleased() -> None:
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert changelog.splitlines().count("## Unreleased") == 1


def test_every_runtime_dependency_is_argued() -> None:
    project = _project()
    argued = (ROOT / "docs" / "dependencies.md").read_text(encoding="utf-8")
    for requirement in project["dependencies"]:
        name, spec = re.fullmatch(r"([a-z]+)(.*)", requirement).groups()  # type: ignore[union-attr]
        assert f"| {name} | `{spec}` |" in argued, requirement


def test_the_architecture_names_every_room_and_module() -> None:
    text = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    source = ROOT / "src" / "surefoot"
    for path in source.rglob("*.py"):
        if path.name not in ("__init__.py", "__main__.py"):
            assert f"`{path.relative_to(source).as_posix()}`" in text, path.name


def test_every_table_of_strings_resolves() -> None:
    from surefoot.formats.registry import FORMATS
    from surefoot.samples.generator import FAMILIES

    rows = [entry.target for entry in COMMANDS.values()]
    rows += [row for table in (FORMATS, FAMILIES) for row in _targets(table)]
    assert len(rows) > len(COMMANDS) + 2
    for row in rows:
        module, _, attribute = row.partition(":")
        assert getattr(import_module(module), attribute).__doc__, row


def _targets(table: object) -> list[str]:
    """All strings of the form module:name in a table, however its rows are made."""
    return re.findall(r"surefoot(?:\.\w+)+:\w+", repr(table))
