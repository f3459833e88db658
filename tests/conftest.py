"""What holds for every test."""

from hypothesis import settings

# No test may fail because the machine has other things to do.
settings.register_profile("patient", deadline=None)
settings.load_profile("patient")
