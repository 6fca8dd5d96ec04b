# symaug - every symmetric image of a board-game training shard.
# `make help` lists the targets.

# What is to be installed comes first; then another make looks at what the machine has.
INSTALLING := $(filter deps deps-test,$(MAKECMDGOALS))
ifneq ($(INSTALLING),)
OTHERS := $(filter-out $(INSTALLING),$(MAKECMDGOALS))

deps: ## install what building needs (Debian, as root)
	scripts/install-packages build

deps-test: ## install what building, the tests and the checks need (Debian, as root)
	scripts/install-packages build test

$(OTHERS): $(INSTALLING)
	+$(MAKE) $@

.PHONY: $(INSTALLING) $(OTHERS)
else

# Knobs:
CC       ?= gcc
CFLAGS   ?= -O2 -g
CPPFLAGS ?=
LDFLAGS  ?=
PREFIX   ?= /usr/local
LIBDIR   ?= $(PREFIX)/lib
PYTHON   := $(shell /usr/bin/python3 -c 'import sys; print("%d.%d" % sys.version_info[:2])' 2>/dev/null)
PYTHONDIR ?= $(PREFIX)/lib/python$(if $(filter /usr,$(PREFIX)),3,$(or $(PYTHON),3))/dist-packages
DESTDIR  ?=
BUILD    ?= build/release
WERROR   ?=
# Optional parts: 1 to use, 0 to do without, empty to use what the machine has.
OPENMP   ?=
ISAL     ?=

VERSION  := 1.0.0
PKGS     := zlib libzip jansson libcrypto libxxhash
ifneq ($(filter-out help clean format uninstall deb,$(or $(MAKECMDGOALS),all)),)
ifneq ($(shell pkg-config --exists $(PKGS) 2>/dev/null && echo 1),1)
$(error libraries are missing: run `make deps` as root on Debian, or install $(PKGS) with their headers)
endif
endif

HASH     := \#
has       = $(shell echo '$(HASH)include <$(1)>' | $(CC) -x c $(2) -fsyntax-only - >/dev/null 2>&1 && echo 1)
ifeq ($(OPENMP),)
OPENMP   := $(call has,omp.h,-fopenmp)
endif
ifeq ($(ISAL),)
ISAL     := $(call has,isa-l.h)
endif

WARN     := -Wall -Wextra -Wshadow -Wvla -Wundef -Wmissing-prototypes -Wstrict-prototypes \
            -Wconversion $(if $(WERROR),-Werror)
ALL_CPPFLAGS := -Isrc -Iinclude -D_GNU_SOURCE -D_FILE_OFFSET_BITS=64 -DSYMAUG_VERSION='"$(VERSION)"' \
            $(if $(filter 1,$(ISAL)),-DHAVE_ISAL=1) $(shell pkg-config --cflags $(PKGS) 2>/dev/null) $(CPPFLAGS)
ALL_CFLAGS := -std=c11 -fPIC -fvisibility=hidden $(WARN) $(if $(filter 1,$(OPENMP)),-fopenmp,-Wno-unknown-pragmas) $(CFLAGS)
LIBS     := $(shell pkg-config --libs $(PKGS) 2>/dev/null) $(if $(filter 1,$(ISAL)),-lisal) -lm

