"""Fifty annotators at work on one machine: `make load`, or `python -m tests.load.annotators --people 50 --minutes 10`.

Starts the app as `make run` does, on a database of its own below var/load, fills it with recorded tasks, and lets every
person claim items, open them, type, cut and undo as a browser would, and hand them in. Some save from two tabs with
what they have seen before, so that merging is part of it. Prints percentiles of every request and checks at the end

- that every saved text is in the database as the browser last knew it (no lost update),
- that nobody got a place of an item that somebody else had (no lease given twice),
- that the 95th percentile of a save is below 150 ms; exits with 1 otherwise.
"""

import argparse
import asyncio
import json
import os
import random
import subprocess
import sys
import time
import uuid
from collections import Counter, defaultdict
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.request import urlopen

ROOT = Path(__file__).resolve().parents[2]
VAR = ROOT / "var" / "load"
GOAL_MS = 150
WORDS = "find the cheaper one in Boston for two adults on Friday and add it to my list please".split()


@dataclass
class Tally:
    """What was measured, and what each browser believes to be saved."""

    seconds: defaultdict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    counts: Counter = field(default_factory=Counter)
    believed: dict[tuple[int, int], str] = field(default_factory=dict)  # (assignment, first step) -> rewrite

    problems: list[str] = field(default_factory=list)


class Person:
    """One browser with its session."""

    def __init__(self, client: Any, name: str, campaign: int, tally: Tally, pace: float) -> None:
        self.client, self.name, self.campaign, self.tally, self.pace = client, name, campaign, tally, pace
        self.random = random.Random(name)

    async def work(self, until: float) -> None:
        assignment = None
        while time.monotonic() < until:
            assignment = assignment or await self._next()
            if assignment is None:
                await asyncio.sleep(self.pace)
            else:
                assignment = await self._do(assignment, until)

    async def _next(self) -> int | None:
        """Claim the next item; the answer leads to its page."""
        begun = time.perf_counter()
        answer = await self.client.post("/annotate/next/", data={"campaign": str(self.campaign)})
        self.tally.seconds["claim"].append(time.perf_counter() - begun)
        if answer.status_code == 302:
            return _named(answer.headers["location"])
        if answer.status_code != 200:
            self.tally.problems.append(f"{self.name}: a claim answered {answer.status_code}")
        self.tally.counts["nothing to do"] += 1
        return None

    async def _do(self, pk: int, until: float) -> int | None:
        """One item from its page to handing it in; the one that the answer leads to, as a browser follows it."""
        path = f"/annotate/assignments/{pk}/"
        await self._ask("page", "GET", path)
        taken = await self._ask("take", "POST", f"{path}take/", {})
        answer = await self._ask("document", "GET", f"{path}document/")
        if taken.status_code != 200 or answer.status_code != 200:
            self.tally.problems.append(f"{self.name}: {taken.status_code} {answer.status_code} for assignment {pk}")
            return None
        document, token = answer.json(), taken.json()["token"]
        name = "rewrite" if document["stage"] == "rewrite" else "instruction"
        texts = {part["step"]: part[name] for part in document["parts"]}
        version, beaten = document["version"], time.monotonic()
        for _ in range(self.random.randint(6, 12)):
            if time.monotonic() > until:
                return None
            await asyncio.sleep(self.random.uniform(0.5, 1.5) * self.pace)
            step = self.random.choice(list(texts))
            base = version if self.random.random() < 0.8 else max(0, version - 1)  # an older tab
            text = " ".join(self.random.choices(WORDS, k=self.random.randint(4, 12)))
            edit = {"op_id": str(uuid.uuid4()), "kind": "text", "step": step, "field": name, "before": texts[step]}
            body = {"base": base, "token": token, "edits": [edit | {"after": text}]}
            saved = await self._ask("save", "POST", f"{path}edits/", body)
            if saved.status_code != 200:
                self.tally.problems.append(f"{self.name}: save answered {saved.status_code} {saved.text[:100]}")
                return None
            answer = saved.json()
            self.tally.counts[answer["results"][0]["status"]] += 1
            texts = {part["step"]: part[name] for part in answer["parts"]}
            if texts[step] != text:
                self.tally.problems.append(f"{self.name}: {text!r} became {texts[step]!r}")
            version = answer["version"]
            for first, kept in texts.items():
                self.tally.believed[pk, first] = kept
            if time.monotonic() - beaten > 20:
                await self._ask("heartbeat", "POST", f"{path}lease/", {"token": token})
                beaten = time.monotonic()
        done = await self._ask("submit", "POST", f"{path}submit/", {"base": version, "token": token, "sure": True})
        self.tally.counts[f"submit {done.status_code}"] += 1
        following = done.json().get("next") if done.status_code == 200 else None
        return _named(following) if following else None

    async def _ask(self, name: str, method: str, path: str, body: dict | None = None) -> Any:
        begun = time.perf_counter()
        answer = await self.client.request(method, path, json=body)
        self.tally.seconds[name].append(time.perf_counter() - begun)
        if answer.status_code >= 500:
            self.tally.problems.append(f"{method} {path} answered {answer.status_code}")
        return answer


