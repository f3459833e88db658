"""A sample of the schedules of `make simulate-cluster`, and planted faults that it must find."""

import os
import subprocess
import sys

import pytest

SAMPLE = 200
SOON = 400
"""Schedules among which a planted fault must be found."""


def simulate(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Run the command; by itself, because the order of sets must be the same in each run."""
    command = [sys.executable, "-m", "tests.simulation", "--processes", "1", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False, env={**os.environ})


def test_in_a_sample_of_schedules_all_rules_are_kept():
    came = simulate("--schedules", str(SAMPLE))
    assert came.returncode == 0, came.stdout + came.stderr
    assert f"{SAMPLE} schedules" in came.stdout


@pytest.mark.parametrize(
    "plant",
    [
        "no_fence", "ignored_gap", "late_lease", "hasty_hand_over", "repeated_commands", "told_too_early",
        "slow_clock", "unread_tickets", "relay_told_too_early", "told_again", "turns_not_told",
        "browsers_not_told", "lost_news", "lasting_links", "lasting_challenges",
        "unended_links", "paid_for_leaving",
    ],
)  # fmt: skip
def test_a_planted_fault_is_found(plant):
    came = simulate("--schedules", str(SOON), "--plant", plant)
    assert came.returncode == 1, came.stdout + came.stderr
    assert "found after" in came.stdout


def test_a_seed_is_the_same_schedule_each_time():
    once, again = simulate("--seed", "7"), simulate("--seed", "7")
    assert once.returncode == 0
    assert len(once.stdout.splitlines()) > 50
    assert once.stdout == again.stdout
