"""Assembly of the planner's tokens: what is cut, and that tokenizers of `transformers` fit."""

from tokenizers import Tokenizer, models, pre_tokenizers, processors
from transformers import PreTrainedTokenizerFast

from agents.words.sequence import PagePart, encode_messages, input_ids, join, label_ids, page_messages
from agents.words.shown_page import IN_FULL, PageTask, format_input

WORDS = "[UNK] </s> page words ask answer one two three four".split()


def tokenizer():
    """One token per word, `</s>` at the end, as T5's tokenizers do it."""
    backend = Tokenizer(models.WordLevel({word: index for index, word in enumerate(WORDS)}, unk_token="[UNK]"))
    backend.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    backend.post_processor = processors.TemplateProcessing(single="$A </s>", special_tokens=[("</s>", 1)])
    return PreTrainedTokenizerFast(tokenizer_object=backend, unk_token="[UNK]", eos_token="</s>")


def words(ids):
    return " ".join(WORDS[index] for index in ids)


def test_a_tokenizer_of_transformers_encodes_pages_from_their_start_and_ends_every_other_piece():
    messages = [PagePart("webpage", "page one two three four"), PagePart("human", "ask"), PagePart("gpt", "answer")]
    ids = encode_messages(messages, tokenizer(), max_piece=4)
    assert words(ids) == ("[UNK] [UNK] [UNK] </s> page one two three [UNK] </s> ask [UNK] [UNK] </s> answer </s>")


def test_a_single_task_is_read_as_page_and_question_alone():
    """MindAct: the first tokens of the page, then those of the question with an end; nobody is named."""
    step = [PagePart("webpage", "page one two three four"), PagePart("human", "ask two"), PagePart("gpt", "")]
    assert words(input_ids([], step, tokenizer(), "", max_piece=3, spoken=False)) == "page one two ask two </s>"
    past = [PagePart("webpage", "three"), PagePart("human", "ask"), PagePart("gpt", "answer")]
    ids = input_ids([past], step, tokenizer(), "", max_length=9, max_piece=3, spoken=False)
    assert words(ids) == "</s> answer </s> page one two ask two </s>", "what came before is cut from its start"


def test_the_empty_answer_of_the_current_step_adds_nothing():
    page = format_input('<html backend_node_id="1"><text>page</text></html>', ["1"], PageTask("ask"), IN_FULL)
    messages = page_messages(page)
    assert [message.sender for message in messages] == ["webpage", "human", "gpt"]
    assert encode_messages(messages, tokenizer()) == encode_messages(messages[:2], tokenizer())


def test_history_is_cut_from_the_left_and_the_current_step_never():
    assert join([1], [2, 3, 4, 5], [6, 7], max_length=5) == [1, 4, 5, 6, 7]
    assert join([1], [2, 3], [6, 7], max_length=9) == [1, 2, 3, 6, 7]
    assert join([1], [2, 3], [6, 7], max_length=3) == [1, 6, 7]  # no room: a slice [-0:] would keep everything
    assert join([1], [2, 3], [6, 7, 8], max_length=2) == [1, 6, 7, 8]


def test_the_input_is_system_history_and_current_step():
    ids = input_ids([[PagePart("gpt", "one two")]], [PagePart("gpt", "three")], tokenizer(), "page\n\n", max_length=5)
    assert words(ids) == "page </s> </s> three </s>"


def test_history_is_cut_from_the_left_and_what_would_be_cut_whole_is_never_made():
    def last_first():
        yield [PagePart("gpt", "two three")]
        yield [PagePart("gpt", "one")]
        raise AssertionError("there was no room for a third snippet")

    def shown(max_length: int) -> str:
        return words(input_ids(last_first(), [PagePart("gpt", "four")], tokenizer(), "page\n\n", max_length))

    assert shown(7) == "page </s> two three </s> four </s>"
    assert shown(8) == "page </s> </s> two three </s> four </s>"
    assert shown(9) == "page </s> one </s> two three </s> four </s>"
    assert shown(3) == "page </s> four </s>"


def test_labels_are_never_truncated():
    assert words(label_ids("one " * 600, tokenizer())).count("one") == 600
