"""The page that shows the HTTP calls to people, made from the OpenAPI document."""

import json
from html import escape
from typing import Any

STYLE = """
:root { color-scheme: light dark; --paper: #F7F3EA; --ink: #1F1B16; --muted: #6A6257; --line: #DDD3C2;
        --brass: #8F6418; }
@media (prefers-color-scheme: dark) {
  :root { --paper: #171512; --ink: #EDE6D8; --muted: #A79E90; --line: #38322B; --brass: #D6A756; } }
body { background: var(--paper); color: var(--ink); font: 16px/1.5 system-ui, sans-serif; max-width: 46rem;
       margin: 0 auto; padding: 2rem 1rem 4rem; }
h1, h2 { font-family: ui-serif, Georgia, serif; font-weight: 600; line-height: 1.2; }
h2 { margin: 1.5rem 0 .25rem; font-size: 1.1rem; }
h2 code { color: var(--brass); overflow-wrap: anywhere; }
p { margin: .25rem 0; } .muted { color: var(--muted); } a { color: var(--brass); }
section { border-top: 1px solid var(--line); margin-top: 1.5rem; }
pre { overflow-x: auto; font-size: .85rem; margin: .5rem 0; }
"""


def docs_page(document: dict[str, Any]) -> str:
    """All calls on one page, with the shapes they take and give."""
    calls = "".join(
        _call(method, path, operation, document)
        for path, methods in document["paths"].items()
        for method, operation in methods.items()
    )
    return (
        "<!doctype html><html lang=en><meta charset=utf-8>"
        "<meta name=viewport content='width=device-width, initial-scale=1'>"
        f"<title>Parlour: HTTP calls</title><style>{STYLE}</style>"
        "<h1>Parlour: HTTP calls</h1><p class=muted>Who you are: "
        "<code>Authorization: Bearer &lt;token&gt;</code>, or the cookie. "
        "The same for programs: <a href=/api/openapi.json>openapi.json</a>.</p>"
        f"{calls}</html>"
    )


def _call(method: str, path: str, operation: dict[str, Any], document: dict[str, Any]) -> str:
    parts = [
        f"<section><h2><code>{method.upper()} {escape(path)}</code></h2><p>{escape(operation['summary'])}</p>"
    ]
    if "requestBody" in operation:
        parts.append(_shape("takes", operation["requestBody"], document))
    for status, response in operation["responses"].items():
        if status < "400":
            parts.append(_shape(f"gives {status}", response, document))
    refused = sorted(status for status in operation["responses"] if status >= "400")
    if refused:
        parts.append(f"<p class=muted>refuses with {', '.join(refused)}</p>")
    return "".join([*parts, "</section>"])


def _shape(title: str, part: dict[str, Any], document: dict[str, Any]) -> str:
    schema = _resolved(part["content"]["application/json"]["schema"], document)
    return f"<p class=muted>{title}</p><pre>{escape(json.dumps(schema, indent=1))}</pre>"


def _resolved(schema: Any, document: dict[str, Any]) -> Any:
    """A schema as one reads it: names and types, references followed."""
    if "$ref" in schema:
        return _resolved(document["components"]["schemas"][schema["$ref"].rpartition("/")[2]], document)
    if "properties" in schema:
        return {name: _resolved(inner, document) for name, inner in schema["properties"].items()}
    if "anyOf" in schema:
        return " or ".join(json.dumps(_resolved(inner, document)).strip('"') for inner in schema["anyOf"])
    if "items" in schema and isinstance(schema["items"], dict):
        return [_resolved(schema["items"], document)]
    return schema.get("type", "anything")
