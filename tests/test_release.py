"""The checklist of a release, walked through in a repository of its own."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
TODAY = "2030-02-03"
FILES = {
    "src/parlour/__init__.py": '__version__ = "1.2.3"\n',
    "CHANGELOG.md": f"# Changelog\n\n## 1.2.3, {TODAY}\n\n- More.\n\n## 1.2.2, 2029-12-31\n",
    "README.md": "# Parlour\n",
    "Makefile": "check:\n\t@false\n",
}


class Repository:
    """A repository from which 1.2.3 can be released, as far as the list asks."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.git("init", "--quiet", "--initial-branch", "main")
        (folder / "scripts").mkdir()
        shutil.copy(ROOT / "scripts" / "release", folder / "scripts")
        for name, text in FILES.items():
            self.write(name, text)
        self.commit()

    def write(self, name: str, text: str) -> None:
        (self.folder / name).parent.mkdir(parents=True, exist_ok=True)
        (self.folder / name).write_text(text)

    def git(self, *words: str) -> None:
        who = ("-c", "user.name=Ann", "-c", "user.email=ann@example.invalid")
        subprocess.run(["git", *who, *words], cwd=self.folder, check=True, capture_output=True)

    def commit(self) -> None:
        self.git("add", "--all")
        self.git("commit", "--quiet", "--message", "So it is now")

    def release(self, *options: str) -> tuple[int, str]:
        """The exit code, and what is said."""
        done = subprocess.run(
            ["scripts/release", *options], cwd=self.folder, check=False, env={**os.environ, "TODAY": TODAY},
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        )  # fmt: skip
        return done.returncode, done.stdout


@pytest.fixture
def repository(tmp_path):
    return Repository(tmp_path)


def test_a_dry_run_says_what_is_done_and_what_would_follow_and_changes_nothing(repository):
    code, said = repository.release("--dry-run")
    assert code == 0
    assert said.count("release: yes: ") == 6
    assert "make check, make dist and an install of the wheel without Node.js would follow" in said
    repository.git("diff", "--exit-code")
    assert not (repository.folder / "dist").exists()


def tag(repository):
    repository.git("tag", "v1.2.3")


def change(name, text):
    def make(repository):
        repository.write(name, text)
        repository.commit()

    return make


@pytest.mark.parametrize(
    ("fault", "sentence"),
    [
        (lambda repository: repository.write("nim.py", ""), "everything is committed"),
        (lambda repository: repository.git("checkout", "-q", "-b", "more"), "this is the branch main"),
        (tag, "there is no tag v1.2.3 yet"),
        (change("src/parlour/__init__.py", '__version__ = "1.2.4"\n'), 'with "## 1.2.4, 2030-02-03"'),
        (change("src/parlour/__init__.py", '__version__ = "1.2.dev"\n'), "the version is three numbers"),
        (change("CHANGELOG.md", "## 1.2.3, unreleased\n"), '"## 1.2.3, 2030-02-03": ## 1.2.3, unreleased'),
        (change("CHANGELOG.md", "# Changelog\n"), "the changelog begins with"),
        (change("README.md", "Parlour is not published yet.\n"), "the README does not say"),
    ],
)
def test_a_point_that_is_not_done_is_named_and_nothing_follows(repository, fault, sentence):
    fault(repository)
    code, said = repository.release()
    (missing, *_) = [
        line for line in said.splitlines() if line.startswith("release: NO: ") and sentence in line
    ]
    assert code == 1
    assert said.splitlines()[-1].startswith("release: fix what says NO")
    assert "make check" not in said


def test_a_release_ends_where_a_check_fails(repository):
    code, said = repository.release()
    assert code != 0
    assert "release: make check" in said.splitlines()
    assert "What a person does now" not in said


def test_an_option_that_is_not_known_is_refused_with_a_sentence(repository):
    assert repository.release("--now") == (2, "release: expected nothing or --dry-run, got --now\n")


def test_the_version_of_today_is_the_one_that_the_changelog_begins_with():
    version = (ROOT / "src" / "parlour" / "__init__.py").read_text().partition('__version__ = "')[2]
    changelog = (ROOT / "CHANGELOG.md").read_text().partition("\n## ")[2]
    assert changelog.startswith(version.partition('"')[0] + ", ")
