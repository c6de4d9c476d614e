"""One module a noun. Truth is guarded by the database's constraints."""

from annotation.models.assignment import Assignment, PairSeats
from annotation.models.campaign import Campaign, Guideline
from annotation.models.event import Event
from annotation.models.user import Membership, User

__all__ = [
    "Assignment",
    "Campaign",
    "Event",
    "Guideline",
    "Membership",
    "PairSeats",
    "User",
]
