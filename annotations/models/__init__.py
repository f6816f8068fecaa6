"""What people said and did, and the pages they saw."""

from annotations.models.conversations import Conversation, Operation, Rationale, SourceTask, Split, Step, Target, Turn
from annotations.models.datasets import Dataset, Website
from annotations.models.idempotency import IdempotencyKey
from annotations.models.jobs import Job
from annotations.models.leases import Leased, LeaseLost, LeaseQuerySet
from annotations.models.pages import PageDictionary, Screenshot, Snapshot
from annotations.models.projects import Invite, Membership, Project, Role
from annotations.models.source_files import SourceFile

__all__ = [
    "Conversation",
    "Dataset",
    "IdempotencyKey",
    "Invite",
    "Job",
    "LeaseLost",
    "LeaseQuerySet",
    "Leased",
    "Membership",
    "Operation",
    "PageDictionary",
    "Project",
    "Rationale",
    "Role",
    "Screenshot",
    "Snapshot",
    "SourceFile",
    "SourceTask",
    "Split",
    "Step",
    "Target",
    "Turn",
    "Website",
]
