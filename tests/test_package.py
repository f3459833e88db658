"""What is installed by `pip install`: the package has everything that it needs."""

import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


@pytest.mark.e2e
def test_the_wheel_has_the_page_for_browsers(tmp_path):
    build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path)]
    subprocess.run(build, cwd=ROOT, check=True, capture_output=True)
    (wheel,) = tmp_path.glob("*.whl")
    names = zipfile.ZipFile(wheel).namelist()
    page = [name.removeprefix("parlour/web/") for name in names if name.startswith("parlour/web/")]
    assert {"index.html", "icon.svg"} <= set(page)
    assert {Path(name).suffix for name in page if name.startswith("assets/")} == {".css", ".js"}
