"""The benchmark being built: pairs, votes, verdicts, releases. Knows nothing of the platform."""
