"""Proposals of sessions by the embedded model, of cuts and rewrites by a language model, as jobs. Queue `gpu`.

Replies are JSON and read strictly: what is wrong with one is told to the model once, then to the person who asked.
"""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from agents.encoders.embedding import load_encoder
from agents.encoders.weights import MINILM
from agents.llm.embedded import is_embedded
from agents.llm.errors import LlmError
from agents.llm.protocol import Llm, Message, Request
from agents.memory.jobs import endpoint
from agents.models import Connection
from agents.prompts.packs import webnav
from agents.words.generator import complete
from annotations.campaigns.propose.proposing import Proposing, UnusableProposal
from annotations.edits.edit_ops import MAX_TEXT
from annotations.edits.mentions import PHENOMENA
from annotations.models import Assignment, Campaign, Job, Proposal
from annotations.text.amounts import amount
from annotations.work.decompose.cuts import CutPart, SeenStep, each_clause_once
from annotations.work.organise import sessions
from annotations.work.organise.grouping import Rules

MAX_TOKENS = 4_000
# Sentences of one site are never far apart for an encoder: more alike than by their words before they count as such.
VECTOR_RULES = Rules(alike=0.65, related=0.35)
TRIES = 2
INSTEAD = "Ask again, propose by rules, or write the parts yourself."
FENCE = "```"
# A text in JSON of which nothing has to be escaped, for small models that are held to it: else they never end it.
PLAIN_TEXT = r'text ::= "\"" [A-Za-z] [^"\\\n]{2,80} "\""'

ProposedParts = list[dict[str, Any]]


@dataclass(frozen=True)
class Question:
    """A request to a model: its text, how a reply is read, and the grammar that holds small models to the form of a
    reply."""

    text: str
    read: Callable[[str], ProposedParts]
    grammar: str


class BadProposal(ValueError):
    """A reply that is not what was asked for; the message says what is wrong with it."""


def propose_sessions(job: Job) -> bool:
    """Propose sessions of a campaign's leftover items, grouped by the vectors of their instructions."""
    campaign = Campaign.objects.live().filter(pk=job.params["campaign"], project=job.project).first()
    if campaign is None:
        raise ValueError("the campaign has been deleted")
    count = sessions.suggest(campaign, load_encoder(MINILM).encode, MINILM, VECTOR_RULES)
    job.finish(Job.State.DONE, report={"said": f"Proposed {count} sessions", "model": MINILM})
    return False


def propose(job: Job) -> bool:
    """Ask a model for one proposal and store it. ValueError, which ends the job, says why there is none."""
    if job.params["kind"] == Proposal.Kind.SESSIONS:
        return propose_sessions(job)
    rows = Assignment.objects.select_related("item__session__campaign")
    assignment = rows.filter(pk=job.params["assignment"], item__session__campaign__project=job.project).first()
    if assignment is None or assignment.state not in Assignment.UNFINISHED:
        raise ValueError("the annotation is not in work any more")
    Proposing(assignment).check(job.params["kind"])
    llm = _at_connection(assignment.item.session.campaign.connection)
    parts = ask(llm, QUESTIONS[job.params["kind"]](assignment))
    try:
        proposal = Proposing(assignment).keep(job.params["kind"], llm.info.model, parts)
    except UnusableProposal as error:
        raise ValueError(f"that of {llm.info.model} cannot be used. {error} {INSTEAD}") from error
    said = f"Proposed {amount(len(parts), 'part')}"
    job.finish(Job.State.DONE, report={"proposal": proposal.pk, "said": said, "model": llm.info.model})
    return False


def _at_connection(name: str) -> Llm:
    """The connection that a campaign names, else what answers here. ValueError where there is none."""
    if name and Connection.objects.answering(Connection.Kind.LLM, name) is None:
        raise ValueError(f"the campaign names the connection {name}, which there is no more: choose another one")
    return endpoint(name)


