"""The datasheet of a release in Markdown, after "Datasheets for Datasets" (Gebru et al., 2021), filled with what the
database knows."""

from collections import Counter
from typing import Any, NamedTuple

from django.db.models import Count, Max, QuerySet, Sum

from annotations.models import (
    Assignment,
    BulkAccept,
    Campaign,
    Curation,
    Dataset,
    Defect,
    Redaction,
    Release,
    Stage,
    Turn,
    Verdict,
)
from annotations.releases.corrected import corrections_told
from annotations.releases.privacy import KINDS
from annotations.shown_progress import span_text
from annotations.text.amounts import amount
from annotations.work.verify.agreement_tables import AgreementReport, CampaignAgreement
from annotations.work.verify.bulk import tally

PLACES = {  # in the order in which they are told
    "instruction": "instruction",
    "value": "value",
    "action": "action",
    "page": "page",
    "candidate": "candidates",
    "extra": "other data of the conversation",
    "file": "source files",
    "kept": "what runs, memory, judges and people keep of it",
}
COLUMNS = (  # of the statistics: key, heading
    ("conversations", "Conversations"),
    ("turns", "Turns"),
    ("steps", "Steps"),
    ("turns_per_conversation", "Turns / conversation"),
    ("actions_per_turn", "Actions / turn"),
    ("elements_per_turn", "Elements / page"),
    ("instruction_tokens", "Instruction tokens"),
    ("html_tokens", "HTML tokens"),
    ("turns_of_both_per_conversation", "Turns of both speakers / conversation"),
    ("active_turns", "Active turns"),
    ("instructor_turns_per_conversation", "Instructor turns / conversation"),
    ("navigator_utterances_per_conversation", "Navigator utterances / conversation"),
    ("instructor_utterance_characters", "Instructor utterance, characters"),
    ("navigator_utterance_characters", "Navigator utterance, characters"),
    ("seconds_per_conversation", "Seconds / conversation"),
    ("websites", "Websites"),
    ("domains", "Domains"),
    ("subdomains", "Subdomains"),
)


MEASURES = {  # of agreement: key, words
    "cuts_boundary_similarity": "boundary similarity of cuts",
    "rewrites_chrf": "chrF of rewrites",
    "verdicts_cohen_kappa": "Cohen's kappa of verdicts",
    "verdicts_fleiss_kappa": "Fleiss's kappa of verdicts",
}


def datasheet(release: Release) -> str:
    """The datasheet of a release whose statistics and checks are filled in. People typed nothing in it but notes,
    licence, consent and reasons of corrections."""
    dataset = release.dataset
    sections = (
        ("", [f"# {dataset.name} {release.version}", dataset.description, release.notes]),
        ("Composition", _composition(release)),
        ("Collection and annotation", _collection(dataset, release.statistics)),
        ("Checks before the release", _checks(release)),
        ("Redactions", _redactions(dataset)),
        ("Uses and known limits", _limits(release)),
        ("Distribution", _distribution(release)),
    )
    parts = []
    for heading, paragraphs in sections:
        parts += [f"## {heading}"] * bool(heading) + [paragraph for paragraph in paragraphs if paragraph]
    return "\n\n".join(parts) + "\n"


def statistics_table(statistics: dict[str, Any]) -> tuple[list[str], list[tuple[str, list[str]]]]:
    """(splits, rows of heading and one value per split): the statistics as the papers' first tables show them."""
    splits = statistics["splits"]
    rows = [
        (heading, [_cell_text(figures.get(key)) for figures in splits.values()])
        for key, heading in COLUMNS
        if any(key in figures for figures in splits.values())
    ]
    return list(splits), rows


def _cell_text(value: float | None) -> str:
    return "–" if value is None else f"{value:,}"


