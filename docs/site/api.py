"""Pages of the API reference, made from signatures and docstrings; the code is read, not run."""

import ast
import textwrap
from pathlib import Path

SOURCE = Path(__file__).parents[2] / "src"
MODULES = (
    "parlour",
    "parlour.scene",
    "parlour.set_up",
    "parlour.turns",
    "parlour.errors",
    "parlour.testing",
    "parlour.leakcheck",
    "parlour.sim",
)


def api_pages() -> dict[str, str]:
    """A page of Markdown for each public module, by its name."""
    return {name: page(name) for name in MODULES}


def page(module: str) -> str:
    """One module: its docstring, then everything that it offers."""
    tree = parse(module)
    parts = [f"# `{module}`", text(ast.get_docstring(tree))]
    for name, (home, node) in public(module, tree).items():
        parts += [f"## `{name}`", entry(home, node)]
    return "\n\n".join(part for part in parts if part) + "\n"


def parse(module: str) -> ast.Module:
    """The code of a module, or of a package's own file."""
    path = SOURCE.joinpath(*module.split("."))
    file = path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
    return ast.parse(file.read_text(encoding="utf-8"))


def public(module: str, tree: ast.Module) -> dict[str, tuple[ast.Module, ast.stmt]]:
    """Every public name with where it is defined: those of ``__all__``, or all without an underscore."""
    own = definitions(tree)
    if "__all__" not in own:
        return {name: (tree, node) for name, node in own.items() if not name.startswith("_")}
    return {name: find(module, name) for name in ast.literal_eval(own["__all__"].value)}  # type: ignore[attr-defined]


def find(module: str, name: str) -> tuple[ast.Module, ast.stmt]:
    """Where a name is defined, through however many modules it is imported."""
    tree = parse(module)
    own = definitions(tree)
    if name in own:
        return tree, own[name]
    imported = (node for node in tree.body if isinstance(node, ast.ImportFrom))
    home = next(node.module for node in imported if any(alias.name == name for alias in node.names))
    return find(home or module, name)


def definitions(tree: ast.Module | ast.ClassDef) -> dict[str, ast.stmt]:
    """Classes, functions and named values of a module or a class."""
    found: dict[str, ast.stmt] = {}
    for node in tree.body:
        match node:
            case (
                ast.ClassDef(name=name) | ast.FunctionDef(name=name) | ast.AnnAssign(target=ast.Name(id=name))
            ):
                found[name] = node
            case ast.Assign(targets=[ast.Name(id=name)]):
                found[name] = node
    return found


def entry(home: ast.Module | ast.ClassDef, node: ast.stmt) -> str:
    """What there is to say of one name: how it is written, and its docstring."""
    match node:
        case ast.FunctionDef():
            return f"{code(signature(node))}\n\n{text(ast.get_docstring(node))}"
        case ast.ClassDef():
            return class_entry(node)
        case _:
            return f"{code(ast.unparse(node))}\n\n{text(note_after(home, node))}"


def class_entry(node: ast.ClassDef) -> str:
    """A class: its docstring, its fields, its public methods."""
    bases = [ast.unparse(base) for base in node.bases if not ast.unparse(base).startswith("Generic")]
    parts = [code(f"class {node.name}({', '.join(bases)})" if bases else f"class {node.name}")]
    parts.append(text(ast.get_docstring(node)))
    shown = {name: part for name, part in definitions(node).items() if not name.startswith("_")}
    fields = [part for part in shown.values() if not isinstance(part, ast.FunctionDef | ast.ClassDef)]
    if fields:
        rows = [f"| {cell(f'`{ast.unparse(part)}`')} | {cell(note_after(node, part))} |" for part in fields]
        parts.append("\n".join(["| field | |", "|---|---|", *rows]))
    for name, part in shown.items():
        if isinstance(part, ast.FunctionDef):
            parts += [f"### `{node.name}.{name}`", entry(node, part)]
    return "\n\n".join(part for part in parts if part)


def signature(node: ast.FunctionDef) -> str:
    """A function as it is called: without self, and a property without parentheses."""
    arguments = ast.unparse(node.args).removeprefix("self").removeprefix(", ")
    returns = f" -> {ast.unparse(node.returns)}" if node.returns else ""
    if any(ast.unparse(one) in ("property", "cached_property") for one in node.decorator_list):
        return node.name + returns.replace(" ->", ":")
    return f"{node.name}({arguments}){returns}"


def note_after(home: ast.Module | ast.ClassDef, node: ast.stmt) -> str | None:
    """The string below a field or a value, which says what it is for."""
    following = home.body[home.body.index(node) + 1 :][:1]
    match following:
        case [ast.Expr(value=ast.Constant(value=str(note)))]:
            return textwrap.dedent(note)
    return None


def code(line: str) -> str:
    """A block of Python."""
    return f"```python\n{line}\n```"


def cell(note: str | None) -> str:
    """A note in a table: on one line, with bars that end no cell."""
    return " ".join((note or "").replace("``", "`").replace("|", "\\|").split())


def text(docstring: str | None) -> str:
    """A docstring as Markdown, with its examples as blocks of code."""
    blocks = []
    for block in (docstring or "").replace("``", "`").split("\n\n"):
        dedented = textwrap.dedent(block)
        blocks.append(f"```python\n{dedented}\n```" if dedented.startswith(">>>") else dedented)
    return "\n\n".join(blocks)
