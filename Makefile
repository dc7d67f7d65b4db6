# One name for each job. `make demo` and `make test` do all the set-up a fresh machine needs
# besides Swift itself.

SHELL = bash
SWIFT ?= swift
# SwiftPM names the traits to the compiler in the order of a set, which differs from run to run, and
# in another order it compiles everything anew. Builds alone are told to keep one: tests are to meet
# sets in every order.
BUILD = SWIFT_DETERMINISTIC_HASHING=1 $(SWIFT) build
SOURCES = Package.swift Sources Tests Examples Fuzz/Package.swift Fuzz/Sources/Fuzz \
  Encryption/Package.swift Encryption/Tests
TORTURE = $(RELEASE)/torture
RELEASE = .build/release
DOCS = .build-docs
# A benchmark of all there is to measure, in little.
TINY = --messages 2000 --conversations 20 --rounds 1
# What is looked at in passing.
BRIEF = --engines msgstore,sqlite --messages 20000 --workloads import,commit-full,commit-relaxed,$\
  tail50-huge,scroll50,get-by-id,list20,open-tail50
# The workloads that read the corpus, with a single conversation: what needs more is left out.
SINGLE = --messages 1000 --conversations 1 --rounds 1 --workloads import,size,tail50-huge,$\
  tail50-random,slice50,scroll50,at-date,get-by-id,list20,open-tail50,memory,commit-relaxed,$\
  acknowledge,mark-read-1000,mark-read-1000-mark,edit,live-tail,open-insert-close,day

.PHONY: help setup demo speed example test test-debug test-full build build-tests release install docs bench bench-smoke bench-day bench-peers bench-peers-smoke bench-sqlcipher \
  release-peers check check-apple check-apple-all format lint build-release-tests test-release test-kills test-orders test-tsan \
  test-encryption test-defects test-interleavings test-live-orders test-model oracle torture torture-smoke fuzz fuzz-smoke clean

help:
	@echo 'make demo         show what the store does with a sample chat'
	@echo 'make speed        its speed beside SQLite, briefly'
	@echo 'make example      two people who chat, with clients and a server in processes of their own'
	@echo 'make test         every test'
	@echo 'make test-full    all cases of the tests of which "make test" runs a part'
	@echo 'make test-debug   every test, with libraries that are not optimised'
	@echo 'make build        debug build'
	@echo 'make release      release build'
	@echo 'make install      the tools, completion, and manual pages, below PREFIX (/usr/local)'
	@echo 'make docs         the DocC documentation of the libraries, in $(DOCS)'
	@echo 'make bench        the whole benchmark, beside SQLite; real chat where the corpus is there'
	@echo 'make bench-smoke  every workload once, tiny'
	@echo 'make bench-day    the CPU time, bytes and calls of a busy day, beside SQLite and GRDB'
	@echo 'make bench-peers  the benchmark beside GRDB and LMDB too; ARGUMENTS=... for its options'
	@echo 'make bench-peers-smoke  every workload of every engine once, tiny'
	@echo 'make bench-sqlcipher  the encrypted store beside SQLCipher, and both beside their plain forms'
	@echo 'make torture      kills, power cuts, failing calls and flipped bits; MINUTES=n (60)'
	@echo 'make torture-smoke the same, as much as a change must pass'
	@echo 'make fuzz         each fuzzer for an hour; SECONDS=n for another time'
	@echo 'make fuzz-smoke   each fuzzer for a minute'
	@echo 'make check        everything that must hold before a change lands'
	@echo 'make format       format the sources'
	@echo 'make lint         check their format'
	@echo 'make check-apple  type-check the libraries and tools for macOS and iOS, on Linux'
	@echo 'make check-apple-all  the same for every Apple system'
	@echo 'make test-release every test, built for release, with the LZ4 codec of the package'
	@echo 'make test-encryption the cipher of encrypted stores, with the trait Encryption'
	@echo 'make test-orders 50,000 cases of facts in two orders'
	@echo 'make test-kills   200 processes killed while they write'
	@echo 'make test-tsan    the concurrency tests under the thread sanitizer'
	@echo 'make test-model   every state of a model of the protocol'
	@echo 'make test-interleavings  threads of one process in 50,000 random orders'
	@echo 'make test-live-orders  live values beside threads that write, in 3,000 random orders'
	@echo 'make oracle       the answers of the store beside those of an older commit; SEEDS=n'
	@echo 'make test-defects planted defects, each of which some test has to find'
	@echo 'make clean        remove what was built'

