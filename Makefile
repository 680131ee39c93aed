# What each target does: `make help`. Everything lives in .venv; nothing outside this folder is changed.

PY := .venv/bin/python
# Where bytecode is not kept, every worker compiles the explorer, and every run all of its tests, anew.
unexport PYTHONDONTWRITEBYTECODE
.DEFAULT_GOAL := help
.PHONY: help run test whole quick durations sample jax mutants faults lint docs bench bench-compare bench-packages claims app screenshots catalogue recorded versions smoke corpus clean

# The first of these that really runs, has venv and pip, and is a version that MindSpore 2.10.0 has wheels for.
# (A name can exist and still fail to run: version managers leave such shims.) `make run PYTHON=...` names another.
PYTHON ?=
CANDIDATES := $(or $(PYTHON),python3 python3.12 python3.11 python3.10 python)
FITS := import ensurepip, sys, venv; sys.exit(not (3, 10) <= sys.version_info[:2] <= (3, 12))

help: ## list the targets
	@sed -n 's/^\([a-z-]*\):.*## /\1\t/p' Makefile | expand -t 16

run: .venv/.run ## install what the explorer needs, then compare the engines on dense_mse into out/dense_mse
	$(PY) -m explorer scenario dense_mse --out out/dense_mse

test: .venv/.dev ## run the tests, on samples where there are many nets, in five to eight minutes (those of the app need Chromium: `apt-get install chromium`)
	$(PY) -m pytest -n 2 --durations=30

# SHARD=1/3 runs a third of them.
SHARD ?=
whole: .venv/.dev .jax/.installed ## run all of them, JAX's too, on every case of every scenario, net and planted mistake: an hour; SHARD=1/3 for a third
	EXPLORER_JAX_PYTHON=$(CURDIR)/.jax/bin/python $(PY) -m pytest -n 2 --whole --durations=30 $(if $(SHARD),--shard $(SHARD))

quick: .venv/.dev ## run the tests that need no framework and no browser and are not slow, in under a minute
	$(PY) -m compileall -q explorer
	$(PY) -m pytest -n 2 --quick

# Where replies of workers are kept, a test takes next to nothing.
durations: .venv/.dev .jax/.installed ## note what the tests take, which orders them: an hour on a machine that does nothing else
	rm -rf out/tests
	$(PY) -m pytest -n 2 --keep-durations
	rm -rf out/tests
	EXPLORER_JAX_PYTHON=$(CURDIR)/.jax/bin/python $(PY) -m pytest -n 2 --whole --keep-durations

sample: .venv/.dev ## run what shows that a Python is supported: each kind of worker, each study, the board, the first page, the packages
	$(PY) -m pytest -n 2 --whole -m sample

jax: .venv/.dev .jax/.installed ## run the tests that need JAX, which gets an environment of its own
	EXPLORER_JAX_PYTHON=$(CURDIR)/.jax/bin/python $(PY) -m pytest -n 2 -m jax

# (On Python 3.11 or 3.12; an installation that was cut off leaves no stamp.)
.jax/.installed: requirements-jax.txt | .venv/bin/python
	$(PY) -m venv .jax
	.jax/bin/python -m pip install --disable-pip-version-check --quiet -r requirements-jax.txt
	touch $@

# All areas, or one: `make mutants AREA=align SAMPLE=60 SEED=2`; SAMPLE=0 takes every mutant.
AREA ?= all
SAMPLE ?= 60
SEED ?= 1
mutants: .venv/.dev ## make small changes to the pure core, AREA by area, and count those that its tests notice
	$(PY) -m tests.mutation --area $(AREA) --sample $(SAMPLE) --seed $(SEED)

faults: .venv/.dev ## plant the mistakes of tests/faults one by one in a copy, and see that each is noticed: a quarter of an hour
	$(PY) -m tests.faults

