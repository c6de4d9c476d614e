"""The local set-up: real PostgreSQL and Valkey out of wheels, the Procfile's programs, a browser.

Knows nothing of Django. ``python -m annotation.embedded`` is what the Makefile calls; the settings
ask ``urls`` for the servers that run.
"""

from annotation.embedded.state import urls

__all__ = ["urls"]
