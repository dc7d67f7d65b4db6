# One name for each job. `make demo` and `make test` do all the set-up a fresh machine needs
# besides Swift itself.

SWIFT ?= swift
SOURCES = Package.swift Sources Tests
RELEASE = .build/release

.PHONY: help setup demo test build release bench bench-smoke check format lint test-release test-tsan clean

help:
	@echo 'make demo         build for release and show what the store does, with a sample chat'
	@echo 'make test         every test'
	@echo 'make build        debug build'
	@echo 'make release      release build'
	@echo 'make bench        the whole benchmark, beside SQLite'
	@echo 'make bench-smoke  every workload once, tiny'
	@echo 'make check        everything that must hold before a change lands'
	@echo 'make format       format the sources'
	@echo 'make lint         check their format'
	@echo 'make test-release every test, built for release'
	@echo 'make test-tsan    the concurrency tests under the thread sanitizer'
	@echo 'make clean        remove what was built'

setup:
	@Scripts/setup

demo: setup release
	@Scripts/demo $(RELEASE)

test: setup
	$(SWIFT) test

build: setup
	$(SWIFT) build

release: setup
	$(SWIFT) build -c release

bench: release
	$(RELEASE)/msgstore-bench

bench-smoke: release
	$(RELEASE)/msgstore-bench --messages 2000 --conversations 20 --rounds 1 --format json >/dev/null

check: test lint release test-release test-tsan bench-smoke demo

format:
	$(SWIFT) format --in-place --recursive $(SOURCES)

lint:
	$(SWIFT) format lint --strict --recursive $(SOURCES)

# Optimised code has had mistakes of the compiler's that debug builds do not show.
test-release: setup
	$(SWIFT) test -c release

test-tsan: setup
	$(SWIFT) test --sanitize=thread --scratch-path .build-tsan --filter Concurrency

clean:
	rm -rf .build .build-tsan
