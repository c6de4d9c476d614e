"""The one error of this package."""


class SetupError(Exception):
    """What is wrong with this machine or folder and what to do about it, on one line."""
