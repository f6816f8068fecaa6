"""TF-IDF vectors of texts, for comparing them where no encoder is at hand. Core."""

import math
import re
from collections import Counter
from collections.abc import Callable

import numpy as np

from annotations.text.stop_words import NO_TOPIC

Vectorise = Callable[[list[str]], np.ndarray]  # texts -> one unit vector per row

WORD = re.compile(r"[a-z0-9][a-z0-9'&.-]*[a-z0-9]|[a-z0-9]")


def tfidf(texts: list[str]) -> np.ndarray:
    """A unit TF-IDF vector for each text, shape (texts, different words); a text without words is all zeros."""
    counts = [Counter(topic_words(text)) for text in texts]
    seen = Counter(word for count in counts for word in count)
    columns = {word: place for place, word in enumerate(seen)}
    rows = np.zeros((len(texts), max(1, len(columns))), dtype=np.float32)
    for row, count in zip(rows, counts, strict=True):
        for word, n in count.items():
            row[columns[word]] = (1 + math.log(n)) * (1 + math.log(len(texts) / seen[word]))
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    return rows / np.where(lengths == 0, 1, lengths)


def topic_words(text: str) -> list[str]:
    """The words of a text that say what it is about, in order, in lower case."""
    return [word for word in WORD.findall(text.casefold()) if word not in NO_TOPIC]
