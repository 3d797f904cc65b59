# Each target makes first what it needs and skips what is there. `make` alone says what there is.
.DEFAULT_GOAL := help
.PHONY: help setup build test test-versions questdb conformance demo docker docker-stop integration kills drops torture hostile \
  selftest audit bench docs reference format clean distclean
SHELL := /bin/bash
ARGS ?=
# Which server: testserver, or source, which `make questdb` builds.
SERVER ?= testserver
export SERVER

help: ## this list
	@sed -n 's/^\([a-z-]*\):.*## /\1\t/p' Makefile | expand -t 16

setup: ## JDK 17, Gradle, .venv: whatever is missing
	@tools/setup.sh system venv

build: setup ## jars, build/m2, wheel; ends with a JSON line that says where
	@tools/build.sh

test: setup ## linters, Java and Python tests on Spark 4.3 and 3.5
	@tools/setup.sh spark 3.5
	@.venv/bin/python tools/run_tests.py $(ARGS)

test-versions: build ## one jar on Spark 3.5, 4.0, 4.1, 4.2 and 4.3
	@tools/setup.sh spark 3.5 spark 4.0 spark 4.1 spark 4.2 spark 4.3
	@tools/setup.sh wheel 3.5 wheel 4.0 wheel 4.1 wheel 4.2 wheel 4.3
	@.venv/bin/python tests/run_versions.py $(ARGS)

questdb: setup ## a QuestDB and its image from a git repository of its source: SRC=…; for SERVER=source
	@tools/questdb.sh "$(SRC)"

conformance: build ## everything that talks to a server; SERVER=source or QUESTDB_IMAGE=… for another than the test server
	@.venv/bin/python -m conformance.run $(ARGS)

demo: build ## flights into QuestDB through an outage; SERVER=source; ARGS="--keep" leaves everything for a look
	@.venv/bin/python demo/run.py $(ARGS)

docker: build ## a Docker engine where there is none, and the image that `make integration` runs against
	@tools/docker.sh image

docker-stop: ## ends what `make docker` started
	@tools/docker.sh down

integration: build ## the sink against a QuestDB in a container; SERVER=source or QUESTDB_IMAGE=… for another one
	@tools/docker.sh ready
	@.venv/bin/python -m integration.run $(ARGS)

kills: build ## SIGKILL for driver, executors and server while streams write; SERVER=source; ARGS="--scenario driver --runs 2"
	@.venv/bin/python -m integration.kills $(ARGS)

drops: build ## tables dropped, renamed, truncated, altered while rows come at full rate; SERVER=source; ARGS="--rounds 20"
	@.venv/bin/python -m integration.drops $(ARGS)

hostile: setup ## a server that misbehaves in every way we know; ARGS="floods" for modes with that in their names
	@. tools/env.sh && run_gradle -q :questdb-sf-engine:hostile $(if $(ARGS),-Pmodes="$(ARGS)")

torture: build ## slots damaged in every way one fault can, read by the engine and the Python package; ARGS="--each 100"
	@. tools/env.sh && run_gradle -q :questdb-sf-engine:testClasses
	@. tools/env.sh && PYTHONPATH=python/src .venv/bin/python -m torture.run $(ARGS)

selftest: build ## plants faults in copies of the engine and sees that the proofs fail; ARGS="--list", "--fault CRC"
	@tools/docker.sh ready
	@.venv/bin/python -m integration.selftest $(ARGS)

audit: build ## asks OSV for known vulnerabilities of the libraries in the jars; exits 3 where that cannot be asked
	@.venv/bin/python tools/audit.py $(ARGS)

bench: setup ## JMH and Arrow tables against the released client, smoke length; ARGS=--long for longer runs
	@tools/bench.sh $(ARGS)

docs: setup ## the pages of docs/ as HTML in build/docs; warnings are errors
	@.venv/bin/python -m sphinx -W --keep-going -q -b html docs build/docs && echo build/docs/index.html

reference: setup ## pages of docs/ and tables for Python, made from the tables in the code
	@. tools/env.sh && run_gradle -q :questdb-sf-spark:reference

format: setup ## formats Java and Python sources
	@tools/format.sh

clean: ## removes what was built, keeps what was downloaded
	rm -rf jvm/*/build build/m2 build/dist build/bench build/docs build/test-results build/questdb.new out .gradle \
	  python/src/questdb_sf/jars python/dist spark-warehouse metastore_db derby.log
	rm -rf .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find python tests torture conformance integration harness demo tools -name __pycache__ -prune -exec rm -rf {} + 2>/dev/null || true

distclean: clean docker-stop ## also .venv, build/venvs, and the engine that `make docker` started
	rm -rf .venv build
