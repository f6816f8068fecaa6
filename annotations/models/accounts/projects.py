"""Projects, who belongs to them in which role, and one-time links into them."""

import hashlib
import re
import secrets
from datetime import timedelta
from typing import Any, Self

from django.conf import settings
from django.contrib.auth.models import AnonymousUser
from django.contrib.auth.models import User as Account
from django.core.exceptions import PermissionDenied
from django.db import models
from django.db.models import Exists, OuterRef, Q
from django.utils import timezone

User = Account | AnonymousUser
NAMED = re.compile(r"(?<![\w@.+-])@([\w@.+-]+)")


class Role(models.TextChoices):
    """The roles of members, those who may do most first. Each may do what the next ones may, but annotators do not
    review."""

    ADMIN = "admin", "admin"
    ANNOTATOR = "annotator", "annotator"
    REVIEWER = "reviewer", "reviewer"
    READER = "reader", "reader"


# What a role may do besides reading; superusers may do everything everywhere. The kinds of jobs are abilities too.
ABILITIES: dict[str, frozenset[str]] = {
    Role.ADMIN: frozenset(
        {
            *("import", "export", "train", "embed", "induce", "refine", "propose", "release", "sample", "goals"),
            *("transition", "risks", "judge", "explain", "evaluate", "review", "annotate", "manage"),
        }
    ),
    Role.REVIEWER: frozenset({"export", "risks", "review"}),
    Role.ANNOTATOR: frozenset({"annotate", "propose"}),
    Role.READER: frozenset(),
}


# What may be done, where the name of an ability is no verb that says it
ABILITY_WORDS = {
    "embed": "embed memory",
    "explain": "have failures explained",
    "goals": "add goals",
    "induce": "induce workflows",
    "judge": "let judges look at runs",
    "refine": "ask for rationales",
    "risks": "look for risky steps",
    "sample": "load the sample",
    "transition": "keep transitions",
}


class ProjectQuerySet(models.QuerySet["Project"]):
    def named(self, slug: str) -> "Project":
        """The project of that slug; of "" the first, which is made where there is none. ValueError for no project."""
        found = self.filter(slug=slug).first() if slug else self.order_by("id").first()
        if found is None and slug:
            raise ValueError(f"there is no project {slug!r}")
        return found or self.create(name="Default", slug="default")


class Project(models.Model):
    """The unit of access: datasets, studies and jobs belong to one project; other projects do not exist for a user."""

    member_count: int  # where the admin page has counted
    dataset_count: int

    name = models.CharField(max_length=200, unique=True)
    slug = models.SlugField(unique=True)
    created_at = models.DateTimeField(auto_now_add=True)

    objects = ProjectQuerySet.as_manager()

    def __str__(self) -> str:
        return self.name

    def lets(self, user: User, ability: str) -> bool:
        """Whether a user may do something in it."""
        if not user.is_authenticated or not user.is_active:
            return False
        return user.is_superuser or self.memberships.filter(user_id=user.pk).able(ability).exists()

    def lets_speak(self, user: User) -> bool:
        """Whether a user may comment in it: those who annotate or review in it may."""
        return self.lets(user, "annotate") or self.lets(user, "review")

    def named_in(self, text: str, split: str) -> list[Account]:
        """Its members whom a text about data of this split names as @username, and who may see the gold of it."""
        names = {name for found in NAMED.findall(text) for name in (found, found.rstrip(".-+@"))}
        named = Account.objects.filter(username__in=names, memberships__project=self, is_active=True)
        return [user for user in named if self.shows_gold(user, split)]

    def require(self, user: User, ability: str) -> None:
        """Raise PermissionDenied (403) unless the user has the ability; foreign projects never get this far."""
        if not self.lets(user, ability):
            may = ABILITY_WORDS.get(ability, ability)
            raise PermissionDenied(f"This needs a role that may {may} in {self}; ask one of its admins.")

    def shows_gold(self, user: User, split: str) -> bool:
        """Whether a user is shown gold actions of this split: those of test splits need a right of their own."""
        if not split.startswith("test") or user.is_superuser:
            return True
        return self.memberships.filter(user_id=user.pk or 0).seeing_test_gold().exists()


class MembershipQuerySet(models.QuerySet["Membership"]):
    def able(self, ability: str) -> Self:
        """Memberships whose role has this ability."""
        return self.filter(role__in=[role for role, abilities in ABILITIES.items() if ability in abilities])

    def seeing_test_gold(self) -> Self:
        return self.filter(Q(role=Role.ADMIN) | Q(sees_test_gold=True))


