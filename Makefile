# make demo   set everything up, two comparisons simulated, one on this host, leave a page over all
# make test   set everything up, run every check and test

SCHEDLAB := .venv/bin/schedlab
DEMO := results/demo

.PHONY: demo test check clean

demo:
	scripts/setup.sh demo
	rm -rf $(DEMO)
	$(SCHEDLAB) kernel add --debian 6.1
	$(SCHEDLAB) run plans/demo-misfit.toml --output $(DEMO)/misfit
	$(SCHEDLAB) run plans/demo-ilb-util.toml --output $(DEMO)/ilb-util
	$(SCHEDLAB) run --suite quick --variant auto --blocks 6 --output $(DEMO)/host
	$(SCHEDLAB) overview $(DEMO)/misfit $(DEMO)/ilb-util $(DEMO)/host --output $(DEMO)/report.html

test:
	scripts/setup.sh test
	$(MAKE) check
	.venv/bin/python -m pytest --numprocesses auto --dist loadfile --ignore tests/test_ssh.py
	.venv/bin/python -m pytest tests/test_ssh.py

check:
	.venv/bin/ruff format --check .
	.venv/bin/ruff check .
	.venv/bin/mypy

clean:
	rm -rf .venv build .mypy_cache .pytest_cache .ruff_cache .hypothesis