def ask(llm: Llm, question: Question) -> ProposedParts:
    """The parts that the model proposes. A reply that cannot be read is sent back once with the reason; ValueError
    where the next cannot be read either."""
    messages, model = [Message("user", question.text)], llm.info.model
    grammar = question.grammar if is_embedded(model) else ""
    for attempt in range(TRIES):
        answer = complete(llm, [Request(tuple(messages), model, max_tokens=MAX_TOKENS, grammar=grammar)])[0]
        if isinstance(answer, LlmError):
            raise ValueError(f"the model gave no answer: {answer}")
        try:
            return question.read(answer.text)
        except BadProposal as error:
            if attempt + 1 == TRIES:
                raise ValueError(f"the model's proposal cannot be used: {error}") from error
            wrong = webnav().prompt("propose_again").fill(error=error)
            messages += [Message("assistant", answer.text), Message("user", wrong)]
    raise AssertionError("every try ends in an answer or an error")


def read_cuts(text: str, steps: list[SeenStep]) -> ProposedParts:
    """The parts of a reply that proposes cuts: [{"step", "instruction", "why"}, …]. Raises BadProposal."""
    rows = _rows(text, "parts")
    firsts = [_number(row, "first_step", len(steps)) for row in rows]
    if firsts[0] != 1:
        raise BadProposal("the first part does not begin at step 1")
    if firsts != sorted(set(firsts)):
        raise BadProposal("the first steps of the parts do not go up")
    for place in range(1, len(steps)):
        if steps[place].task != steps[place - 1].task and place + 1 not in firsts:
            raise BadProposal(f"no part begins at step {place + 1}, where a task begins")
    return [
        {"step": steps[first - 1].key, "instruction": _text(row, "instruction"), "why": []}
        for first, row in zip(firsts, rows, strict=True)
    ]


def read_rewrites(text: str, steps: list[int]) -> ProposedParts:
    """The parts of a reply that proposes rewrites: [{"step", "rewrite", "mentions"}, …]; `steps`: the first step of
    each turn. Raises BadProposal."""
    rows = _rows(text, "turns")
    if [_number(row, "turn", len(steps)) for row in rows] != list(range(1, len(steps) + 1)):
        raise BadProposal(f"it does not have the turns 1 to {len(steps)}, each once and in order")
    said = [_text(row, "text") for row in rows]
    return [
        {"step": steps[turn], "rewrite": said[turn], "mentions": _mentions(row, turn, said, steps)}
        for turn, row in enumerate(rows)
    ]


def _cuts_question(assignment: Assignment) -> Question:
    steps, tasks = Proposing(assignment).seen_steps()
    lines: list[str] = []
    for place, step in enumerate(steps):
        if place == 0 or steps[place - 1].task != step.task:
            lines += ["", f"Task: {tasks[step.task]}"]
        page = f" (page: {step.face.title})" if step.face and step.face.title else ""
        lines.append(f"{place + 1}. {step.text}{page}")
    wanted = assignment.item.session.campaign.target_parts(len(steps))
    question = webnav().prompt("propose_cuts").fill(parts=wanted, steps="\n".join(lines).strip())

    def read(text: str) -> ProposedParts:
        parts = [CutPart(part["step"], (), part["instruction"]) for part in read_cuts(text, steps)]
        once = each_clause_once(parts, steps, tasks)
        return [{"step": part.step, "instruction": part.instruction, "why": []} for part in once]

    return Question(question, read, cuts_grammar([step.task for step in steps]))


def cuts_grammar(tasks: Sequence[int]) -> str:
    """The grammar of replies that `read_cuts` takes, for steps of these tasks: the numbers of first steps go up, and a
    part begins at every task."""
    parts = [f'"{{\\"first_step\\": {number}, \\"instruction\\": " text "}}"' for number in range(1, len(tasks) + 1)]
    more = [
        f'(", " {part})' + ("?" if task == before else "")
        for part, task, before in zip(parts[1:], tasks[1:], tasks, strict=False)
    ]
    return f'root ::= "{{\\"parts\\": [" {" ".join([parts[0], *more])} "]}}"\n{PLAIN_TEXT}'


def _rewrites_question(assignment: Assignment) -> Question:
    parts = assignment.ordered_parts()
    requests = "\n".join(f"{turn}. {' '.join(part.instruction.split())}" for turn, part in enumerate(parts, 1))
    question = webnav().prompt("propose_rewrites").fill(requests=requests, phenomena=", ".join(PHENOMENA))
    firsts = [part.first_step_id for part in parts]
    return Question(question, lambda text: read_rewrites(text, firsts), rewrites_grammar(parts[0].instruction, firsts))


