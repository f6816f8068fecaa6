"""The rows of the data and of annotation: what people said and did, the pages they saw, and the verbs and sets of these
rows.

May import `models/accounts`, `models/corpus`, `models/jobs`, `models/releases` and `models/work`.
"""

from annotations.models.accounts.access import AccessAction, AccessDoor, AccessEvent, Scope, TokenGrant, TryCount
from annotations.models.accounts.idempotency import IdempotencyKey
from annotations.models.accounts.projects import Invite, Membership, Project, Role
from annotations.models.accounts.secrets import SharedSecret
from annotations.models.choices import Operation, Split
from annotations.models.corpus.conversations import Conversation, SourceTask, Step, Target, Turn
from annotations.models.corpus.datasets import Dataset, Website
from annotations.models.corpus.pages import PageDictionary, Screenshot, Snapshot
from annotations.models.corpus.rationales import Rationale
from annotations.models.corpus.source_files import SourceFile
from annotations.models.corpus.tallies import ConversationTally
from annotations.models.jobs.jobs import Job
from annotations.models.jobs.worker_leases import Leased, LeasedQuerySet, LeaseLost
from annotations.models.jobs.workers import Worker
from annotations.models.releases.releases import Redaction, Release, ReleasedConversation
from annotations.models.work.assignments import Assignment
from annotations.models.work.bulk_accepts import BulkAccept, HeldBack
from annotations.models.work.campaigns import DEFAULT_RUBRIC, Campaign, Guideline, Stage
from annotations.models.work.corrections import Correction, CorrectionRefused, TurnCorrection
from annotations.models.work.curations import Curation, CurationChoice
from annotations.models.work.disputes import Dispute
from annotations.models.work.edits import Edit, Proposal
from annotations.models.work.items import Item
from annotations.models.work.parts import Part, PartChange
from annotations.models.work.queue import NotFree, NotReady, NotYours, StaleWork, Unsure, VerdictRefused, check_sure
from annotations.models.work.remarks import BadComment, Comment, Delivery, KeyMap, Mention, Webhook
from annotations.models.work.sending_back import SentBack
from annotations.models.work.sessions import Session, SessionTask
from annotations.models.work.verdicts import Defect, Verdict

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
    "Curation",
    "CurationChoice",
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
    "Unsure",
    "Verdict",
    "VerdictRefused",
    "Webhook",
    "Website",
    "Worker",
    "check_sure",
]
