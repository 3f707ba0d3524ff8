# make demo   set everything up, two comparisons simulated, one on this host, a line for each and a page
# make test   set everything up, run every check and test

# Where this is set, each of thousands of processes compiles the Python code that it loads.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: demo test installed-and-checked simulators check clean

demo:
	scripts/demo.sh

test:
	scripts/setup.sh build
	$(MAKE) --jobs 2 installed-and-checked simulators
	.venv/bin/python -m pytest --numprocesses auto --dist loadfile --no-loadscope-reorder

installed-and-checked:
	scripts/setup.sh test
	$(MAKE) check
	# Compiles the tests and what they load, which each worker would.
	.venv/bin/python -m pytest --collect-only --quiet >/dev/null

simulators:
	scripts/setup.sh kernels
	.venv/bin/python -m tests.helpers.usual_builds

check:
	.venv/bin/ruff format --check .
	.venv/bin/ruff check .
	.venv/bin/mypy

clean:
	rm -rf .venv build .mypy_cache .pytest_cache .ruff_cache .hypothesis
