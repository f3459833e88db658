"""All targets; importing them is what names them."""

import fuzz.doors
import fuzz.readers
import fuzz.rules
import fuzz.xsos  # noqa: F401
from fuzz.target import TARGETS

__all__ = ["TARGETS"]
