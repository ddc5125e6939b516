"""Imports point down, rooms do not name each other, files and functions stay small, heavy libraries load late."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
MAPPED = ("filters", "generators", "train", "schemas")
PLUG_INS = ("sources", "formats", "policies", "rewards", "commands", "viewer")
FILES = sorted(p for room in ("cuadata", "filters", "generators", "train") for p in (ROOT / room).rglob("*.py"))
#: The core: its faces are the files of `cuadata/`, its rooms the folders beside them that hold no plug-ins.
CORE = {
    ".".join(p.relative_to(ROOT / "cuadata").with_suffix("").parts): p
    for p in FILES
    if p.is_relative_to(ROOT / "cuadata") and p.stem != "__init__" and p.relative_to(ROOT).parts[1] not in PLUG_INS
}
FACES = {name for name in CORE if "." not in name}
ROOMS = {name.split(".")[0] for name in CORE if "." in name}
#: The ground floor, from the lowest up: a file may import those before it, itself a later one.
GROUND = ("types", "errors", "reasons", "rows", "contracts", "image", "schema", "registry", "geometry")
HEAVY = {"torch", "transformers", "datasets", "playwright", "skimage", "scipy", "pandas", "trl", "peft", "matplotlib"}


def imports(tree: ast.AST, *, top_only: bool = False) -> Iterator[str]:
    """Modules that a file names; `top_only` leaves out those inside functions and TYPE_CHECKING."""
    body = ast.walk(tree) if not top_only else _top(tree)
    for node in body:
        if isinstance(node, ast.Import):
            yield from (a.name for a in node.names)
        elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
            yield from (f"{node.module}.{a.name}" for a in node.names)


def _top(tree: ast.AST) -> Iterator[ast.AST]:
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            continue
        yield node
        if isinstance(node, (ast.If, ast.Try)):
            yield from _top(node)


def relative(path: Path) -> str:
    return str(path.relative_to(ROOT))


@pytest.mark.parametrize("path", FILES, ids=relative)
def test_no_file_names_a_mapped_room(path: Path) -> None:
    for name in imports(ast.parse(path.read_text())):
        parts = name.split(".")
        assert parts[0] not in MAPPED, f"{relative(path)} imports {name}: write cuadata.{name}, or ask the registry"
        assert not (parts[0] == "cuadata" and len(parts) > 1 and parts[1] in MAPPED), f"{relative(path)} imports {name}"


def core_imports(path: Path) -> set[str]:
    """Modules of the core that a file imports as it loads: `errors`, `browsing.tab`."""
    named = {name.removeprefix("cuadata.") for name in imports(ast.parse(path.read_text()), top_only=True)}
    parts = [name.split(".") for name in named]
    return {".".join(p[:2]) if p[0] in ROOMS else p[0] for p in parts if p[0] in ROOMS or p[0] in FACES}


@pytest.mark.parametrize("path", FILES, ids=relative)
def test_imports_point_down(path: Path) -> None:
    parts = path.relative_to(ROOT).parts
    named = {n.split(".")[1] for n in imports(ast.parse(path.read_text()), top_only=True) if n.startswith("cuadata.")}
    if parts[0] != "cuadata" or parts[1] in PLUG_INS:
        room = parts[1] if parts[0] == "cuadata" else parts[0]
        assert not (named & set(PLUG_INS)) - {room}, f"{relative(path)} imports another room"
    else:
        if path.stem in GROUND and len(parts) == 2:
            allowed = set(GROUND[: GROUND.index(path.stem)])
            assert named <= allowed, f"{relative(path)} may import {sorted(allowed)}"
        assert not named & set(PLUG_INS) or path.stem == "cli", f"{relative(path)} imports a plug-in"


def test_no_circle_of_imports() -> None:
    left = {name: core_imports(path) - {name} for name, path in CORE.items()}
    while free := {name for name, named in left.items() if not named & set(left)}:
        left = {name: named for name, named in left.items() if name not in free}
    assert not left, f"these import each other: {sorted(left)}"


def test_rooms_stand_on_each_other() -> None:
    """A room is one thing: no two rooms, and no room and its face, import each other."""
    left: dict[str, set[str]] = {}
    for name, path in CORE.items():
        room = name.split(".")[0]
        left.setdefault(room, set()).update({n.split(".")[0] for n in core_imports(path)} - {room})
    while free := {room for room, named in left.items() if not named & set(left)}:
        left = {room: named for room, named in left.items() if room not in free}
    assert not left, (
        f"these rooms import each other: { {room: sorted(named & set(left)) for room, named in left.items()} }"
    )


@pytest.mark.parametrize("path", FILES, ids=relative)
def test_heavy_libraries_load_late(path: Path) -> None:
    if path.is_relative_to(ROOT / "train"):
        return
    named = {n.split(".")[0] for n in imports(ast.parse(path.read_text()), top_only=True)}
    assert not named & HEAVY, f"{relative(path)} imports {named & HEAVY} at the top; import it in the function"


@pytest.mark.parametrize("path", FILES, ids=relative)
def test_files_and_functions_stay_small(path: Path) -> None:
    text = path.read_text()
    assert text.count("\n") <= 400, f"{relative(path)} has {text.count(chr(10))} lines: is it two rooms?"
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            length = (node.end_lineno or 0) - node.body[0].lineno + 1  # a signature is a list, not a path to follow
            assert length <= 60, f"{relative(path)}:{node.lineno} {node.name} has {length} lines"


def test_the_help_answers_at_once() -> None:
    code = "import sys; sys.argv = ['cuadata', '--help']; from cuadata.cli import main\ntry: main()\nexcept SystemExit: pass\n"
    code += f"bad = set(sys.modules) & {HEAVY!r}\nassert not bad, bad"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "schema" in done.stdout


def test_contributing_says_what_each_room_holds() -> None:
    table = (ROOT / "CONTRIBUTING.md").read_text()
    for room in sorted(ROOMS):
        doc = ast.get_docstring(ast.parse((ROOT / "cuadata" / room / "__init__.py").read_text()))
        assert f"| `{room}/` | {doc} |" in table
