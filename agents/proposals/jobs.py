"""Proposals of sessions by the embedded model, of cuts and rewrites by a language model, as jobs. Queue `gpu`.

Endpoints answer in JSON: what is wrong with a reply is told to the model once, then to the person who asked. The
embedded model only weighs what is right by construction.
"""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import count

from agents.encoders.embedding import load_encoder
from agents.encoders.weights import MINILM
from agents.llm.embedded import is_embedded
from agents.llm.errors import LlmError
from agents.llm.protocol import Llm, Message, Request
from agents.llm.weighing import LikelihoodModel
from agents.memory.jobs import endpoint
from agents.models import Connection
from agents.prompts.packs import webnav
from agents.proposals.replies import BadProposal, ProposedParts, read_cuts, read_rewrites
from agents.proposals.weighed import NAMES, WeighedProposal
from agents.words.generator import complete
from annotations.campaigns.propose.proposing import NoProposals, Proposing, UnusableProposal
from annotations.edits.mentions import PHENOMENA
from annotations.models import Assignment, Campaign, Job, Proposal
from annotations.text.amounts import amount
from annotations.work.decompose.clauses import clauses_of
from annotations.work.organise import sessions
from annotations.work.organise.grouping import Rules

MAX_TOKENS = 4_000
# Sentences of one site are never far apart for an encoder: more alike than by their words before they count as such.
VECTOR_RULES = Rules(alike=0.65, related=0.35)
TRIES = 2
INSTEAD = "Ask again, propose by rules, or write the parts yourself."


@dataclass(frozen=True)
class Question:
    """A request to a model: its text, and how a reply is read."""

    text: str
    read: Callable[[str], ProposedParts]


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
    try:
        name, parts = AskedProposal(job, assignment, llm).parts()
        proposal = Proposing(assignment).keep(job.params["kind"], name, parts)
    except UnusableProposal as error:
        raise ValueError(f"that of {llm.info.model} cannot be used. {error} {INSTEAD}") from error
    except NoProposals as error:
        raise ValueError(str(error)) from error
    said = f"Proposed {amount(len(parts), 'part')}"
    job.finish(Job.State.DONE, report={"proposal": proposal.pk, "said": said, "model": llm.info.model})
    return False


class AskedProposal:
    """What a job proposes for an annotation: written by a model, or weighed by the embedded one."""

    def __init__(self, job: Job, assignment: Assignment, llm: Llm) -> None:
        self.job, self.assignment, self.llm = job, assignment, llm

    def parts(self) -> tuple[str, ProposedParts]:
        """The name of who proposes, with its version, and the parts."""
        kind, model = Proposal.Kind(self.job.params["kind"]), self.llm.info.model
        if is_embedded(model):
            self.job.go_on({"phase": "Loads the embedded model"})
            weighed = WeighedProposal(self.job, self.assignment, LikelihoodModel(model))
            return f"{model} · {NAMES[kind]}", weighed.parts()
        self.job.go_on({"phase": f"Asks {model}"})
        return model, ask(self.llm, QUESTIONS[kind](self.assignment))


def _at_connection(name: str) -> Llm:
    """The connection that a campaign names, else what answers here. ValueError where there is none."""
    if name and Connection.objects.answering(Connection.Kind.LLM, name) is None:
        raise ValueError(f"the campaign names the connection {name}, which there is no more: choose another one")
    return endpoint(name)


def ask(llm: Llm, question: Question) -> ProposedParts:
    """The parts that the model proposes. A reply that cannot be read is sent back once with the reason; ValueError
    where the next cannot be read either."""
    messages, model = [Message("user", question.text)], llm.info.model
    for attempt in range(TRIES):
        answer = complete(llm, [Request(tuple(messages), model, max_tokens=MAX_TOKENS)])[0]
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


def _cuts_question(assignment: Assignment) -> Question:
    steps, tasks = Proposing(assignment).seen_steps()
    lines: list[str] = []
    clauses = count(1)
    for place, step in enumerate(steps):
        if place == 0 or steps[place - 1].task != step.task:
            own = [f"({next(clauses)}) {clause}" for clause in clauses_of(tasks[step.task])]
            lines += ["", "Task, by clauses:", *own, "Steps:"]
        page = f" (page: {step.face.title})" if step.face and step.face.title else ""
        lines.append(f"{place + 1}. {step.text}{page}")
    wanted = assignment.item.session.campaign.target_parts(len(steps))
    question = webnav().prompt("propose_cuts").fill(parts=wanted, steps="\n".join(lines).strip())
    return Question(question, lambda text: read_cuts(text, steps, tasks))


def _rewrites_question(assignment: Assignment) -> Question:
    parts = assignment.ordered_parts()
    requests = "\n".join(f"{turn}. {' '.join(part.instruction.split())}" for turn, part in enumerate(parts, 1))
    question = webnav().prompt("propose_rewrites").fill(requests=requests, phenomena=", ".join(PHENOMENA))
    firsts = [part.first_step_id for part in parts]
    return Question(question, lambda text: read_rewrites(text, firsts))


QUESTIONS = {Proposal.Kind.CUTS: _cuts_question, Proposal.Kind.REWRITE: _rewrites_question}
RUNNERS: dict[str, Callable[[Job], bool]] = {Job.Kind.PROPOSE: propose}
