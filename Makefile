# Works from a fresh clone with GNU make and a Python 3.11 or later; nothing else need be installed.
.DEFAULT_GOAL := help
.PHONY: help setup demo serve page docs test coverage check bench soak crash mutants e2e-llm lock clean

PY := .venv/bin/python
READY := .venv/.ready
CHECKED := $(wildcard src tests scripts bench examples hatch_build.py)
WORKERS ?= 3
COMPILE := uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url \
	--custom-compile-command "make lock" $(LOCK_FLAGS)

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / { printf "  make %-8s %s\n", $$1, $$2 }' Makefile

setup: $(READY) ## make .venv from the lock file; instant when nothing changed
	@echo "compact: .venv is ready"

# An environment is made anew when its Python is gone, or when it was copied along with its checkout: it holds paths.
ifneq ($(shell $(PY) -c '' 2>/dev/null && cat $(READY) 2>/dev/null),$(CURDIR))
.PHONY: $(READY)
endif

$(READY): pyproject.toml requirements/dev.txt requirements/uv.txt scripts/uv.sh
	@. scripts/uv.sh && \
	if [ "$$(cat $(READY) 2>/dev/null)" != "$(CURDIR)" ] || ! $(PY) -c '' 2>/dev/null; then \
		echo "compact: making .venv" && uv venv --quiet --clear --python "$$python" .venv; \
	fi && \
	echo "compact: installing requirements/dev.txt into .venv" && \
	uv pip sync --quiet --python $(PY) requirements/dev.txt && \
	uv pip install --quiet --python $(PY) --no-deps --no-build-isolation --editable . && \
	echo "$(CURDIR)" > $(READY)

demo: $(READY) ## see Compact at work, offline
	@COMPACT_OFFLINE=1 $(PY) -m compact demo

page: $(READY) ## build the web page, if its sources changed
	@$(PY) scripts/build_page.py

serve: page ## set everything up, and open the page in a browser
	@.venv/bin/compact serve

docs: $(READY) ## build the documentation as a site: build/site
	@$(PY) scripts/build_docs.py

# In processes that import little else, they take a third of the time.
LAWS = $(shell grep -rl --include='test_*.py' '^@pytest.mark.laws' tests)
test: $(READY) ## run the whole test suite
	$(PY) -m pytest -n $(WORKERS) --dist worksteal --inline-snapshot=disable -m "not clock and not laws" --quiet
	$(PY) -m pytest -n $(WORKERS) --dist worksteal -m laws --quiet $(LAWS)
	$(PY) -m pytest --inline-snapshot=disable -m clock --quiet

# What drives a browser, other processes or whole sessions takes long to trace, and covers little that others do not.
UNTRACED = tests/page tests/lab tests/clients tests/test_docs.py tests/test_examples.py tests/test_record_demo.py tests/test_mutants.py \
	tests/test_golden.py
coverage: $(READY) ## measure branch coverage; below 90% it fails
	$(PY) -m pytest -n $(WORKERS) --dist worksteal --inline-snapshot=disable -m "not clock and not laws" --cov $(UNTRACED:%=--ignore=%)

check: $(READY) ## lint, formatting, types, layers, sizes
	$(PY) -m ruff check $(CHECKED)
	$(PY) -m ruff format --check $(CHECKED)
	$(PY) -m mypy $(CHECKED)
	.venv/bin/lint-imports --no-cache
	$(PY) scripts/check_size.py

bench: $(READY) ## measure speed
	$(PY) -m bench

soak: $(READY) ## run the tests that take minutes, or hours: a million conversations
	COMPACT_SOAK=1 $(PY) -m pytest -n $(WORKERS) --dist worksteal -m soak

KILLS ?= 2000
crash: $(READY) ## kill and break the stores at every call, and 2,000 times at random
	$(PY) -m tests.crash $(KILLS)

COUNT ?= 400
MINUTES ?= 60
mutants: $(READY) ## change the code in 400 small ways, and see whether tests notice; SEED= draws the same again
	$(PY) -m scripts.mutants --count $(COUNT) --minutes $(MINUTES) --workers 2 $(if $(SEED),--seed $(SEED)) $(if $(TESTS),--tests $(TESTS))

e2e-llm: $(READY) ## summarize with a real model on this machine
	@. scripts/uv.sh && $(PY) scripts/e2e_llm.py

lock: ## recompile the lock files; LOCK_FLAGS=--upgrade takes the newest versions
	@. scripts/uv.sh && \
	$(COMPILE) --group bootstrap --output-file requirements/uv.txt && \
	$(COMPILE) pyproject.toml --output-file requirements/runtime.txt && \
	$(COMPILE) pyproject.toml --all-extras --group dev --constraint requirements/runtime.txt --output-file requirements/dev.txt && \
	$(COMPILE) --no-deps --group e2e --output-file requirements/e2e.txt

clean: ## remove everything the other targets made
	rm -rf .venv .uv .e2e .bench web/node_modules src/compact/server/page build dist htmlcov .coverage .coverage.* .hypothesis .inline-snapshot \
		.mypy_cache .pytest_cache .ruff_cache .import_linter_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
