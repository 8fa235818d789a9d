# The house: how Lookalike is built, tried, tested and packed. `make` alone says what there is.
#
# Everything is made in .venv and target. What is done leaves a stamp in .venv/stamps, and the extension is
# built again only when a Rust source is newer than it; Python sources are used where they lie.

SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.NOTPARALLEL:

VENV := .venv
BIN := $(VENV)/bin
STAMPS := $(VENV)/stamps
PIP := $(BIN)/python -m pip
EXTENSION := python/lookalike/_core.abi3.so
RUST := Cargo.toml Cargo.lock $(shell find rust -name '*.rs' -o -name Cargo.toml)

# The system's own python may be older than the one found; the binding is to be built for the one in .venv.
export PYO3_PYTHON := $(CURDIR)/$(BIN)/python
# For our own calls of pip and those maturin makes.
export PIP_QUIET := 1
export PIP_DISABLE_PIP_VERSION_CHECK := 1

# As `make bench` runs them: the peer that needs the most, a Java machine, comes last.
BENCHMARKS := race kernels hostile pipeline prefix crossover expected top append vectors probes bits bitroads draws budget hundred_million mllib
BENCH := $(addprefix bench-,$(BENCHMARKS))

.PHONY: help demo test lint test-rust test-python bench $(BENCH) spark wheel format clean linters

help: ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-12s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

demo: $(EXTENSION) ## build what is needed and run the main job on a made-up corpus
	@$(BIN)/lookalike demo

test: linters lint test-rust test-python ## build what is needed and run every check and test

lint: $(EXTENSION) $(STAMPS)/dev ## formatting, lints, types and layers
	@echo "→ formatting"
	@cargo fmt --check
	@$(BIN)/ruff format --check
	@echo "→ lints"
	@$(BIN)/ruff check
	@cargo clippy --workspace --all-targets -- --deny warnings
	@echo "→ types"
	@$(BIN)/mypy
	@echo "→ layers"
	@$(BIN)/lint-imports

# Only the kernels: the binding is tested from Python, and a test binary of it would have to link libpython.
test-rust: $(STAMPS)/venv ## the tests of the kernels
	@echo "→ tests of the kernels"
	@cargo test --package lookalike-kernels

# The benchmarks are tested too, so the peers they race against must be there.
test-python: $(EXTENSION) $(STAMPS)/dev $(STAMPS)/bench ## the tests of everything else
	@echo "→ tests in Python"
	@$(BIN)/pytest

# A benchmark that fails says so by its exit status; the others are still run.
bench: ## race lookalike against its peers, and each kernel against its limit; bench-NAME for one
	@failed=; for name in $(BENCH); do $(MAKE) --no-print-directory $$name || failed="$$failed $$name"; done; \
	if [[ -n $$failed ]]; then echo "failed:$$failed" >&2; exit 1; fi

$(BENCH): bench-%: $(EXTENSION) $(STAMPS)/bench
	@echo "→ benchmarks.$*"
	@$(BIN)/python -m benchmarks.$* $(ARGUMENTS)

bench-mllib: $(STAMPS)/spark

spark: $(STAMPS)/spark ## install pyspark (half a gigabyte), which the tests of benchmarks/mllib.py need beside Java 17

wheel: $(STAMPS)/build ## a wheel, in dist/
	@$(BIN)/maturin build --release --interpreter $(BIN)/python --out dist

format: $(STAMPS)/dev ## rewrite the sources as `make lint` wants them
	@cargo fmt
	@$(BIN)/ruff check --fix
	@$(BIN)/ruff format

clean: ## forget everything built
	rm -rf $(VENV) target dist $(EXTENSION) .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .hypothesis

linters:
	@scripts/check-tools clippy rustfmt

$(STAMPS)/venv:
	@scripts/check-tools
	@python=$$(scripts/find-python); echo "→ making $(VENV) with $$python"; "$$python" -m venv $(VENV)
	@mkdir -p $(STAMPS) && touch $@

# An extra of pyproject.toml, or `build` for what the build itself needs.
$(STAMPS)/%: pyproject.toml $(STAMPS)/venv
	@echo "→ installing what '$*' needs"
	@$(BIN)/python scripts/requirements.py $* | $(PIP) install --requirement /dev/stdin
	@touch $@

$(EXTENSION): $(RUST) pyproject.toml $(STAMPS)/build
	@echo "→ installing Lookalike in $(VENV), its kernels built first (a minute or two the first time)"
	@env -u CONDA_PREFIX VIRTUAL_ENV=$(CURDIR)/$(VENV) $(BIN)/maturin develop --release
	@touch $@
