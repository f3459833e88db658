"""Think, write, speak: the operating system saw the disk flushed before anything was told, or did not."""

import re
import shutil
import subprocess
from contextlib import contextmanager

import pytest

from tests.e2e.lines import Lines

pytestmark = pytest.mark.e2e

CALLS = "trace=fdatasync,fsync,pwrite64,write,writev,sendto,sendmsg"
UNFINISHED = re.compile(r"^(\d+) +(\w+)\((.*) <unfinished \.\.\.>$")
RESUMED = re.compile(r"^(\d+) +<\.\.\. (\w+) resumed>(.*)$")


@contextmanager
def traced(server, file):
    """Write down the system calls of a running server."""
    assert shutil.which("strace"), "expected strace; scripts/setup-faults installs it"
    command = ["strace", "-f", "-yy", "-s", "65536", "-e", CALLS, "-o", str(file), "-p", str(server.pid)]
    with subprocess.Popen(command, text=True, stderr=subprocess.PIPE) as strace:
        assert strace.stderr is not None
        lines = Lines(strace.stderr)
        try:
            lines.wait(lambda said: [line for line in said if "attached" in line] or None, "strace to attach")
            yield
        finally:
            strace.terminate()
            strace.wait(10)
            lines.end()


def begun_and_done(file):
    """The calls as ("begin" or "end", name, text), in the order in which they were seen."""
    waiting = {}
    for line in file.read_text(errors="replace").splitlines():
        if found := UNFINISHED.match(line):
            thread, name, text = found.groups()
            waiting[thread] = text
            yield "begin", name, text
        elif found := RESUMED.match(line):
            thread, name, text = found.groups()
            yield "end", name, waiting.pop(thread, "") + text
        elif found := re.match(r"^\d+ +(\w+)\((.*)$", line):
            name, text = found.groups()
            yield "begin", name, text
            yield "end", name, text


def story(file, word):
    """What happened to a word, in a few words: written to the log, flushed, told to a client."""
    told = []
    for moment, name, text in begun_and_done(file):
        if name == "pwrite64" and "-wal" in text and word in text and moment == "end":
            told.append("written")
        elif name in ("fdatasync", "fsync") and "-wal" in text and moment == "end" and "= 0" in text:
            told.append("flushed")
        elif "TCP" in text and word in text and moment == "begin":
            told.append("told")
    return told


def say_words(server, knock, words):
    """Chat over a real socket; each word is answered before the next is said."""
    room = server.open_room()["id"]
    ann = knock(server, server.guest("Ann").token)
    assert ann.join(room).status == "ok"
    for word in words:
        assert ann.ask(f"game:{room}", "chat", {"text": word}).status == "ok"


WORDS = [f"saying-{number}-" for number in range(10)]


def test_with_durability_disk_the_log_is_flushed_before_anybody_is_told(fail, knock, tmp_path):
    server = fail("--durability", "disk")
    trace = tmp_path / "trace"
    with traced(server, trace):
        say_words(server, knock, WORDS)
    for word in WORDS:
        happened = story(trace, word)
        first = happened.index("written")
        assert "flushed" in happened[first : happened.index("told")], (word, happened)
        assert "told" not in happened[:first]


def test_with_durability_process_nothing_waits_for_the_disk(fail, knock, tmp_path):
    server = fail("--durability", "process")
    trace = tmp_path / "trace"
    with traced(server, trace):
        say_words(server, knock, WORDS)
    for word in WORDS:
        happened = story(trace, word)
        assert "flushed" not in happened, (word, happened)
        assert happened.index("written") < happened.index("told")
