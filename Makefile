# make help
#
# CMake does the work.  This only gives its calls short names, and sees to the packages.
#   CMAKE_ARGS=-DSINEW_PORTABLE=ON   further arguments of cmake
#   JOBS=4  PREFIX=/usr/local  DESTDIR=  BENCH=dynamics  BENCH_ARGS=  CTEST_ARGS="-R math"
JOBS ?= $(shell nproc)
PREFIX ?= /usr/local
BENCH ?= all
export CMAKE_ARGS JOBS TEST_JOBS CTEST_ARGS

# The tests need packages that the command does not: a new build directory is made without them, and
# `make test` adds them.
WITHOUT_TESTS = $(if $(wildcard build/CMakeCache.txt),,-DSINEW_TESTS=OFF)
# The variables of this make are not for the one that CMake starts.
BUILD_TOOL = env -u MAKEFLAGS -u MFLAGS -u MAKELEVEL cmake --build

.PHONY: all build setup demo test asan clang soak bench bench-peers lint format install clean help
.DEFAULT_GOAL := all

all: ## build the library and the command into build/ (installs no packages, says what is missing)
	@SINEW_NO_INSTALL=1 scripts/setup.sh run
	@$(MAKE) --no-print-directory build

build: # without looking for packages
	@cmake -S . -B build $(WITHOUT_TESTS) $(CMAKE_ARGS)
	@$(BUILD_TOOL) build -j $(JOBS)

setup: ## install the packages for building and testing
	@scripts/setup.sh run test

demo: ## set up, build, run the demo scene
	@scripts/setup.sh run
	@$(MAKE) --no-print-directory build
	@scripts/demo.sh build

test: ## set up, build, run all tests: plain, under sanitizers, and compiled with clang
	@scripts/setup.sh run test
	@scripts/test.sh native asan clang

asan: ## the tests under AddressSanitizer and UBSan only
	@scripts/setup.sh run test
	@scripts/test.sh asan

clang: ## compile with clang, run the unit tests
	@scripts/setup.sh run test
	@scripts/test.sh clang

soak: ## the long tests in full
	@scripts/setup.sh run test
	@scripts/test.sh soak

bench: all ## run the benches (BENCH=name for one)
	build/sinew bench $(BENCH) $(BENCH_ARGS)

bench-peers: ## install other engines and run the same models in them
	@scripts/setup.sh run
	@$(MAKE) --no-print-directory build
	@scripts/bench_peers.sh

lint: ## clang-format, clang-tidy, cppcheck
	@scripts/setup.sh run test lint
	@scripts/lint.sh

format: ## put all sources into the form of .clang-format
	@scripts/setup.sh lint
	@scripts/lint.sh --fix-format

install: all ## install below PREFIX
	cmake --install build --prefix $(PREFIX)

clean: ## remove what was built
	rm -rf build build-asan build-clang build-lint

help: ## this list
	@sed -n 's/^\([a-z-]*\):[^#]*## \(.*\)/  make \1\t\2/p' Makefile | expand -t 22