FLOORS   := base board npy codec zip manifest shard write engine positions verify sample show report library
LIB_SRC  := $(foreach f,$(FLOORS),$(sort $(wildcard src/$(f)/*.c)))
CLI_SRC  := $(sort $(wildcard src/cli/*.c))
LIB_OBJ  := $(LIB_SRC:%.c=$(BUILD)/%.o)
CLI_OBJ  := $(CLI_SRC:%.c=$(BUILD)/%.o)
UNIT_SRC := $(sort $(wildcard tests/unit/test_*.c))
UNIT_BIN := $(UNIT_SRC:tests/unit/%.c=$(BUILD)/tests/%)

# One short line a file; V=1 shows the commands.
Q        := $(if $(V),,@)
say       = $(if $(V),,@echo "  $(1)	$(@:$(BUILD)/%=%)")

.DELETE_ON_ERROR:
.SECONDARY:

all: $(BUILD)/symaug $(BUILD)/libsymaug.so symaug ## build ./symaug and libsymaug

symaug: $(BUILD)/symaug
	ln -sf $< $@

$(BUILD)/symaug: $(CLI_OBJ) $(BUILD)/libsymaug.a
	$(call say,LD)
	$(Q)$(CC) $(ALL_CFLAGS) $(LDFLAGS) -o $@ $^ $(LIBS)

$(BUILD)/libsymaug.a: $(LIB_OBJ)
	$(call say,AR)
	$(Q)rm -f $@
	$(Q)$(AR) rcs $@ $^

# Only what the public API needs is linked in.
SONAME   := libsymaug.so.$(firstword $(subst ., ,$(VERSION)))
$(BUILD)/libsymaug.so: $(BUILD)/src/library/library.o $(BUILD)/src/library/mover.o $(BUILD)/libsymaug.a
	$(call say,LD)
	$(Q)$(CC) $(ALL_CFLAGS) $(LDFLAGS) -shared -Wl,-soname,$(SONAME) -Wl,--as-needed -o $@.$(VERSION) $^ $(LIBS)
	$(Q)ln -sf $(@F).$(VERSION) $(@D)/$(SONAME)
	$(Q)ln -sf $(SONAME) $@

$(BUILD)/%.o: %.c Makefile
	$(call say,CC)
	@mkdir -p $(@D)
	$(Q)$(CC) $(ALL_CPPFLAGS) $(ALL_CFLAGS) -MMD -MP -c -o $@ $<

$(BUILD)/tests/unit/%.o: ALL_CPPFLAGS += -Itests/unit
$(BUILD)/tests/unit/%.o: ALL_CFLAGS += -Wno-missing-prototypes
$(BUILD)/tests/%: $(BUILD)/tests/unit/%.o $(BUILD)/libsymaug.a
	$(call say,LD)
	$(Q)$(CC) $(ALL_CFLAGS) $(LDFLAGS) -o $@ $^ -lcmocka $(LIBS)

-include $(LIB_OBJ:.o=.d) $(CLI_OBJ:.o=.d) $(UNIT_SRC:%.c=$(BUILD)/%.d)

unit: $(UNIT_BIN)

check: all unit ## run every test; T="words" runs those whose name contains one
	scripts/run-tests $(BUILD) $(T)

# The same tests in other builds.
SANITIZE := -fsanitize=address,undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer
asan: ## run every test under AddressSanitizer and UndefinedBehaviorSanitizer
	+ASAN_OPTIONS=detect_leaks=1 $(MAKE) BUILD=build/asan CFLAGS="-O1 -g $(SANITIZE)" LDFLAGS="$(SANITIZE)" check T="$(T)"

# What may go wrong around the program: memory, disks, signals, other processes. N=100: sweeps in full.
$(BUILD)/tests/inject.so: tests/fault/inject.c
	$(call say,LD)
	@mkdir -p $(@D)
	$(Q)$(CC) -std=c11 -D_GNU_SOURCE $(WARN) -O1 -g -fPIC -shared -o $@ $< -ldl

fault: $(BUILD)/symaug $(BUILD)/tests/inject.so ## run the program while calls fail and processes die; N=, T=
	N=$(or $(N),1) tests/fault/run $(BUILD)/symaug $(BUILD)/tests/inject.so $(T)

# libFuzzer comes with clang.
FUZZ     := address,undefined
FUZZ_BIN := $(patsubst tests/fuzz/%.c,$(BUILD)/%,$(wildcard tests/fuzz/fuzz_*.c))
$(BUILD)/fuzz_%: tests/fuzz/fuzz_%.c tests/fuzz/fuzz.h $(BUILD)/libsymaug.a
	$(call say,LD)
	$(Q)$(CC) $(ALL_CPPFLAGS) $(ALL_CFLAGS) -fsanitize=fuzzer -o $@ $< $(BUILD)/libsymaug.a $(LIBS)

fuzz-bins: $(FUZZ_BIN)

# Comparisons of the codecs' numbers tell the fuzzer nothing and cost most of its time; its inputs
# are small, and so is what the encoder takes for a sample then.
$(BUILD)/src/codec/%.o: ALL_CFLAGS += $(CODEC_CFLAGS)

fuzz: ## run the fuzz targets; RUNS= times as long, T=target
	+$(MAKE) BUILD=build/fuzz CC=clang OPENMP=0 fuzz-bins CODEC_CFLAGS="-fno-sanitize-coverage=trace-cmp \
	    -DGRID_SAMPLE_NBYTES=512 -DGRID_FOLLOW_NBYTES=256 -DGRID_FOLLOW_STEPS=16" \
	    CFLAGS="-O1 -g -fsanitize=$(FUZZ),fuzzer-no-link -fno-sanitize-recover=undefined"
	tests/fuzz/run build/fuzz $(or $(RUNS),1) $(T)

tsan: ## expand and verify with 8 threads under ThreadSanitizer
	+$(MAKE) BUILD=build/tsan CC=clang CFLAGS="-O1 -g -fsanitize=thread" LDFLAGS="-fsanitize=thread" build/tsan/symaug
	tests/fault/tsan build/tsan/symaug

valgrind: $(BUILD)/symaug ## small and broken shards under valgrind; N=0: all of them
	tests/fault/valgrind $(BUILD)/symaug $(or $(N),60)

big: $(BUILD)/symaug ## members of 4 and 6 GiB, written and read back; some GiB of disk if FORMS has "stored"
	SYMAUG=$(BUILD)/symaug tests/big/run

coverage: ## branches that the tests take, per folder
	+$(MAKE) BUILD=build/coverage CFLAGS="-O0 -g --coverage" LDFLAGS="--coverage -Wl,--exclude-libs,libgcov.a" check
	scripts/coverage build/coverage

plain: ## run every test in a build without OpenMP and without ISA-L
	+$(MAKE) BUILD=build/plain OPENMP=0 ISAL=0 check T="$(T)"

format: ## put all sources into the project's format
	clang-format -i src/*/*.[ch] $(wildcard include/*.h tests/*/*.[ch] scripts/*.c examples/*.c)

layers: $(LIB_OBJ) $(CLI_OBJ) ## check that files include lower floors only, and none call each other in a circle
	@scripts/check-layers $^

lint: layers ## formatting, static analysis, shell scripts, man pages
	scripts/lint

bench: all ## measure against two numpy scripts: N=scale of the sets, RUNS=runs, SETS=names
	N=$(N) RUNS=$(RUNS) SETS="$(SETS)" /usr/bin/python3 -B tests/bench/bench.py $(BUILD)/symaug

bench-parts: $(BUILD)/bench/kernel_bench $(BUILD)/bench/codec_bench ## measure the gather and the codecs alone
	$(BUILD)/bench/kernel_bench
	$(BUILD)/bench/codec_bench

$(BUILD)/bench/%: tests/bench/%.c $(BUILD)/libsymaug.a
	$(call say,LD)
	@mkdir -p $(@D)
	$(Q)$(CC) $(ALL_CPPFLAGS) $(ALL_CFLAGS) -MMD -MP $(LDFLAGS) -o $@ $< $(BUILD)/libsymaug.a $(LIBS)

demo: all ## make a shard of random play, expand it, verify it and show it
	scripts/demo $(BUILD)/symaug

pictures: $(BUILD)/symaug ## draw the pictures of the README anew
	scripts/pictures $(BUILD)/symaug share/pictures

# Shell completions come from the tables of options, commands and boards: whatever the commands are
# linked from, with another main.
COMPLETIONS := $(addprefix $(BUILD)/completions/,symaug _symaug symaug.fish)
completions: $(COMPLETIONS) ## make the completions for bash, zsh and fish

$(BUILD)/completions/%: $(BUILD)/make-completions
	@mkdir -p $(@D)
	$< $(@F) > $@

$(BUILD)/make-completions: scripts/make-completions.c $(filter-out %/main.o,$(CLI_OBJ)) \
                           $(BUILD)/libsymaug.a
	$(call say,LD)
	$(Q)$(CC) $(ALL_CPPFLAGS) $(ALL_CFLAGS) $(LDFLAGS) -o $@ $^ $(LIBS)

# FILE:FOLDER of all that install copies.
INSTALLED = $(BUILD)/symaug:$(PREFIX)/bin include/symaug.h:$(PREFIX)/include \
            $(foreach f,libsymaug.a libsymaug.so libsymaug.so.$(VERSION) $(SONAME),$(BUILD)/$(f):$(LIBDIR)) \
            $(BUILD)/symaug.pc:$(LIBDIR)/pkgconfig \
            $(foreach f,$(wildcard man/*.[1-8]),$(f):$(PREFIX)/share/man/man$(subst .,,$(suffix $(f)))) \
            $(BUILD)/completions/symaug:$(PREFIX)/share/bash-completion/completions \
            $(BUILD)/completions/_symaug:$(PREFIX)/share/zsh/site-functions \
            $(BUILD)/completions/symaug.fish:$(PREFIX)/share/fish/vendor_completions.d \
            share/symaug/manifest.schema.json:$(PREFIX)/share/symaug \
            $(BUILD)/symaug-convert:$(PREFIX)/bin $(foreach f,$(wildcard python/symaug/*.py),$(f):$(PYTHONDIR)/symaug) \
            $(foreach f,$(wildcard share/boards/*.json),$(f):$(PREFIX)/share/symaug/boards) \
            $(foreach f,$(wildcard share/slurm/* share/snakemake/*),$(f):$(PREFIX)/share/symaug/$(notdir $(patsubst %/,%,$(dir $(f)))))

# Made anew each time: PREFIX may differ from the last one.
$(BUILD)/symaug.pc: share/pkgconfig/symaug.pc.in FORCE
	@mkdir -p $(@D)
	sed 's|@PREFIX@|$(PREFIX)|; s|@LIBDIR@|$(LIBDIR)|; s|@VERSION@|$(VERSION)|; s|@LIBS@|$(LIBS)|' $< > $@

# Finds its module wherever PREFIX is.
$(BUILD)/symaug-convert: python/symaug-convert FORCE
	@mkdir -p $(@D)
	sed 's|^HERE = .*|HERE = "$(PYTHONDIR)"|' $< > $@
	@chmod +x $@

install: all completions $(BUILD)/symaug.pc $(BUILD)/symaug-convert ## install below DESTDIR/PREFIX
	scripts/install '$(DESTDIR)' $(INSTALLED)

uninstall: ## remove what install put there
	scripts/install --remove '$(DESTDIR)' $(INSTALLED)

dist: ## pack the committed sources
	@mkdir -p $(BUILD)
	git archive --prefix=symaug-$(VERSION)/ -o $(BUILD)/symaug-$(VERSION).tar.gz HEAD

deb: ## make Debian packages in BUILD/deb
	scripts/make-deb $(BUILD) $(VERSION)

test-deb: ## make the Debian packages, look at them, install them aside and use them
	scripts/test-deb $(BUILD)

test-slurm: $(BUILD)/symaug ## expand shards on a Slurm of three nodes on this machine, and under Snakemake
	scripts/test-slurm $(BUILD)/symaug
	scripts/test-snakemake $(BUILD)/symaug

clean: ## remove what was built
	rm -rf build symaug

help: ## list the targets
	@sed -n 's/^\([a-z-]*\):.*## /  \1\t/p' Makefile | expand -t 14

FORCE:

.PHONY: all bench bench-parts unit check asan plain format layers lint demo pictures completions install uninstall dist deb test-deb test-slurm clean help FORCE

endif
