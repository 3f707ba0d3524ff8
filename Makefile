# make demo   set everything up, run the quick suite on this host, leave a report
# make test   set everything up, run every check and test

SCHEDLAB := .venv/bin/schedlab
DEMO := results/demo

.PHONY: demo test check clean

demo:
	scripts/setup.sh demo
	rm -rf $(DEMO)
	$(SCHEDLAB) run --suite quick --variant auto --blocks 6 --output $(DEMO)

test:
	scripts/setup.sh test
	$(MAKE) check
	.venv/bin/python -m pytest

check:
	.venv/bin/ruff format --check .
	.venv/bin/ruff check .
	.venv/bin/mypy

clean:
	rm -rf .venv build .mypy_cache .pytest_cache .ruff_cache .hypothesis
