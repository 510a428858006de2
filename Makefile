# What people and CI run. Needs Rust (with a C linker), Python 3.9 or newer with venv and pip, and make.
#
#   make demo    build, install into .venv, run the examples: pictures and a timing table
#   make test    every test (PROFILE=dev: of the package as the other tests are built, which takes less time than the release)
#   make check   format, lints, type stubs, then every test
#   make bench   benchmarks (COPIES=FOLDER: also of programs of public repositories that lie there)
#   make wheel   the wheel as it is released, checked (target/wheels); INTERPRETER=python3.14t: the one for a free-threaded Python
#   make fuzz    fuzz targets, a minute each (SPMDVM_FUZZ_SECONDS=…)
#   make soak    random programs, arrays, threads, signals, limits and forks for ten minutes (SPMDVM_SOAK_SECONDS=…)
#   make model-check    tasks, and the threads that compile, in thousands of orders (SPMDVM_ORDERS=…)
#   make memcheck       the interpreter and compiled code under valgrind
#   make mutation-score plants faults in the interpreter, the JIT's passes and back ends, and counts those that random programs find
#   make docs    the generated pages, the pictures of sessions and of the playground, the site (target/site), the Rust documentation
#   make clean   remove everything that was built

PYTHON ?= python3
CARGO ?= cargo
PROFILE ?= release
SPMDVM_FUZZ_SECONDS ?= 60

VENV := .venv
BIN := $(VENV)/bin
# maturin installs into the environment that these variables name.
IN_VENV := env -u CONDA_PREFIX -u PYTHONHOME VIRTUAL_ENV="$(CURDIR)/$(VENV)" PATH="$(CURDIR)/$(BIN):$$PATH"
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet

.PHONY: demo test check bench wheel fuzz soak model-check memcheck mutation-score docs clean install rust-test python-test lint

demo: install
	@$(BIN)/python examples/demo.py

test: rust-test python-test

rust-test:
	$(CARGO) test

python-test: install $(VENV)/.test-tools
	$(BIN)/python -m pytest --numprocesses auto --maxprocesses 8 --dist loadfile python/tests

check: lint test

lint: install $(VENV)/.test-tools $(VENV)/.lint-tools
	$(CARGO) fmt --all --check
	$(CARGO) clippy --workspace --all-targets -- -D warnings
	$(BIN)/ruff check --config python/pyproject.toml python examples benches docs/site
	$(BIN)/ruff format --check --config python/pyproject.toml python examples benches docs/site
	cd python && "$(CURDIR)/$(BIN)/stubtest" spmdvm --allowlist tests/stubtest-allowed.txt --mypy-config-file pyproject.toml
	$(BIN)/mypy --config-file python/pyproject.toml python/tests/typing_example.py

bench: install
	$(CARGO) bench -p spmdvm-benches
	$(BIN)/python benches/compare.py
	$(BIN)/python benches/bounds.py
	$(BIN)/python benches/variants.py
	$(BIN)/python benches/phases.py
	$(BIN)/python benches/arms.py
	$(BIN)/python benches/crev.py
	$(BIN)/python benches/first_call.py
	$(BIN)/python benches/combinators.py
	$(BIN)/python benches/kernels.py
	$(BIN)/python benches/complex_numbers.py
	$(BIN)/python benches/evaluate.py
	$(BIN)/python benches/import_time.py
	@if command -v ispc >/dev/null; then $(BIN)/python benches/ispc.py; \
	else echo "benches/ispc.py is left out: the compiler ispc is not on the PATH"; fi
	@if [ -n "$(COPIES)" ]; then $(BIN)/python benches/public.py --copies "$(COPIES)"; \
	else echo "benches/public.py is left out: COPIES=FOLDER says where copies of public repositories are"; fi

wheel: $(VENV)/.build-tools
	$(IN_VENV) $(BIN)/python python/wheel.py $(if $(INTERPRETER),--interpreter "$(INTERPRETER)")

fuzz:
	@if $(CARGO) +nightly fuzz --version >/dev/null 2>&1; then \
	    for target in $$(ls fuzz/fuzz_targets | sed 's/\.rs$$//'); do \
	        $(CARGO) +nightly fuzz run $$target -- -max_total_time=$(SPMDVM_FUZZ_SECONDS) || exit 1; \
	    done; \
	else \
	    echo "make fuzz needs a nightly Rust and cargo-fuzz:"; \
	    echo "    rustup toolchain install nightly && cargo install cargo-fuzz"; \
	    echo "Without them, make test runs each target for a moment."; \
	    exit 1; \
	fi

soak: install
	$(BIN)/python python/soak/soak.py

model-check:
	$(CARGO) test -p spmdvm-vm --features shuttle --test model
	$(CARGO) test -p spmdvm-jit --features shuttle --test model

# Valgrind knows no AVX-512, and tells programs so: the engines are interp, ir and clif. Nor does it flush to zero.
MEMCHECK := 'target."cfg(all())".runner = ["valgrind", "--quiet", "--error-exitcode=99", "--leak-check=no"]'

memcheck:
	@valgrind --version
	$(CARGO) test --config $(MEMCHECK) -p spmdvm-vm --lib -- --skip every_elementwise_row --skip reductions_follow --skip accesses_do \
	    --skip flush_to_zero
	SPMDVM_SEEDS=0..31 $(CARGO) test --config $(MEMCHECK) -p spmdvm-jit --test programs
	$(CARGO) test --config $(MEMCHECK) -p spmdvm-tests --test cases -- tasks/ heap/ memory/ --test-threads=1

mutation-score:
	$(CARGO) test -p spmdvm-oracle --features planted-faults --test mutation -- $(SCORE)

docs: install $(VENV)/.test-tools
	UPDATE_DOCS=1 $(CARGO) test -p spmdvm-vm --test docs_fresh
	UPDATE_DOCS=1 $(CARGO) test -p spmdvm-frontend --lib prelude::docs
	UPDATE_DOCS=1 $(CARGO) test -p spmdvm-jit --test operations
	UPDATE_DOCS=1 $(CARGO) test -p spmdvm-cli --test sessions --test pictures
	UPDATE_DOCS=1 $(BIN)/python -m pytest python/tests/test_playground.py -k picture_in
	UPDATE_DOCS=1 $(BIN)/python -m pytest python/tests/test_pages.py
	$(BIN)/python docs/site/pages.py
	NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --strict -f docs/site/mkdocs.yml
	$(CARGO) doc --workspace --no-deps

clean:
	$(CARGO) clean
	rm -rf $(VENV) out

# The package, built and installed into .venv. Cargo knows what has changed.
install: $(VENV)/.build-tools
	@$(IN_VENV) $(BIN)/maturin develop --profile $(PROFILE) --manifest-path python/Cargo.toml

$(VENV)/.build-tools:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 9))' || { echo "Python 3.9 or newer is needed"; exit 1; }
	@test -x $(BIN)/python && $(BIN)/python -m pip --version >/dev/null 2>&1 || $(PYTHON) -m venv --clear $(VENV) || { \
	    echo "Python's venv module is needed (on Debian and Ubuntu: apt install python3-venv)"; rm -rf $(VENV); exit 1; }
	@$(PIP) install 'maturin>=1.7,<2' 'numpy>=1.21'
	@touch $@

$(VENV)/.test-tools: $(VENV)/.build-tools Makefile
	@$(PIP) install pytest pytest-xdist pandas matplotlib ipykernel jupyter-client cloudpickle joblib 'dask[array,distributed]' mkdocs-material
	@touch $@

$(VENV)/.lint-tools: $(VENV)/.build-tools
	@$(PIP) install ruff mypy
	@touch $@
