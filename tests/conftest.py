"""What holds for every test."""

import pytest
import structlog
from hypothesis import settings

from parlour.server.logs import processors
from tests.postgres import Postgres

# No test may fail because the machine has other things to do.
settings.register_profile("patient", deadline=None)
settings.load_profile("patient")

# Log lines as the server writes them: to draw tracebacks in colour takes longer than most tests.
structlog.configure(processors=processors(terminal=False))


@pytest.fixture(scope="session")
def postgres():
    """A PostgreSQL of the tests' own."""
    server = Postgres()
    server.start()
    yield server
    server.stop()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Whatever needs a PostgreSQL needs real processes."""
    for item in items:
        if "postgres" in getattr(item, "fixturenames", ()) or "[postgresql" in item.name:
            item.add_marker(pytest.mark.e2e)
