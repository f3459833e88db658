"""What holds for every test."""

import structlog
from hypothesis import settings

from parlour.server.logs import processors

# No test may fail because the machine has other things to do.
settings.register_profile("patient", deadline=None)
settings.load_profile("patient")

# Log lines as the server writes them: to draw tracebacks in colour takes longer than most tests.
structlog.configure(processors=processors(terminal=False))
