"""What is written into the trail of access wherever it happens: on pages, over the API, in the admin, by commands."""

from typing import Any

from django.contrib.auth import get_user_model
from django.contrib.auth.models import AbstractBaseUser
from django.contrib.auth.signals import user_logged_in, user_logged_out, user_login_failed
from django.db.models.signals import post_delete, post_save, pre_save
from django.dispatch import receiver
from django.http import HttpRequest
from knox.models import AuthToken

from annotations.access.events import Action, record
from annotations.models import Invite, Membership, TokenGrant

User = get_user_model()
# What a user row says about rights; a change of anything else is not told.
_RIGHTS = {"is_active": "active", "is_staff": "staff", "is_superuser": "superuser"}


@receiver(user_logged_in)
def _signed_in(request: HttpRequest, user: AbstractBaseUser, **kwargs: Any) -> None:
    record(Action.SIGN_IN, "signed in", about=user, actor=user)
    request.signed_in_as = user.get_username()  # AccessMiddleware remembers the browser by it


@receiver(user_logged_out)
def _signed_out(user: AbstractBaseUser | None, **kwargs: Any) -> None:
    if user is not None:
        record(Action.SIGN_OUT, "signed out", about=user, actor=user)


@receiver(user_login_failed)
def _sign_in_failed(credentials: dict[str, Any], **kwargs: Any) -> None:
    """A name that nobody has is not kept: people type their password into the wrong field."""
    name = credentials.get("username") or ""
    known = User.objects.filter(username__iexact=name).first()
    what = "wrong password" if known else "a name that nobody has"
    record(Action.SIGN_IN, what, about=known or "", ok=False)


@receiver(pre_save, sender=Membership)
@receiver(pre_save, sender=User)
def _remember(sender: type, instance: Any, **kwargs: Any) -> None:
    """What the row says before it is saved."""
    instance.before = sender._default_manager.filter(pk=instance.pk).first() if instance.pk else None


@receiver(post_save, sender=Membership)
def _member_saved(instance: Membership, **kwargs: Any) -> None:
    before: Membership | None = instance.before
    about = {"about": instance.user, "project": instance.project}
    if before is None:
        record(Action.MEMBER, f"became {instance.role}", **about)
    elif before.role != instance.role:
        record(Action.MEMBER, f"became {instance.role}, was {before.role}", **about)
    if (before.sees_test_gold if before else False) != instance.sees_test_gold:
        record(Action.GOLD, f"{'may' if instance.sees_test_gold else 'may no longer'} see gold of test splits", **about)


@receiver(post_delete, sender=Membership)
def _member_removed(instance: Membership, **kwargs: Any) -> None:
    record(Action.MEMBER, f"is no longer {instance.role}", about=instance.user, project=instance.project)


@receiver(post_save, sender=User)
def _user_saved(instance: Any, created: bool, **kwargs: Any) -> None:
    before = instance.before
    if created:
        record(Action.ACCOUNT, "account made", about=instance)
    elif before and before.password != instance.password and not _is_upgrade(before, instance):
        record(Action.PASSWORD, "password changed", about=instance)
    for field, word in _RIGHTS.items():
        now, then = getattr(instance, field), getattr(before, field) if before else field == "is_active"
        if now != then:
            record(Action.ACCOUNT, f"is {'' if now else 'no longer '}{word}", about=instance)


def _is_upgrade(before: Any, after: Any) -> bool:
    """Django stores the same password anew when its way of hashing gets stronger, at a sign-in."""
    return getattr(after, "_password", None) is None and before.password.split("$")[:2] != after.password.split("$")[:2]


@receiver(post_delete, sender=User)
def _user_deleted(instance: Any, **kwargs: Any) -> None:
    record(Action.ACCOUNT, "account deleted", about=instance)


@receiver(post_save, sender=Invite)
def _invite_saved(instance: Invite, created: bool, **kwargs: Any) -> None:
    if created:
        what = f"made a link: {instance}" + (f" for {instance.email}" if instance.email else "")
        record(Action.INVITE, what, about=instance.user or "", project=instance.project)


@receiver(post_delete, sender=Invite)
def _invite_withdrawn(instance: Invite, **kwargs: Any) -> None:
    if instance.used_at is None:
        record(Action.INVITE, f"withdrew a link: {instance}", about=instance.user or "", project=instance.project)


@receiver(post_save, sender=TokenGrant)
def _token_made(instance: TokenGrant, created: bool, **kwargs: Any) -> None:
    if created:
        scopes = ", ".join(instance.scopes)
        record(Action.TOKEN, f"made token {instance} ({scopes})", about=instance.token.user, actor=instance.token.user)


@receiver(post_delete, sender=AuthToken)
def _token_gone(instance: AuthToken, **kwargs: Any) -> None:
    record(Action.TOKEN, f"token {instance.token_key}… revoked or expired", about=instance.user)
