"""The form of a connection."""

from typing import Any

from django import forms

from agents.llm.stored_endpoints import faults
from agents.models import Connection


class ConnectionForm(forms.ModelForm):
    """A connection's settings and its key. A stored key is never shown; an empty key field keeps it."""

    key = forms.CharField(
        required=False, strip=True, max_length=500, widget=forms.PasswordInput(attrs={"autocomplete": "off"})
    )
    forget_key = forms.BooleanField(required=False, label="Forget the key")

    class Meta:
        model = Connection
        fields = [
            *("name", "kind", "base_url", "key", "forget_key", "model", "price_prompt", "price_completion", "timeout"),
            *("concurrency", "attempts", "private", "is_default"),
        ]
        labels = {
            "price_prompt": "Price of what it reads",
            "price_completion": "Price of what it writes",
            "concurrency": "Requests at once",
        }
        help_texts = {
            "price_prompt": "Of a million tokens; empty: unknown.",
            "price_completion": "Of a million tokens; empty: unknown.",
            "concurrency": "More wait for their turn.",
        }

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        stored = bool(self.instance.sealed_key)
        self.fields["key"].help_text = "One is stored; leave this empty to keep it." if stored else "Encrypted at rest."
        if not stored:
            del self.fields["forget_key"]

    def _post_clean(self) -> None:
        """Check the connection with the key that it will have. Who changes the address must type the key again, so that
        a stored key is sent to no other address."""
        moved = self.instance.pk and self.instance.base_url != self.cleaned_data.get("base_url")
        if key := self.cleaned_data.get("key"):
            self.instance.key = key
        elif self.cleaned_data.get("forget_key"):
            self.instance.key = ""
        elif moved and self.instance.sealed_key:
            self.add_error("key", "The address is another one: enter the key again.")
        super()._post_clean()  # type: ignore[misc]
        for name, said in faults(self.instance).items():
            if name not in self.errors:
                self.add_error(name, said)