class Membership(models.Model):
    """A user's role in a project."""

    project = models.ForeignKey(Project, models.CASCADE, related_name="memberships")
    user = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="memberships")
    role = models.CharField(max_length=12, choices=Role.choices)
    sees_test_gold = models.BooleanField(
        "sees test gold", default=False, help_text="May see the gold actions of test splits (admins always may)."
    )

    objects = MembershipQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["project", "user"], name="one_role_per_member"),
            models.CheckConstraint(condition=models.Q(role__in=Role.values), name="membership_role_known"),
        ]

    def __str__(self) -> str:
        return f"{self.user} · {self.role} of {self.project}"

    def become(self, role: str, *, sees_test_gold: bool) -> None:
        """Give the member another role."""
        self.role, self.sees_test_gold = role, sees_test_gold
        self.save()

    def is_last_admin(self) -> bool:
        """Whether this member is the only admin: without one, nobody could let others in."""
        others = Membership.objects.filter(project_id=self.project_id, role=Role.ADMIN).exclude(pk=self.pk)
        return self.role == Role.ADMIN and not others.exists()


def accounts_of(admin: Account | OuterRef) -> models.QuerySet[Account]:
    """Accounts whose password this admin may set: every project of theirs is the admin's, and they are no staff. A new
    password gives the whole account away, so no other rights may be attached to it."""
    projects = Membership.objects.able("manage").filter(user=admin).values("project")
    theirs = Membership.objects.filter(user=OuterRef("pk"))
    plain = Account.objects.filter(is_superuser=False, is_staff=False)
    return plain.filter(Exists(theirs), ~Exists(theirs.exclude(project__in=projects)))


class InviteQuerySet(models.QuerySet["Invite"]):
    def open(self) -> Self:
        """Links that can still be used."""
        return self.filter(used_at=None, expires_at__gt=timezone.now()).backed()

    def backed(self) -> Self:
        """Links whose maker could still make them today; those of the command line have no maker and always count. So a
        link ends with the right to make it, and a link to set a password does not give away what its user may do since.
        """
        able = Membership.objects.able("manage")
        invites = Q(user=None) & Exists(able.filter(user=OuterRef("created_by"), project=OuterRef("project")))
        resets = Q(user__in=accounts_of(OuterRef(OuterRef(OuterRef("created_by")))))
        by_somebody = Q(created_by__is_superuser=True) | invites | resets
        return self.filter(Q(created_by=None) | Q(created_by__is_active=True) & by_somebody)

    def issue(self, *, created_by: Account | None = None, days: int = 7, **fields: Any) -> tuple["Invite", str]:
        """A new link and its secret, which is shown once and stored only as a digest."""
        secret = secrets.token_urlsafe(32)
        expires_at = timezone.now() + timedelta(days=days)
        invite = self.create(digest=Invite.digest_of(secret), created_by=created_by, expires_at=expires_at, **fields)
        return invite, secret

    def find(self, secret: str) -> "Invite | None":
        return self.open().filter(digest=Invite.digest_of(secret)).first()


class Invite(models.Model):
    """A one-time link: to join a project (no user yet) or to set a new password (a user is named)."""

    digest = models.CharField(max_length=64, unique=True, editable=False)
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        models.CASCADE,
        null=True,
        blank=True,
        related_name="+",
        help_text="Set for a password reset; empty for an invitation.",
    )
    project = models.ForeignKey(Project, models.CASCADE, null=True, blank=True)
    role = models.CharField(max_length=12, choices=Role.choices, blank=True)
    sees_test_gold = models.BooleanField(default=False)
    email = models.EmailField(
        blank=True, help_text="Whoever signs in through the organisation with this address joins without the link."
    )
    makes_superuser = models.BooleanField(default=False, editable=False)
    created_by = models.ForeignKey(  # None: the command line; whose account is gone has no links either
        settings.AUTH_USER_MODEL, models.CASCADE, null=True, blank=True, related_name="+", editable=False
    )
    created_at = models.DateTimeField(auto_now_add=True)
    expires_at = models.DateTimeField()
    used_at = models.DateTimeField(null=True, editable=False)

    objects = InviteQuerySet.as_manager()

    def __str__(self) -> str:
        return f"password reset for {self.user}" if self.user else f"invitation as {self.role or 'first admin'}"

    @staticmethod
    def digest_of(secret: str) -> str:
        return hashlib.sha256(secret.encode()).hexdigest()

    def use(self) -> bool:
        """Mark as used; False when another request was faster or the link has run out.

        That it is unused is asked of the row that is changed, not within the subquery: PostgreSQL asks that again of a
        row for which it had to wait, and reads a subquery as it was before.
        """
        unused = Invite.objects.filter(pk=self.pk, used_at=None, pk__in=Invite.objects.open().values("pk"))
        return bool(unused.update(used_at=timezone.now()))

    def withdraw(self) -> None:
        """Its link no longer works."""
        self.delete()

    def admit(self, user: Account) -> None:
        """Give the person who used the link the role that it names. A password reset changes no role, and the only
        admin of a project stays admin."""
        before = Membership.objects.filter(project=self.project, user=user).first()
        if self.project and self.user is None and not (before and before.is_last_admin()):
            fields = {"role": self.role, "sees_test_gold": self.sees_test_gold}
            Membership.objects.update_or_create(project=self.project, user=user, defaults=fields)