corpus: .venv/.dev ## write anew what is recorded of every shipped scenario into tests/corpus/recorded, a quarter of an hour; NAMES="lstm real/gpt" for some
	$(PY) -m tests.corpus $(NAMES)

lint: .venv/.dev ## check style and layout (ruff) and types (mypy --strict)
	$(PY) -m ruff check .
	$(PY) -m ruff format --check .
	$(PY) -m mypy
	$(PY) -m mypy -p docs.site

docs: .venv/.dev ## draw the architecture and build the documentation into out/site; warnings are errors
	$(PY) docs/draw_architecture.py
	$(PY) -m mkdocs build --strict --site-dir out/site

bench: .venv/.dev ## measure the explorer: one table, kept as JSON in out/bench; NAMES="align help" for some benchmarks
	$(PY) -m benchmarks $(NAMES)

bench-compare: .venv/.dev ## set two runs of `make bench` side by side: A=out/bench/ONE.json B=out/bench/OTHER.json
	$(PY) -m benchmarks.compare $(A) $(B)

bench-packages: .venv/.dev .packages/.installed .jax/.installed ## compare whole nets of packages, mindcv's with torchvision's and flax's with PyTorch's: an hour or more; ARGUMENTS="--pairs resnet18" for some, "--mistakes" for mistakes planted in them
	EXPLORER_JAX_PYTHON=$(CURDIR)/.jax/bin/python $(PY) -m benchmarks.packages $(ARGUMENTS)

# Beside .venv: they would bring another build of the frameworks along.
.packages/.installed: benchmarks/packages.txt .venv/.dev
	$(PY) -m pip install --no-deps --upgrade --target .packages -r benchmarks/packages.txt
	touch $@

claims: .venv/.run ## check what the migration guides say, and write a page for each claim into docs/claims
	$(PY) -m explorer --lang en claims --fresh --pages docs/claims

app: .venv/.run ## start the app on http://localhost:8501
	$(PY) -m explorer app

screenshots: .venv/.dev ## take a picture of every page of the app, both themes, three widths, into out/screenshots
	$(PY) docs/take_screenshots.py

versions: .venv/.dev ## run every environment that `explorer env list` has, and write docs/reference/versions.md: half an hour
	$(PY) docs/write_versions.py $(NAMES)

# Each in an environment of its own that goes again.
smoke: .venv/.run ## run the oldest MindSpore, or SMOKE="torch==2.2.2 torch==2.15.0", where pip finds it; five minutes each
	$(PY) -m tests.versions.smoke $(SMOKE)

catalogue: .venv/.dev ## compile the app's texts in other languages, after a change in explorer/text/locale
	$(PY) -m babel.messages.frontend compile --domain "app topics scenarios" --directory explorer/text/locale

recorded: .venv/.dev ## record the results of everything shipped, which the app shows until it is run: a quarter of an hour
	$(PY) -m explorer.report.recorded.recording

clean: ## remove what the commands wrote (.venv stays)
	rm -rf out .pytest_cache .mypy_cache .ruff_cache .hypothesis

.venv/bin/python:
	@for python in $(CANDIDATES); do \
	  if $$python -c '$(FITS)' >/dev/null 2>&1 </dev/null; then \
	    echo "creating .venv with $$python ($$($$python --version))"; exec $$python -m venv .venv; \
	  fi; \
	done; \
	echo "no Python 3.10, 3.11 or 3.12 with venv among: $(CANDIDATES); install one, or name it: make PYTHON=/path/to/python3.11" >&2; exit 1

# A stamp is newer than the requirements it stands for, so a second run installs nothing.
.venv/.run: requirements.txt | .venv/bin/python
	$(PY) -m pip install --disable-pip-version-check --quiet -r requirements.txt
	@touch $@

.venv/.dev: requirements-dev.txt requirements.txt | .venv/bin/python
	$(PY) -m pip install --disable-pip-version-check --quiet -r requirements-dev.txt
	@touch $@ .venv/.run