setup:
	@Scripts/setup

demo: setup
	@SWIFT=$(SWIFT) Scripts/demo

# The optimiser takes minutes for the two libraries; make bench has all workloads, and real chat.
speed: setup
	@echo 'Building the benchmark for release: some minutes.'
	$(BUILD) -c release --product msgstore-bench
	$(RELEASE)/msgstore-bench $(BRIEF)

example: build
	@.build/debug/chat-example

# In a directory of its own, as its libraries are optimised: see Package.swift. Debug information would take
# a tenth of the build; a failure says its file and line without, and "make test-debug" has it.
OPTIMIZED = MSGSTORE_OPTIMIZED_LIBRARIES=1
OPTIMIZED_BUILD = $(OPTIMIZED) $(BUILD) --scratch-path .build-test -debug-info-format none
# Eight tests at once: if all are begun together, the first of them ends after most of the time of all.
OPTIMIZED_TESTS = $(OPTIMIZED) SWT_EXPERIMENTAL_MAXIMUM_PARALLELIZATION_WIDTH=8 $(SWIFT) test --skip-build \
  --scratch-path .build-test

test: build-tests
	$(OPTIMIZED_TESTS)

# All tests and the programs they start, without those that run for hours or for a profiler.
build-tests: setup
	$(OPTIMIZED_BUILD) --product msgstorePackageTests

# All cases of the tests that `make test` takes a part of; the others have no more.
test-full: build-tests
	MSGSTORE_FULL=1 $(OPTIMIZED_TESTS) --filter "$$(Scripts/scaled-suites)"

test-debug: setup
	$(BUILD) --build-tests
	$(SWIFT) test --skip-build

build: setup
	$(BUILD)

release: setup
	$(BUILD) -c release

# From the modules of the build of `make test`, of which it needs the libraries alone.
docs: setup
	$(OPTIMIZED_BUILD) --target MsgStoreTools
	@Scripts/docs .build-test/debug $(DOCS)

# With completion for the usual shells, and manual pages.
PREFIX ?= /usr/local
install: release
	@SWIFT=$(SWIFT) Scripts/install $(RELEASE) $(DESTDIR)$(PREFIX)

bench: release
	@Scripts/bench $(RELEASE)/msgstore-bench $(ARGUMENTS)

bench-smoke: release
	$(RELEASE)/msgstore-bench $(TINY) --format json >/dev/null
	$(RELEASE)/msgstore-bench $(SINGLE) --format json >/dev/null

# GRDB and LMDB are fetched and installed for these two only.
release-peers:
	@Scripts/setup peers
	@SWIFT=$(SWIFT) Scripts/peers .build-peers default,Peers

PEERS = .build-peers/release/msgstore-bench --normal-program $(RELEASE)/msgstore-bench

bench-peers: release release-peers
	@Scripts/bench $(PEERS) $(ARGUMENTS)

# A day in the life of a user: 10,000 messages received, 2,000 threads opened, 50 starts.
bench-day: release release-peers
	@Scripts/bench $(PEERS) --workloads day --engines msgstore,sqlite,grdb,grdb-codable $(ARGUMENTS)

# The encrypted store beside SQLCipher, and each beside its own plain form. SQLCipher has the names of
# SQLite, so its build measures no other.
CIPHERS = .build-sqlcipher/release/msgstore-bench
bench-sqlcipher:
	@Scripts/setup sqlcipher
	@SWIFT=$(SWIFT) Scripts/peers .build-sqlcipher Tools,SystemLZ4,SQLCipher,Encryption
	@Scripts/bench $(CIPHERS) --engines msgstore,msgstore-encrypted,sqlite,sqlcipher,limit $(ARGUMENTS)

bench-peers-smoke: release release-peers
	$(PEERS) $(TINY) --format json >/dev/null

torture: build-release-tests
	$(BUILD) -c release --product torture
	$(TORTURE) all --minutes $(or $(MINUTES),60) --threads $(or $(THREADS),2)
	MSGSTORE_KILLS=$(or $(KILLS),20000) $(SWIFT) test --skip-build -c release $(OWN_CODEC) \
	  --filter killedWriter

