# Everything works on a machine that has Python 3.11, 3.12 or 3.13, git and make. PYTHON=... names another than the first.
PYTHON ?=
PORT ?= 8000
BIND ?= 127.0.0.1
SAMPLE ?= yes
# Three processes for two cores, as browsers and databases keep a test waiting; the tests of a file stay together.
# PARALLEL= runs them one after the other.
CORES := $(shell getconf _NPROCESSORS_ONLN 2>/dev/null || echo 2)
PARALLEL ?= -n $(shell expr \( $(CORES) \* 3 + 1 \) / 2) --maxprocesses 6 --dist loadfile --no-loadscope-reorder
RUN = .venv/bin/python manage.py
ALONE = --disable-plugin-autoload -W ignore::pytest.PytestConfigWarning
# Tests that read the code and run none of it: who imports whom, names, sizes, what the docs tell. `make lint` runs them.
STRUCTURE = $(addprefix tests/test_,imports.py names.py verbs.py sizes.py wiring.py docs_cited.py unused.py typed.py relations.py)
PYTEST = .venv/bin/python -m pytest $(STRUCTURE:%=--ignore=%)
# Kept bytecode saves seconds, whatever the shell says.
export PYTHONDONTWRITEBYTECODE =

.PHONY: run test test-core test-all warm warm-first warm-second compiled bench load soak format gates lock chromium backup restore stop
.PHONY: lint lint-layout lint-types lint-structure lint-faces

run: .venv/installed ## the app, workers and embedded servers, until Ctrl-C
	@PORT=$(PORT) exec $(RUN) up --port $(PORT) --bind $(BIND) --sample $(SAMPLE)

test: .venv/installed chromium compiled ## everything but the tests marked slow, and those of the structure, which are lint's
	@exec $(PYTEST) $(PARALLEL) $(ARGS)

test-core: .venv/installed ## the cores alone, without database and Django: 5 seconds
	@exec .venv/bin/python -m pytest --core $(ALONE) $(ARGS)

# Those that measure time come first, while nothing else runs. Of none that ARGS chooses, pytest ends with 5.
test-all: .venv/installed chromium ## what CI runs beside lint: slow tests too
	@$(PYTEST) -n 1 --dist loadfile -m "timed and not gpu and not live" $(ARGS) || test $$? -eq 5; timed=$$?; \
	$(PYTEST) $(PARALLEL) -m "not timed and not gpu and not live" --durations=12 $(ARGS) && exit $$timed

# Tests are compiled once, in two halves on two cores: each of the processes that run them would do it all for itself.
warm: warm-first warm-second ## compiles what tests are and import
warm-first: HALF = tests/a*/ tests/b*/ tests/test_*.py
warm-second: HALF = tests/[c-z]*/
warm-first warm-second: .venv/installed
	-@.venv/bin/python -m pytest --collect-only -q -m "not gpu and not live" $(HALF) >/dev/null

compiled: .venv/installed
	@test -d tests/__pycache__ || $(MAKE) --silent --jobs=2 warm

bench: .venv/installed ## benchmarks: a table, and var/bench.json
	@exec $(RUN) bench $(ARGS)

load: .venv/installed ## fifty annotators for ten minutes, on a database of their own: a table, and var/load/load.json
	@exec .venv/bin/python -m tests.load.annotators $(ARGS)

soak: .venv/installed ## 2,000 live episodes in a row on one worker, 20 browsers killed meanwhile: a table, and fails where it must not
	@exec .venv/bin/python -m tests.load.soak $(ARGS)

lint: lint-layout lint-types lint-structure lint-faces ## format, types, and the structure of the code; needs no database

lint-layout: .venv/installed
	.venv/bin/ruff check . && .venv/bin/ruff format --check .
	git grep -niE "# *(fmt: *(skip|on|off)|yapf:|(ruff|flake8) *[:=] *(noqa|ignore|disable)|noqa *:.*C901)" -- "*.py"; test $$? -eq 1
	git grep -nE "@ts-(ignore|expect-error|nocheck)" -- "*.js" "*.ts"; test $$? -eq 1
	git grep -nE "prettier-ignore|djangofmt *: *ignore" -- "*.js" "*.ts" "*.css" "*.html" "*.json"; test $$? -eq 1
	.venv/bin/djangofmt --check templates

lint-types: .venv/installed
	.venv/bin/mypy

lint-structure: .venv/installed
	.venv/bin/python -m pytest --core $(ALONE) $(STRUCTURE)

lint-faces: .venv/installed
	@.ci/lint_faces.sh

format: .venv/installed ## lays out Python, templates, and with npm scripts and styles, as lint wants them
	.venv/bin/ruff check --fix-only --quiet . && .venv/bin/ruff format .
	.venv/bin/djangofmt templates
	@.ci/lint_faces.sh format

gates: .venv/installed ## the lock fits, no insecure pattern, no known vulnerability, settings fit for production
	.venv/bin/python -m webnav_site.locks check
	.venv/bin/bandit --quiet --recursive --configfile pyproject.toml agents annotations evaluation webnav_site manage.py
	APP_ORIGIN=https://webnav.example SNAPSHOT_ORIGIN=https://pages.example $(RUN) check --deploy --fail-level WARNING
	.venv/bin/python .ci/audit.py

lock: .venv/installed ## after a change of requirements.txt: versions and hashes of everything it needs
	.venv/bin/python -m webnav_site.locks write

chromium: .venv/installed ## finds a browser for the tests, or installs one
	@.venv/bin/python -m webnav_site.chromium

backup: .venv/installed ## database, uploads, models and secrets as one archive below var/backups/
	@$(RUN) backup $(ARGS)

restore: .venv/installed ## make restore FILE=... : a backup in place of what is here, after its name was typed
	@$(RUN) restore "$(FILE)" $(ARGS)

stop: .venv/installed ## stops what make run has started, also when its terminal was lost   (ARGS=--now)
	@$(RUN) down $(ARGS)

.venv/installed: requirements.txt webnav_site/locks/common.lock webnav_site/locks/torch.lock webnav_site/locks/weights.lock
	@sh webnav_site/install.sh $(PYTHON)