def rewrites_grammar(first: str, steps: Sequence[int]) -> str:
    """The grammar of replies that `read_rewrites` takes: the first turn as it is, the others with a text each. It has
    no mentions, as no grammar can say that their words stand in the text."""
    texts = [_literal(json.dumps(" ".join(first.split()))), *["text"] * (len(steps) - 1)]
    turns = [
        f'"{{\\"turn\\": {turn}, \\"text\\": " {text} ", \\"mentions\\": []}}"' for turn, text in enumerate(texts, 1)
    ]
    joined = ' ", " '.join(turns)
    return f'root ::= "{{\\"turns\\": [" {joined} "]}}"\n{PLAIN_TEXT}'


def _literal(text: str) -> str:
    """A text as a literal of a grammar: as JSON it is plain ASCII."""
    return json.dumps(text)


def _rows(text: str, name: str) -> list[dict[str, Any]]:
    """The list of objects under `name` of a reply that is one JSON object, perhaps in a code fence."""
    plain = text.strip()
    if plain.startswith(FENCE) and plain.endswith(FENCE):
        plain = plain.removeprefix(FENCE).removesuffix(FENCE).removeprefix("json").strip()
    try:
        found = json.loads(plain)
    except (ValueError, RecursionError) as error:
        raise BadProposal(f"it is no JSON ({error})") from error
    rows = found.get(name) if isinstance(found, dict) else None
    if not isinstance(rows, list) or not rows or not all(isinstance(row, dict) for row in rows):
        raise BadProposal(f'it is no object with a list "{name}" of objects')
    return rows


def _number(row: dict[str, Any], name: str, most: int) -> int:
    number = row.get(name)
    if isinstance(number, bool) or not isinstance(number, int) or not 1 <= number <= most:
        raise BadProposal(f'"{name}" is {json.dumps(number)}, not a number from 1 to {most}')
    return number


def _text(row: dict[str, Any], name: str) -> str:
    text = row.get(name)
    if not isinstance(text, str) or not text.strip() or len(text) > MAX_TEXT:
        raise BadProposal(f'"{name}" is not a text of 1 to {MAX_TEXT:,} characters')
    return " ".join(text.replace("\x00", "").split())


def _mentions(row: dict[str, Any], turn: int, said: list[str], steps: list[int]) -> list[dict[str, Any]]:
    rows = row.get("mentions", [])
    if not isinstance(rows, list) or not all(isinstance(mention, dict) for mention in rows):
        raise BadProposal(f"the mentions of turn {turn + 1} are no list of objects")
    return [_mention(mention, f"p{steps[turn]}-{n}", turn, said, steps) for n, mention in enumerate(rows, 1)]


def _mention(row: dict[str, Any], name: str, turn: int, said: list[str], steps: list[int]) -> dict[str, Any]:
    phenomenon, antecedent = row.get("phenomenon"), row.get("antecedent")
    if phenomenon not in PHENOMENA:
        raise BadProposal(f"{json.dumps(phenomenon)} is no phenomenon")
    place = _place(row, turn, said)
    if phenomenon == "ellipsis":  # a point: after the words before the gap
        place = {"start": place["end"], "end": place["end"], "text": ""}
    if not isinstance(antecedent, dict):
        raise BadProposal(f"a mention of turn {turn + 1} has no antecedent")
    of = _number(antecedent, "turn", turn) - 1 if turn else 0
    if of >= turn:
        raise BadProposal("the first turn has nothing before it to refer to")
    return {
        "id": name,
        "phenomenon": phenomenon,
        **place,
        "antecedent": {"step": steps[of], **_place(antecedent, of, said)},
    }


def _place(row: dict[str, Any], turn: int, said: list[str]) -> dict[str, Any]:
    found = _text(row, "words")
    start = said[turn].find(found)
    if start < 0:
        raise BadProposal(f'turn {turn + 1} does not say "{found}"')
    return {"start": start, "end": start + len(found), "text": found}


QUESTIONS = {Proposal.Kind.CUTS: _cuts_question, Proposal.Kind.REWRITE: _rewrites_question}
RUNNERS: dict[str, Callable[[Job], bool]] = {Job.Kind.PROPOSE: propose}