# It ends when there is enough. The time is a limit for slow machines, beside the other lane of `.ci/run`.
torture-smoke: setup
	$(BUILD) -c release --product torture
	$(TORTURE) crash --count 200000 --seconds 1200 --seed $${SEED:-$$RANDOM}
	$(TORTURE) faults --count 100 --seconds 1200 --seed $${SEED:-$$RANDOM}
	$(TORTURE) flips --count 200000 --seconds 1200
	$(TORTURE) schedules --count 50000 --seconds 1200 --seed $${SEED:-$$RANDOM}

# Every state within four bounds: some three minutes of one core, and 1.1 GB.
test-model: setup
	$(BUILD) -c release --product torture
	$(TORTURE) model --seconds 300

fuzz-smoke: setup
	@$(MAKE) --no-print-directory -C Fuzz -j 2 fuzz SECONDS=$(or $(SECONDS),60)

fuzz: setup
	@$(MAKE) --no-print-directory -C Fuzz -j 2 fuzz SECONDS=$(or $(SECONDS),3600)

check: test test-debug test-full lint check-apple-all release test-encryption test-release test-kills test-orders test-tsan test-interleavings test-live-orders bench-smoke demo speed \
  torture-smoke test-model test-defects fuzz-smoke docs

format:
	$(SWIFT) format --in-place --recursive $(SOURCES)

lint:
	$(SWIFT) format lint --strict --recursive $(SOURCES)

# The first time it compiles the standard library's interface for each target, into a cache outside
# the checkout.
check-apple:
	@Scripts/check-apple

check-apple-all:
	@Scripts/check-apple --all

# Optimised code has had mistakes of the compiler's that debug builds do not show. These tests use the
# package's own LZ4 codec, and `make test` liblz4, so that both go through all of them.
OWN_CODEC = --traits Tools,SQLite --scratch-path .build-lz4

test-release: build-release-tests
	$(SWIFT) test --skip-build -c release $(OWN_CODEC)

build-release-tests: setup
	$(BUILD) --build-tests -c release $(OWN_CODEC) -Xswiftc -enable-testing

# A writer that is killed in commits, checkpoints, hand-overs and recoveries, in one store.
test-kills: build-tests
	MSGSTORE_KILLS=200 $(OPTIMIZED_TESTS) --filter killedWriter

# The same facts in two orders; `make test` takes 200 cases.
test-orders: build-tests
	MSGSTORE_ORDERS=$(or $(COUNT),50000) $(OPTIMIZED_TESTS) --filter OrderedFacts

# The tests of threads alone, see Package.swift.
THREAD_TESTS = --sanitize=thread --scratch-path .build-tsan

test-tsan: setup
	MSGSTORE_THREAD_TESTS=1 $(BUILD) --build-tests $(THREAD_TESTS)
	MSGSTORE_THREAD_TESTS=1 $(SWIFT) test --skip-build $(THREAD_TESTS)

# The threads of one process under a scheduler of the tests' own; another build, of `torture` alone.
test-interleavings: setup
	@Scripts/interleavings $(or $(COUNT),50000)

# Two release builds, one in a work tree of its own below `.build-oracle`.
oracle: setup
	@Scripts/oracle --seeds $(or $(SEEDS),300)

# Live values under the same scheduler, with the build of `test-defects`.
test-live-orders: setup
	$(BUILD) -c release --build-tests --scratch-path .build-defects -Xswiftc -enable-testing \
	  -Xswiftc -DPLANTED_DEFECTS -Xswiftc -DINTERLEAVINGS
	MSGSTORE_LIVE_ORDERS=$(or $(COUNT),3000) .build-defects/release/msgstorePackageTests.xctest \
	  --testing-library swift-testing --filter LiveInterleavings

# A package of its own, which builds the libraries with the trait, as a client does; swift-crypto is
# fetched for it alone.
test-encryption: setup
	$(SWIFT) test --package-path Encryption --scratch-path .build-encryption

# Defects of the protocol, planted one at a time: a test that finds none of them proves little.
test-defects: setup
	@Scripts/defects

clean:
	rm -rf .build .build-test .build-docs .build-demo .build-encryption .build-tsan .build-defects .build-peers .build-sqlcipher .build-lz4