def _named(address: str) -> int:
    """The assignment whose page this is."""
    return int(address.rstrip("/").rpartition("/")[2])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--people", type=int, default=50)
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--pace", type=float, default=3.0, help="mean seconds between two saves of a person")
    parser.add_argument("--port", type=int, default=8123)
    options = parser.parse_args()
    os.environ |= {"WEBNAV_VAR": str(VAR), "DJANGO_SETTINGS_MODULE": "webnav_site.settings", "PORT": str(options.port)}
    import django

    with _running(options.port):
        django.setup()
        campaign, cookies = _fill(options.people)
        tally = asyncio.run(_load(options, campaign, cookies))
        sys.exit(_report(tally, options))


@contextmanager
def _running(port: int) -> Iterator[None]:
    """The app as `make run` starts it, until the block ends."""
    VAR.mkdir(parents=True, exist_ok=True)
    command = [sys.executable, "manage.py", "up", "--port", str(port), "--sample", "no"]
    with (VAR / "up.log").open("w") as log:
        process = subprocess.Popen(command, cwd=ROOT, stdout=log, stderr=log)
    try:
        _wait_for(f"http://localhost:{port}/login/")
        yield
    finally:
        # Not by Ctrl-C's signal: what a shell runs in the background ignores it, and so does all that it starts.
        subprocess.run([sys.executable, "manage.py", "down"], cwd=ROOT, timeout=180, check=False)
        process.wait(timeout=60)


def _wait_for(address: str, seconds: float = 300) -> None:
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        try:
            urlopen(address, timeout=20).close()
            return
        except OSError:
            time.sleep(0.5)
    sys.exit(f"The app did not start; see {VAR / 'up.log'}")


def _fill(people: int) -> tuple[int, list[str]]:
    """A campaign with enough sessions for everyone, and a signed-in browser session for each person."""
    from django.conf import settings
    from django.test import Client

    from annotations.desk import moving_on
    from tests import factories

    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
    run = uuid.uuid4().hex[:8]
    project = factories.make_project(name=f"Load {run}", slug=f"load-{run}")
    dataset = factories.make_dataset(project, name=f"load-{run}")
    campaign = factories.make_campaign(source=dataset, name=f"load {run}")
    website = factories.make_website(dataset)
    for number in range(people * 12):
        session = factories.make_session(campaign, tasks=2, steps=4, name=f"session {number}", website=website)
        moving_on.open_work(session)
    cookies = []
    for number in range(people):
        user = factories.make_user("annotator", project, username=f"load-{run}-{number}")
        client = Client()
        client.force_login(user)
        cookies.append(client.cookies[settings.SESSION_COOKIE_NAME].value)
    return campaign.pk, cookies


