"""Ways to spoil a disk, and to mend it again."""

import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

PRELOADED = [Path("/usr/lib/fiu") / name for name in ("fiu_run_preload.so", "fiu_posix_preload.so")]
"""The libraries of libfiu, which make system calls of a process fail as told."""


@contextmanager
def small_disk(folder: Path, size: str = "4m") -> Iterator[bool]:
    """A disk of its own in this folder; False where we may not make one."""
    folder.mkdir()
    made = os.geteuid() == 0 and _run("mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(folder))
    try:
        yield made
    finally:
        if made:
            _run("umount", "--lazy", str(folder))


def make_read_only(folder: Path) -> None:
    """Nothing can be written to the small disk any more."""
    assert _run("mount", "-o", "remount,ro", str(folder))


def fill(ballast: Path) -> None:
    """Write until there is no room left."""
    with ballast.open("wb", buffering=0) as file:
        try:
            for _ in range(10_000):
                file.write(bytes(4096))
        except OSError:
            return
    raise AssertionError("forty megabytes, and still there is room")


def can_fail_calls() -> bool:
    """libfiu is installed."""
    return shutil.which("fiu-ctrl") is not None and all(path.exists() for path in PRELOADED)


def failing_calls(fifo: Path) -> dict[str, str]:
    """The environment of a process whose system calls can be made to fail."""
    return {"LD_PRELOAD": " ".join(map(str, PRELOADED)), "FIU_CTRL_FIFO": str(fifo)}


def fail_flushes(fifo: Path, pid: int) -> None:
    """From now on every flush to the disk fails with an input/output error."""
    command = "enable name=posix/io/sync/*,failinfo=5"
    assert _run("fiu-ctrl", "-f", str(fifo), "-c", command, str(pid))


def _run(*command: str) -> bool:
    return subprocess.run(command, check=False, capture_output=True, timeout=10).returncode == 0
