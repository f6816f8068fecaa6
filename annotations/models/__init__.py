"""The rows of the data and of annotation: what people said and did, the pages they saw, and the verbs and sets of these
rows.

May import `datasets`, `hosts`, `monitor`, `storage` and `text`.
"""

from annotations.models.access import AccessAction, AccessDoor, AccessEvent, Scope, TokenGrant, TryCount
from annotations.models.assignments import Assignment
from annotations.models.bulk_accepts import BulkAccept, HeldBack
from annotations.models.campaigns import DEFAULT_RUBRIC, Campaign, Guideline, Stage
from annotations.models.choices import Operation, Split
from annotations.models.conversations import Conversation, SourceTask, Step, Target, Turn
from annotations.models.corrections import Correction, CorrectionRefused, TurnCorrection
from annotations.models.datasets import Dataset, Website
from annotations.models.disputes import Dispute
from annotations.models.edits import Edit, Proposal
from annotations.models.idempotency import IdempotencyKey
from annotations.models.items import Item
from annotations.models.jobs import Job
from annotations.models.pages import PageDictionary, Screenshot, Snapshot
from annotations.models.parts import Part, PartChange
from annotations.models.projects import Invite, Membership, Project, Role
from annotations.models.queue import NotFree, NotReady, NotYours, StaleWork, VerdictRefused
from annotations.models.rationales import Rationale
from annotations.models.releases import Redaction, Release, ReleasedConversation
from annotations.models.remarks import BadComment, Comment, Delivery, KeyMap, Mention, Webhook
from annotations.models.secrets import SharedSecret
from annotations.models.sending_back import SentBack
from annotations.models.sessions import Session, SessionTask
from annotations.models.source_files import SourceFile
from annotations.models.tallies import ConversationTally
from annotations.models.verdicts import Defect, Verdict
from annotations.models.worker_leases import Leased, LeasedQuerySet, LeaseLost
from annotations.models.workers import Worker

__all__ = [
    "DEFAULT_RUBRIC",
    "AccessAction",
    "AccessDoor",
    "AccessEvent",
    "Assignment",
    "BadComment",
    "BulkAccept",
    "Campaign",
    "Comment",
    "Conversation",
    "ConversationTally",
    "Correction",
    "CorrectionRefused",
    "Dataset",
    "Defect",
    "Delivery",
    "Dispute",
    "Edit",
    "Guideline",
    "HeldBack",
    "IdempotencyKey",
    "Invite",
    "Item",
    "Job",
    "KeyMap",
    "LeaseLost",
    "Leased",
    "LeasedQuerySet",
    "Membership",
    "Mention",
    "NotFree",
    "NotReady",
    "NotYours",
    "Operation",
    "PageDictionary",
    "Part",
    "PartChange",
    "Project",
    "Proposal",
    "Rationale",
    "Redaction",
    "Release",
    "ReleasedConversation",
    "Role",
    "Scope",
    "Screenshot",
    "SentBack",
    "Session",
    "SessionTask",
    "SharedSecret",
    "Snapshot",
    "SourceFile",
    "SourceTask",
    "Split",
    "Stage",
    "StaleWork",
    "Step",
    "Target",
    "TokenGrant",
    "TryCount",
    "Turn",
    "TurnCorrection",
    "Verdict",
    "VerdictRefused",
    "Webhook",
    "Website",
    "Worker",
]