def _table(head: list[str], rows: list[list[str]]) -> str:
    lines = [head, ["---", *["---:"] * (len(head) - 1)], *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _composition(release: Release) -> list[str]:
    splits, rows = statistics_table(release.statistics)
    totals = {
        name: sum(figures[name] for figures in release.statistics["splits"].values())
        for name in ("conversations", "turns", "steps")
    }
    sites = release.dataset.websites.filter(conversations__isnull=False).distinct().order_by("name")
    names = sorted(set(sites.values_list("name", flat=True)))
    size = release.statistics["bytes"]
    return [
        f"{totals['conversations']:,} conversations with {totals['turns']:,} turns (user instructions) and "
        f"{totals['steps']:,} steps: a page and the action that a person took on it.",
        _table(["", *splits], [[heading, *values] for heading, values in rows]),
        f"Tokens are those of {release.statistics['tokenizer']}; HTML is measured on a sample of the pages. "
        f"Pages: {size['pages']:,}, {size['distinct_pages']:,} of them different, {size['raw']:,} bytes.",
        f"Websites ({len(names)}): {', '.join(names)}.",
    ]


def _collection(dataset: Dataset, statistics: dict[str, Any]) -> list[str]:
    told = {one["campaign"]: one for one in statistics["campaigns"]}
    campaigns = Campaign.objects.filter(target=dataset, name__in=told).order_by("id")
    made = [paragraph for campaign in campaigns for paragraph in _campaign(campaign, told[campaign.name])]
    imported = (
        f"Imported from files in the format {dataset.source_format or 'of another program'}; nothing in this dataset "
        "was annotated here."
    )
    return [*(made or [imported]), *corrections_told(statistics["corrections"])]


def _campaign(campaign: Campaign, told: dict[str, Any]) -> list[str]:
    sessions, figures = campaign.sessions.filter(released__dataset=campaign.target), WorkFigures.of(campaign)
    work, verdicts = figures.work, figures.verdicts
    facts = work.aggregate(people=Count("user", distinct=True), rounds=Max("round"))
    stages = work.values("item__stage").annotate(people=Count("user", distinct=True), n=Count("id"))
    by_stage = {row["item__stage"]: row for row in stages}
    accepted = verdicts.filter(outcome=Verdict.Outcome.ACCEPT).count()
    versions = sorted(set(work.exclude(guideline=None).values_list("guideline__version", flat=True)))
    done = "; ".join(
        f"{stage}: {by_stage[stage]['n']:,} by {_people(by_stage[stage]['people'])}"
        for stage in ("decompose", "rewrite", "verify")
        if stage in by_stage
    )
    lines = [
        f"The campaign “{campaign.name}” organised tasks of the dataset {campaign.source.name} into sessions and "
        f"annotated these in three stages: {sessions.count():,} sessions have passed, by {_people(facts['people'])} "
        f"({done or 'nothing submitted'}).",
        f"Each item was decomposed and rewritten by {_people(campaign.overlap)} and verified by "
        f"{_people(campaign.verify_overlap)}{', who did not see each other’s work' if campaign.blind else ''}. "
        f"Verifiers gave {verdicts.count():,} verdicts, {accepted:,} of them accepted; the longest way took "
        f"{facts['rounds'] or 0} round(s).",
    ]
    if versions:
        lines.append(f"Guidelines in use: version {', '.join(map(str, versions))}.")
    sentences = (
        ("Agreement of people who did the same independently: {}.", _agreement(told["agreement"])),
        ("Time at work, as the pages of the workbench tell: {}.", _spent(told["effort_seconds"])),
        ("Defects that verifiers named: {}.", _counted(told["defects"])),
        ("Phenomena that annotators marked: {}.", _counted(told["phenomena"])),
        ("{}", figures.unseen()),
        ("{}", figures.merged()),
    )
    lines += [sentence.format(facts) for sentence, facts in sentences if facts]
    if campaign.proposer:
        models = sorted(set(campaign.proposals.values_list("model_name", flat=True)))
        came = f"Proposals came from {', '.join(models)}; people decided about each."
        lines.append(came if models else "Proposals were offered, and nobody asked for any.")
    return lines


class WorkFigures(NamedTuple):
    """The figures of one campaign: how much work it was, what was found wrong in it, and what its conversations
    hold."""

    work: QuerySet[Assignment]
    verdicts: QuerySet[Verdict]
    turns: QuerySet[Turn]

    @classmethod
    def of(cls, campaign: Campaign) -> "WorkFigures":
        """The campaign's figures, over its sessions in the target dataset and the work that was handed in."""
        sessions = campaign.sessions.filter(released__dataset=campaign.target)
        work = Assignment.objects.active().filter(item__session__in=sessions).exclude(submitted_at=None)
        verdicts = Verdict.objects.filter(assignment__item__session__in=sessions)
        return cls(work, verdicts, Turn.objects.filter(conversation__in=sessions.values("released")))

    @classmethod
    def of_campaigns(cls, dataset: Dataset) -> list[dict[str, Any]]:
        """For each campaign of a dataset, as data, what the datasheet says in sentences."""
        return [
            {
                "campaign": campaign.name,
                "effort_seconds": (figures := cls.of(campaign)).effort(),
                "defects": figures.defects(),
                "phenomena": figures.phenomena(),
                "agreement": _measures(CampaignAgreement(campaign).report()),
            }
            for campaign in Campaign.objects.filter(target=dataset).order_by("id")
        ]

    def effort(self) -> dict[str, int]:
        """Seconds of work per stage, and of making one of two versions (`curate`). Work of programs has no time, and
        what took none is left out."""
        rows = self.work.order_by().values("item__stage").annotate(seconds=Sum("active_seconds"))
        spent = {row["item__stage"]: row["seconds"] for row in rows}
        made = Curation.objects.finished().filter(taken__in=self.work).aggregate(seconds=Sum("active_seconds"))
        spent["curate"] = made["seconds"]
        return {what: spent[what] for what in (*Stage.values, "curate") if spent.get(what)}

    def defects(self) -> dict[str, int]:
        rows = Defect.objects.filter(verdict__in=self.verdicts).order_by().values("code").annotate(n=Count("pk"))
        return {row["code"]: row["n"] for row in rows.order_by("-n", "code")}

    def phenomena(self) -> dict[str, int]:
        marked = (extra.get("mentions") for extra in self.turns.values_list("extra", flat=True))
        counts = Counter(one["phenomenon"] for mentions in marked if isinstance(mentions, list) for one in mentions)
        return dict(sorted(counts.items(), key=lambda pair: (-pair[1], pair[0])))

    def unseen(self) -> str:
        """A sentence on verdicts that rest on checks alone, and on what people found in those that were held back; ""
        for none."""
        found = tally(BulkAccept.objects.filter(accepted__in=self.verdicts).distinct())
        if not found.accepted:
            return ""
        said = f"{amount(found.accepted, 'verdict')} accepted at once what all checks found in order"
        looked = f"people looked at {found.looked_at:,} that were held back and returned {found.returned:,}"
        return f"{said}; {looked}: {found.through.low:,} to {found.through.high:,} of the others are faulty (95 %)."

    def merged(self) -> str:
        """A sentence on conversations that a person made of two versions; "" for none."""
        rows = Curation.objects.finished().filter(taken__in=self.work)
        count = rows.values("taken__item__session").distinct().order_by().count()
        of = f"Of {amount(count, 'conversation')} two people’s versions were made one by somebody who made neither"
        return f"{of}, difference by difference." if count else ""


def _spent(seconds: dict[str, int]) -> str:
    return ", ".join(f"{stage} {span_text(spent)}" for stage, spent in seconds.items())


def _counted(counts: dict[str, int]) -> str:
    return ", ".join(f"{name} {n:,}" for name, n in counts.items())


def _measures(found: AgreementReport) -> dict[str, dict[str, Any]]:
    """The measures of agreement that exist, by the keys of `MEASURES`."""
    kappa = f"verdicts_{found.kappa_kind.lower()}_kappa"
    values = {"cuts_boundary_similarity": found.cuts, "rewrites_chrf": found.words, kappa: found.kappa}
    return {
        name: {"value": one.value, "low": one.low, "high": one.high, "comparisons": one.n, "sessions": one.sessions}
        for name, one in values.items()
        if one.value is not None
    }


def _agreement(told: dict[str, dict[str, Any]]) -> str:
    """The measures as a text, with the number of comparisons, and 95% intervals where there are enough sessions."""
    return "; ".join(
        f"{MEASURES[name]} {one['value']:z.2f}"
        + (f" [{one['low']:z.2f}, {one['high']:z.2f}]" if one["low"] is not None and one["high"] is not None else "")
        + f" ({amount(one['comparisons'], 'comparison')})"
        for name, one in told.items()
    )


def _people(count: int) -> str:
    return amount(count, "person", "people")


def _checks(release: Release) -> list[str]:
    checks = release.checks
    leakage, found = checks["leakage"], checks["privacy"]["found"]
    private = [
        f"- {kind}: {found[kind]['texts']:,} different, in "
        + ", ".join(
            f"{words} ({found[kind]['places'][place]:,})"
            for place, words in PLACES.items()
            if place in found[kind]["places"]
        )
        for kind in KINDS
        if kind in found
    ]
    return [
        "Split rules: all kept.",
        f"Leakage: {leakage['near_duplicates']:,} pairs of instructions in different splits are alike (Jaccard "
        f"similarity of word {leakage['shingle_words']}-shingles of {leakage['threshold']:g} or more); "
        f"{leakage['shared_tasks']:,} source tasks lie in more than one split; {leakage['shared_pages']:,} pages have "
        "the same content in more than one split, as a site shows the same page to everybody.",
        f"Private data, searched by patterns in instructions, values, {checks['privacy']['scanned']:,} pages and other "
        f"large texts: {'nothing was found.' if not private else 'found, looked at and accepted:'}",
        "\n".join(private),
    ]


def _redactions(dataset: Dataset) -> list[str]:
    rows = Redaction.objects.filter(dataset=dataset).values("kind", "place").annotate(n=Count("id"))
    listed = [f"- {row['kind']} in {PLACES[row['place']]}: {row['n']:,}" for row in rows.order_by("kind", "place")]
    if not listed:
        return ["None."]
    return ["Private texts were replaced by their kind in brackets, such as [email]:", "\n".join(listed)]


def _limits(release: Release) -> list[str]:
    limits = [
        "- Patterns find e-mail addresses, phone and card numbers, common forms of access tokens and common English "
        "given names before a capitalised word. Other names, addresses and numbers, and what screenshots show, are "
        "not found.",
        "- Pages are recordings: they do not answer other actions than the recorded one.",
    ]
    splits = release.statistics["splits"].values()
    without = sum(figures["steps_without_gold"] for figures in splits)
    pruned = sum(figures["steps_with_pruned_gold"] for figures in splits)
    if without:
        limits.append(f"- {without:,} steps have no gold element.")
    if pruned:
        limits.append(f"- At {pruned:,} steps a gold element is not in the cleaned page.")
    return [
        "Made to train and evaluate agents that follow instructions on web pages over several turns.",
        "\n".join(limits),
    ]


def _distribution(release: Release) -> list[str]:
    return [
        f"Licence: {release.licence}",
        f"Consent: {release.consent}",
        f"SHA-256 of the release (of the checksums of its conversations, in order): {release.sha256}",
        f"Canary: {release.checks['canary']} – text that holds this line should not be used to train models that are "
        "evaluated on this dataset. It is in this datasheet, which goes with every export, and in every line of an "
        "export as JSONL; the other formats have no place for it.",
    ]
