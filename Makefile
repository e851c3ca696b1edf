# Everything is installed into .venv from the pinned requirements; nothing else on the machine is touched,
# but for Debian's chromium, which `make test` installs where apt can be used.
PYTHON ?= $(or $(shell command -v python3.11),python3)
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check
HOME_DIR := $(or $(PAPER_TRAIL_HOME),home)
PORT ?= 8501
ADDRESS ?= 127.0.0.1
# The hosts that requests may be addressed to, where others than this machine reach the server.
HOSTS ?=
CODE := streamlit_app.py corpus indexer assistant explorer evaluation tests
export HF_HUB_DISABLE_TELEMETRY := 1

.PHONY: app demo test lint format bench bench-app demo-pdfs screenshots chromium clean

app: $(VENV)/installed $(HOME_DIR)/corpus/manifest.json
	@echo "Paper Trail: http://$(ADDRESS):$(PORT)   (stop with Ctrl+C)"
	@$(BIN)/streamlit run streamlit_app.py --server.port $(PORT) --server.address $(ADDRESS) \
	  $(foreach host,$(HOSTS),--server.allowedHosts $(host))

demo: $(VENV)/installed
	$(BIN)/python -m indexer demo

$(HOME_DIR)/corpus/manifest.json: | $(VENV)/installed
	$(BIN)/python -m indexer demo

$(VENV)/installed: requirements.txt
	$(PYTHON) -m venv $(VENV)
	$(PIP) -r requirements.txt
	@touch $@

$(VENV)/installed-dev: $(VENV)/installed requirements-dev.txt
	$(PIP) -r requirements-dev.txt
	@touch $@

lint: $(VENV)/installed-dev
	$(BIN)/ruff check $(CODE)
	$(BIN)/ruff format --check $(CODE)
	$(BIN)/mypy

format: $(VENV)/installed-dev
	$(BIN)/ruff check --fix $(CODE)
	$(BIN)/ruff format $(CODE)

# Each process has the tests of whole files, and its own copy of the demonstration.
TEST_PROCESSES ?= 2
test: lint chromium
	$(BIN)/pytest -n $(TEST_PROCESSES) --dist loadfile

# Without a browser the browser tests skip and say so.
chromium:
	@command -v chromium chromium-browser google-chrome > /dev/null || \
	  { [ "$$(id -u)" = 0 ] && command -v apt-get > /dev/null && apt-get update -qq && \
	    apt-get install -y -qq --no-install-recommends chromium fonts-dejavu-core > /dev/null; } || \
	  echo "No Chromium, and apt-get cannot be used: the browser tests will skip."

# A local copy of the Anthology's data makes the figures those of real volumes; without, the demonstration's.
ANTHOLOGY ?= $(wildcard ../shared/data/acl_anthology)
# A million passages take a quarter of an hour and 4 GB for a while.
SEARCH_ROWS ?= 50000
bench: $(VENV)/installed-dev
	$(BIN)/python -m evaluation bench --search-rows $(SEARCH_ROWS)
	$(BIN)/python -m evaluation bench $(if $(ANTHOLOGY),--anthology $(ANTHOLOGY))

# Takes about four minutes, and one more to index real volumes; `SESSIONS="1 10 25 50"` takes each of these.
SESSIONS ?= 25
bench-app: $(VENV)/installed-dev
	$(BIN)/python -m evaluation bench-app $(foreach count,$(SESSIONS),--sessions $(count)) \
	  $(if $(ANTHOLOGY),--anthology $(ANTHOLOGY))

# Renders the demonstration papers again from their sources; the PDFs are committed.
demo-pdfs: $(VENV)/installed-dev
	$(BIN)/python -m corpus.demo.render

# Takes the README's pictures of every screen anew, of the demonstration alone.
screenshots: $(VENV)/installed-dev chromium
	$(BIN)/python -m tests.browser.take_screenshots

# Leaves the corpus alone: `rm -r home` makes a fresh product.
clean:
	rm -rf $(VENV) build .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find . -name __pycache__ -not -path './$(VENV)/*' -prune -exec rm -rf {} +
