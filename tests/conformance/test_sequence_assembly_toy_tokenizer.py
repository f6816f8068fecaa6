"""Token layout of planner messages, with a tokenizer of bytes."""

import pytest

from agents.words.sequence import PagePart, encode_messages
from tests.conformance.cases import params
from tests.conformance.crashes import crash_of


class ByteTokenizer:
    """Ids are UTF-8 bytes + 3; the special token is 1 at the end, and truncation leaves room for it."""

    def encode(self, text, *, add_special_tokens, truncation, max_length):
        ids = [byte + 3 for byte in text.encode()]
        if truncation:
            ids = ids[: max_length - add_special_tokens]
        return [*ids, 1] if add_special_tokens else ids


@pytest.mark.parametrize("case", params("sequence_assembly_toy_tokenizer"))
def test_token_ids_agree_with_the_published_code(case):
    messages = [PagePart(message["from"], message["value"]) for message in case["conversation"]]
    with crash_of(case) as crashes:
        ids = encode_messages(messages, ByteTokenizer(), case["max_context_len"])
    assert crashes or ids == case["input_ids"]
