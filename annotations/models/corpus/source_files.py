"""Files of a conversation's source that are kept as they are."""

from django.db import models

from annotations.models.corpus.conversations import Conversation
from annotations.models.corpus.pages import decompress


class SourceFile(models.Model):
    """A file of a conversation, of formats that keep a folder per conversation: its content has no column, and an
    export writes it again."""

    conversation = models.ForeignKey(Conversation, models.CASCADE, related_name="source_files")
    path = models.CharField(max_length=200, help_text="Inside the conversation's folder.")
    data = models.BinaryField(help_text="Compressed.")
    raw_size = models.PositiveIntegerField("raw bytes")

    class Meta:
        ordering = ["path"]
        constraints = [models.UniqueConstraint(fields=["conversation", "path"], name="source_file_once")]

    def __str__(self) -> str:
        return self.path

    @property
    def content(self) -> bytes:
        """The bytes of the file as it was imported."""
        return decompress(bytes(self.data))
