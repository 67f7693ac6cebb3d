# entrylab: `make help` lists what can be made.
#
# The program is ./entrylab; workers and objects are under $(BUILD). Sources are found by wildcard: a new file needs no line here.

PREFIX ?= /usr/local
DESTDIR ?=
BUILD ?= build
BIN ?= entrylab
SETUP ?= yes
VERSION := 0.1

ifeq ($(origin CC),default)
CC := gcc
endif

WARN := -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wpointer-arith -Wvla -Wformat=2 -Wundef
CFLAGS ?= -O2 -g
WERROR ?=
SANITIZE ?=
DEFINES := -D_GNU_SOURCE -DENTRYLAB_VERSION='"$(VERSION)"' \
	-DENTRYLAB_LIBEXECDIR='"$(PREFIX)/libexec/entrylab"' -DENTRYLAB_DATADIR='"$(PREFIX)/share/entrylab"'
COMPILE = $(CC) -I. $(DEFINES) $(CPPFLAGS) -std=gnu17 $(WARN) $(WERROR) $(CFLAGS) -MMD -MP
LIBS := -lmuparser -lreadline -lncursesw -lpfm -lgsl -lgslcblas -ljansson -lsqlite3 -lelf -lcapstone -lmd -lz -lm

ENGINE := $(patsubst %.c,$(BUILD)/%.o,$(sort $(wildcard engine/*.c counters/*.c)))
TUI := $(patsubst %.c,$(BUILD)/%.o,$(filter-out tui/main.c,$(sort $(wildcard tui/*.c))))
UNIT := $(patsubst tests/unit/%.c,$(BUILD)/tests/unit/%,$(sort $(wildcard tests/unit/*.c)))
FAKE := $(BUILD)/tests/fake/entrylab-worker-x86_64 $(BUILD)/tests/fake/entrylab-worker-i386
MAN := $(sort $(wildcard man/*.[1-9]))

# Workers are linked to fixed low addresses (engine/worker/shot.S), without anything that needs the thread pointer: variants
# replace it. For the same reason no sanitizer.
WORKERS := $(BUILD)/entrylab-worker-x86_64 $(BUILD)/entrylab-worker-i386
WORKER_SRC := $(sort $(wildcard engine/worker/*.[cS])) engine/host_capability.c
WORKER_FLAGS := -static -fno-pie -fno-stack-protector -fcf-protection=none
COMPILE_WORKER = $(CC) -I. $(DEFINES) $(CPPFLAGS) -std=gnu17 $(WARN) $(WERROR) -O2 -g $(WORKER_FLAGS)

# What Debian calls what is needed: to build and run, and besides to test.
PACKAGES := gcc libc6-dev gcc-multilib binutils libncurses-dev libreadline-dev libpfm4-dev libgsl-dev libjansson-dev \
	libsqlite3-dev libelf-dev zlib1g-dev libcapstone-dev libmd-dev libmuparser-dev
CHECK_PACKAGES := $(PACKAGES) libcmocka-dev mandoc clang jq sqlite3 strace util-linux procps bsdextrautils tmux

all: $(BIN) $(WORKERS)

help:
	@echo 'make            the program ./entrylab and its workers'
	@echo 'make demo       installs what is missing, builds, runs the segment-register table and says what it shows'
	@echo 'make check      installs what is missing, runs all tests'
	@echo 'make asan       the tests under the address and undefined-behaviour sanitizers'
	@echo 'make bench      measures the figures that the project promises and prints each (some minutes, quiet machine)'
	@echo 'make install    to $$DESTDIR$$PREFIX (PREFIX=$(PREFIX))'
	@echo 'make uninstall  the opposite'
	@echo 'make format     clang-format over all sources'
	@echo 'make clean      removes what was built'
	@echo
	@echo 'SETUP=no        leaves installing packages to you'

$(BUILD)/%.o: %.c
	@mkdir -p $(@D)
	$(COMPILE) $(SANITIZE) -c -o $@ $<

$(BUILD)/libengine.a: $(ENGINE)
	@rm -f $@
	$(AR) rcs $@ $^

$(BUILD)/libtui.a: $(TUI)
	@rm -f $@
	$(AR) rcs $@ $^

$(BIN): $(BUILD)/tui/main.o $(BUILD)/libtui.a $(BUILD)/libengine.a
	$(CC) $(CFLAGS) $(SANITIZE) $(LDFLAGS) -o $@ $^ $(LIBS)

$(BUILD)/entrylab-worker-x86_64: $(WORKER_SRC) $(wildcard engine/worker/*.h engine/*.h)
	@mkdir -p $(@D)
	$(COMPILE_WORKER) -m64 -o $@ $(WORKER_SRC)

# Without the 32-bit C library the program is whole but for i386 levels, which then say why they are missing.
$(BUILD)/entrylab-worker-i386: $(WORKER_SRC) $(wildcard engine/worker/*.h engine/*.h)
	@mkdir -p $(@D)
	@if echo 'int main(void){return 0;}' | $(CC) -m32 -static -x c -o $(BUILD)/m32 - 2>/dev/null; then \
		echo '$(CC) -m32 ... -o $@'; \
		$(COMPILE_WORKER) -m32 -o $@ $(WORKER_SRC); \
	else \
		echo '$(CC) -m32 does not link here: no i386 worker (Debian: apt-get install gcc-multilib)'; \
		rm -f $@; \
	fi

$(BUILD)/tests/unit/%: tests/unit/%.c $(BUILD)/libtui.a $(BUILD)/libengine.a
	@mkdir -p $(@D)
	$(COMPILE) $(SANITIZE) $(LDFLAGS) -o $@ $< $(BUILD)/libtui.a $(BUILD)/libengine.a -lcmocka $(LIBS)

# A worker that runs nothing and answers as a script beside it tells, for tests of the engine; for both ABIs it is a 64-bit program.
$(FAKE): tests/fake/worker.c
	@mkdir -p $(@D)
	$(COMPILE) -o $@ $< -lm

# ---- packages ----

define install_packages
	@if [ '$(SETUP)' = no ]; then exit 0; fi; \
	if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then \
		echo 'This is no Debian. Install what stands for these packages, then add SETUP=no:'; \
		echo '  $(1)'; exit 1; \
	fi; \
	missing=; \
	for p in $(1); do \
		[ "$$(dpkg-query -W -f '$${Status}' $$p 2>/dev/null)" = 'install ok installed' ] || missing="$$missing $$p"; \
	done; \
	[ -n "$$missing" ] || exit 0; \
	if [ "$$(id -u)" = 0 ]; then sudo=; elif command -v sudo >/dev/null; then sudo=sudo; else \
		echo "Missing:$$missing"; \
		echo "Neither root nor sudo here. As root: apt-get install$$missing"; exit 1; \
	fi; \
	echo "Installing:$$missing"; \
	$$sudo apt-get -qq update && DEBIAN_FRONTEND=noninteractive $$sudo apt-get -qq -y install --no-install-recommends $$missing >/dev/null
endef

demo:
	$(call install_packages,$(PACKAGES))
	@$(MAKE) --no-print-directory -s all
	@./entrylab -f tests/demo.entrylab

check:
	$(call install_packages,$(CHECK_PACKAGES))
	@$(MAKE) --no-print-directory -s BUILD=build-check BIN=build-check/entrylab WERROR=-Werror tests
	@$(MAKE) --no-print-directory -s BUILD=build-clang BIN=build-clang/entrylab WERROR=-Werror CC=clang all
	@echo 'clang builds it without a warning'

tests: unit cli screen

unit: $(UNIT) $(FAKE) $(WORKERS)
	@for t in $(UNIT); do echo "== $$t"; $$t || exit 1; done

cli: all
	@tests/cli/run $(abspath $(BIN))

# The workbench in a real terminal.
screen: all
	@tests/screen/run $(abspath $(BIN))

asan:
	$(call install_packages,$(CHECK_PACKAGES))
	@$(MAKE) --no-print-directory -s BUILD=build-asan BIN=build-asan/entrylab CFLAGS='-O1 -g' \
		SANITIZE='-fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer' tests

bench: all
	@tests/bench/run $(abspath $(BIN))

# ---- installing ----

install: all
	install -d $(DESTDIR)$(PREFIX)/bin $(DESTDIR)$(PREFIX)/libexec/entrylab $(DESTDIR)$(PREFIX)/share/entrylab
	install -m 755 $(BIN) $(DESTDIR)$(PREFIX)/bin/entrylab
	for w in $(WORKERS); do [ ! -f $$w ] || install -m 755 $$w $(DESTDIR)$(PREFIX)/libexec/entrylab/ || exit 1; done
	cd experiments && find . -type f -exec install -D -m 644 {} $(abspath $(DESTDIR)$(PREFIX))/share/entrylab/experiments/{} \;
	for m in $(MAN); do install -D -m 644 $$m $(DESTDIR)$(PREFIX)/share/man/man$${m##*.}/$${m##*/} || exit 1; done

uninstall:
	rm -f $(DESTDIR)$(PREFIX)/bin/entrylab
	rm -rf $(DESTDIR)$(PREFIX)/libexec/entrylab $(DESTDIR)$(PREFIX)/share/entrylab
	for m in $(MAN); do rm -f $(DESTDIR)$(PREFIX)/share/man/man$${m##*.}/$${m##*/}; done

format:
	clang-format -i $(wildcard engine/*.[ch] engine/worker/*.[ch] counters/*.[ch] tui/*.[ch] tests/unit/*.[ch] tests/fuzz/*.c)

clean:
	rm -rf build build-check build-clang build-asan entrylab

-include $(shell find $(BUILD) -name '*.d' 2>/dev/null)
.PHONY: all help demo check tests unit cli screen asan bench install uninstall format clean
.DELETE_ON_ERROR:
