"""The tables of the admin lie with the rooms that work with their rows; here Django finds them."""

import annotations.access.admin
import annotations.campaigns.admin
import annotations.campaigns.propose.admin
import annotations.campaigns.queue.admin
import annotations.corpus.admin
import annotations.desk.discuss.admin
import annotations.desk.keys.admin
import annotations.edits.admin
import annotations.jobs.admin
import annotations.pages.admin
import annotations.releases.admin
import annotations.tell.admin
import annotations.work.verify.admin  # noqa: F401
