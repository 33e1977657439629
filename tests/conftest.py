"""Settings of the whole suite."""

from hypothesis import HealthCheck, settings

# Shared machines are slow at times: an example may take as long as it likes, and generation too.
settings.register_profile("suite", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("suite")

pytest_plugins = ("support.coder", "support.shop")  # fixtures that several files have
