"""Signal receivers that write the trail of access, wherever the change is made: pages, API, admin or commands."""

from functools import partial
from typing import Any

from allauth.mfa.models import Authenticator
from allauth.mfa.signals import authentication_failed, authenticator_added, authenticator_reset
from allauth.socialaccount.models import SocialLogin
from allauth.socialaccount.signals import social_account_added
from django.contrib.auth.models import User
from django.contrib.auth.signals import user_logged_in, user_logged_out, user_login_failed
from django.db.models import Model
from django.db.models.signals import post_delete, post_save, pre_save
from django.dispatch import receiver
from django.http import HttpRequest
from knox.models import AuthToken

from annotations.access.leaving import end_reset_links, look_again
from annotations.access.trail.events import record
from annotations.models import AccessAction, Invite, Job, Membership, TokenGrant

# What a user row says about rights; a change of anything else is not told.
_RIGHTS = {"is_active": "active", "is_staff": "staff", "is_superuser": "superuser"}


@receiver(user_logged_in)
def _signed_in(request: HttpRequest, user: User, **kwargs: Any) -> None:
    record(AccessAction.SIGN_IN, "signed in", about=user, actor=user)
    vars(request)["signed_in_as"] = user.get_username()  # AccessMiddleware remembers the browser by it


@receiver(user_logged_out)
def _signed_out(user: User | None, **kwargs: Any) -> None:
    if user is not None:
        record(AccessAction.SIGN_OUT, "signed out", about=user, actor=user)


@receiver(user_login_failed)
def _sign_in_failed(credentials: dict[str, Any], **kwargs: Any) -> None:
    """Record a failed sign-in. An unknown name is left out: people type their password into the wrong field."""
    name = credentials.get("username") or ""
    known = User.objects.filter(username__iexact=name).first()
    what = "wrong password" if known else "a name that nobody has"
    record(AccessAction.SIGN_IN, what, about=known or "", ok=False)


@receiver(pre_save, sender=Membership)
@receiver(pre_save, sender=User)
def _remember(sender: type[Model], instance: Any, update_fields: Any = None, **kwargs: Any) -> None:
    """Keep the stored row as `instance.before`, to compare after the save; None where only `last_login` is written."""
    instance.before = None
    if set(update_fields or ["all"]) != {"last_login"}:
        instance.before = sender._default_manager.filter(pk=instance.pk).first()


@receiver(post_save, sender=Membership)
def _member_saved(instance: Membership, **kwargs: Any) -> None:
    before: Membership | None = vars(instance)["before"]
    if before is not None:
        look_again(instance.user_id)
    said = partial(record, about=instance.user, project=instance.project)
    if before is None:
        said(AccessAction.MEMBER, f"became {instance.role}")
    elif before.role != instance.role:
        said(AccessAction.MEMBER, f"became {instance.role}, was {before.role}")
    if (before.sees_test_gold if before else False) != instance.sees_test_gold:
        said(AccessAction.GOLD, f"{'may' if instance.sees_test_gold else 'may no longer'} see gold of test splits")


@receiver(post_delete, sender=Membership)
def _member_removed(instance: Membership, **kwargs: Any) -> None:
    look_again(instance.user_id)
    record(AccessAction.MEMBER, f"is no longer {instance.role}", about=instance.user, project=instance.project)


@receiver(post_save, sender=User)
def _user_saved(instance: Any, created: bool, **kwargs: Any) -> None:
    before = instance.before
    if created:
        record(AccessAction.ACCOUNT, "account made", about=instance)
    elif before and before.password != instance.password and not _is_upgrade(instance):
        record(AccessAction.PASSWORD, "password changed", about=instance)
        end_reset_links(instance.pk)
        look_again(instance.pk)  # sessions of the old password are over
    for field, word in _RIGHTS.items():
        then = getattr(before, field) if before else field == "is_active"
        if (before or created) and (now := getattr(instance, field)) != then:
            record(AccessAction.ACCOUNT, f"is {'' if now else 'no longer '}{word}", about=instance)
            if before:
                look_again(instance.pk)


def _is_upgrade(user: User) -> bool:
    """Whether the password is merely hashed anew: Django does so at a sign-in when its way of hashing has become
    stronger."""
    return getattr(user, "_password", None) is None


@receiver(post_delete, sender=User)
def _user_deleted(instance: Any, **kwargs: Any) -> None:
    record(AccessAction.ACCOUNT, "account deleted", about=instance)


@receiver(post_save, sender=Invite)
def _invite_saved(instance: Invite, created: bool, **kwargs: Any) -> None:
    if created:
        what = f"made a link: {instance}" + (f" for {instance.email}" if instance.email else "")
        record(AccessAction.INVITE, what, about=instance.user or "", project=instance.project)


@receiver(post_delete, sender=Invite)
def _invite_withdrawn(instance: Invite, **kwargs: Any) -> None:
    if instance.used_at is None:
        record(AccessAction.INVITE, f"withdrew a link: {instance}", about=instance.user or "", project=instance.project)


@receiver(post_save, sender=Job)
def _job_made(instance: Job, created: bool, **kwargs: Any) -> None:
    if created and instance.kind == Job.Kind.EXPORT:
        what = f"exported {instance.dataset or instance.params.get('name', '')} as {instance.params.get('format', '')}"
        record(AccessAction.EXPORT, what, about=instance.dataset, project=instance.project, actor=instance.created_by)


@receiver(authenticator_added)
def _factor_added(user: User, authenticator: Authenticator, **kwargs: Any) -> None:
    record(AccessAction.FACTOR, f"added {authenticator.get_type_display()}", about=user)


@receiver(authenticator_reset)
def _factor_renewed(user: User, authenticator: Authenticator, **kwargs: Any) -> None:
    record(AccessAction.FACTOR, f"renewed {authenticator.get_type_display()}", about=user)


@receiver(post_delete, sender=Authenticator)
def _factor_removed(instance: Authenticator, **kwargs: Any) -> None:
    record(AccessAction.FACTOR, f"removed {instance.get_type_display()}", about=instance.user)


@receiver(authentication_failed)
def _factor_failed(user: User, **kwargs: Any) -> None:
    record(AccessAction.FACTOR, "wrong code", about=user, ok=False)


@receiver(social_account_added)
def _identity_linked(request: HttpRequest, sociallogin: SocialLogin, **kwargs: Any) -> None:
    record(AccessAction.IDENTITY, f"linked {sociallogin.account.provider}", about=request.user)


@receiver(post_save, sender=TokenGrant)
def _token_made(instance: TokenGrant, created: bool, **kwargs: Any) -> None:
    if created:
        scopes = ", ".join(instance.scopes)
        record(
            AccessAction.TOKEN,
            f"made token {instance} ({scopes})",
            about=instance.token.user,
            actor=instance.token.user,
        )


@receiver(post_delete, sender=AuthToken)
def _token_gone(instance: AuthToken, **kwargs: Any) -> None:
    record(AccessAction.TOKEN, f"token {instance.token_key}… revoked or expired", about=instance.user)
