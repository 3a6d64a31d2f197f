.PHONY: check test test-fast benchmarks

check:
	ruff check .
	ruff format --check .
	mypy
	lint-imports

test-fast:
	pytest -m "not slow" -n auto --dist worksteal

test:
	pytest

benchmarks:
	for file in benchmarks/*.py; do python $$file || exit 1; done
