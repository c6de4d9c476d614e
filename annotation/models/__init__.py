"""One module a noun. Truth is guarded by the database's constraints."""

from annotation.models.assignment import Assignment, PairSeats
from annotation.models.campaign import Campaign, Flag, Guideline
from annotation.models.check import CheckAnswer, CheckItem
from annotation.models.event import Event
from annotation.models.joining import CrowdPlace, CrowdStudy, Invite
from annotation.models.user import Acknowledgement, Membership, User

__all__ = [
    "Acknowledgement",
    "Assignment",
    "Campaign",
    "CheckAnswer",
    "CheckItem",
    "CrowdPlace",
    "CrowdStudy",
    "Event",
    "Flag",
    "Guideline",
    "Invite",
    "Membership",
    "PairSeats",
    "User",
]
