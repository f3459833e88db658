"""Games to begin with: `parlour new` copies one of them under a name of the author's own."""

from parlour.templates.copying import Kind, copy_template

__all__ = ["Kind", "copy_template"]