@asynccontextmanager
async def _browser(port: int, cookie: str) -> AsyncIterator[Any]:
    """A client with the session and the token that guards against forged requests."""
    import httpx2

    token = uuid.uuid4().hex
    headers = {"X-CSRFToken": token, "Referer": f"http://localhost:{port}/"}
    cookies = {"sessionid": cookie, "csrftoken": token}
    address = f"http://localhost:{port}"
    async with httpx2.AsyncClient(base_url=address, headers=headers, cookies=cookies, timeout=30) as client:
        yield client


async def _load(options: argparse.Namespace, campaign: int, cookies: list[str]) -> Tally:
    tally, until = Tally(), time.monotonic() + options.minutes * 60

    async def one(number: int, cookie: str) -> None:
        async with _browser(options.port, cookie) as client:
            await asyncio.sleep(options.pace * number / len(cookies))  # they do not all arrive in the same second
            await Person(client, f"person {number}", campaign, tally, options.pace).work(until)

    await asyncio.gather(*(one(number, cookie) for number, cookie in enumerate(cookies)))
    return tally


def _report(tally: Tally, options: argparse.Namespace) -> int:
    """Prints the table and what went wrong; the exit status."""
    problems = [*tally.problems, *_lost_updates(tally), *_doubled()]
    print(f"{'request':10} {'n':>7} {'p50 ms':>8} {'p95 ms':>8} {'p99 ms':>8} {'max ms':>8}")
    figures = {}
    for name, seconds in sorted(tally.seconds.items()):
        p50, p95, p99, most = (1000 * value for value in _percentiles(seconds))
        figures[name] = {"n": len(seconds), "p50_ms": p50, "p95_ms": p95, "p99_ms": p99, "max_ms": most}
        print(f"{name:10} {len(seconds):7} {p50:8.1f} {p95:8.1f} {p99:8.1f} {most:8.1f}")
    print(", ".join(f"{name}: {count}" for name, count in sorted(tally.counts.items())))
    slow = figures.get("save", {}).get("p95_ms", float("inf")) > GOAL_MS
    print(
        f"{options.people} people, {options.minutes:g} minutes; {len(problems)} problems; p95 of a save "
        f"{'above' if slow else 'below'} {GOAL_MS} ms"
    )
    for problem in problems[:20]:
        print("  ", problem)
    (VAR / "load.json").write_text(json.dumps({"figures": figures, "counts": tally.counts, "problems": problems}))
    return int(slow or bool(problems))


def _percentiles(seconds: list[float]) -> tuple[float, float, float, float]:
    ordered = sorted(seconds)
    return tuple(ordered[min(len(ordered) - 1, int(len(ordered) * share))] for share in (0.5, 0.95, 0.99, 1.0))


def _lost_updates(tally: Tally) -> list[str]:
    """Texts of the database that are not what the browser was last told."""
    from annotations.models import Part

    rows = Part.objects.select_related("assignment__item").filter(assignment__in={pk for pk, _ in tally.believed})
    stored = {
        (part.assignment_id, part.first_step_id): part.rewrite
        if part.assignment.item.stage == "rewrite"
        else part.instruction
        for part in rows
    }
    return [
        f"assignment {pk}, step {step}: {text!r} was saved, {stored.get((pk, step))!r} is stored"
        for (pk, step), text in tally.believed.items()
        if stored.get((pk, step)) != text
    ]


def _doubled() -> list[str]:
    """Items that more people have than there are places."""
    from django.db.models import Count, F, Q

    from annotations.models import Item

    places = Count("assignments", filter=~Q(assignments__state="released"))
    rows = Item.objects.filter(session__campaign__name__startswith="load").annotate(n=places).filter(n__gt=F("overlap"))
    return [f"{item} was given to {item.n} people" for item in rows]


if __name__ == "__main__":
    main()
