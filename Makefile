# entrylab: `make help` lists what can be made.
PREFIX ?= /usr/local
DESTDIR ?=
CC ?= gcc
BUILD ?= build
VERSION := 0.1
PKGS := ncursesw readline libpfm gsl jansson sqlite3 libelf capstone libmd

WARN := -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wpointer-arith -Wvla -Wformat=2 -Wundef
CFLAGS ?= -O2 -g
CPPFLAGS_ALL := -I. -D_GNU_SOURCE -DENTRYLAB_VERSION='"$(VERSION)"' \
	-DENTRYLAB_LIBEXECDIR='"$(PREFIX)/libexec/entrylab"' -DENTRYLAB_DATADIR='"$(PREFIX)/share/entrylab"' $(CPPFLAGS)
CFLAGS_ALL := -std=gnu17 $(WARN) $(WERROR) $(CFLAGS) -MMD -MP
LIBS := -lreadline -lncursesw -lpfm -lgsl -lgslcblas -ljansson -lsqlite3 -lelf -lcapstone -lmd -lz -lm

ENGINE := $(patsubst %.c,$(BUILD)/%.o,$(sort $(wildcard engine/*.c counters/*.c)))
TUI := $(patsubst %.c,$(BUILD)/%.o,$(filter-out tui/main.c,$(sort $(wildcard tui/*.c))))
UNIT := $(patsubst tests/unit/%.c,$(BUILD)/tests/unit/%,$(sort $(wildcard tests/unit/*.c)))

WORKERS := $(BUILD)/entrylab-worker-x86_64 $(BUILD)/entrylab-worker-i386
# linked to fixed low addresses (shot.S), without anything that uses the thread pointer, which variants replace
WORKER_FLAGS := -static -no-pie -fno-pic -fno-stack-protector -fcf-protection=none -fno-sanitize=all
WORKER_SRC := $(sort $(wildcard engine/worker/*.c engine/worker/*.S)) engine/host_capability.c

all: entrylab $(WORKERS)

$(BUILD)/%.o: %.c
	@mkdir -p $(@D)
	$(CC) $(CPPFLAGS_ALL) $(CFLAGS_ALL) -c -o $@ $<

$(BUILD)/libengine.a: $(ENGINE)
	@rm -f $@
	$(AR) rcs $@ $^

$(BUILD)/libtui.a: $(TUI)
	@rm -f $@
	$(AR) rcs $@ $^

entrylab: $(BUILD)/tui/main.o $(BUILD)/libtui.a $(BUILD)/libengine.a
	$(CC) $(CFLAGS_ALL) $(LDFLAGS) -o $@ $^ $(LIBS)

$(BUILD)/tests/unit/%: tests/unit/%.c $(BUILD)/libtui.a $(BUILD)/libengine.a
	@mkdir -p $(@D)
	$(CC) $(CPPFLAGS_ALL) $(CFLAGS_ALL) $(LDFLAGS) -o $@ $< $(BUILD)/libtui.a $(BUILD)/libengine.a -lcmocka $(LIBS)

unit: $(UNIT)
	@for t in $(UNIT); do $$t || exit 1; done

$(BUILD)/entrylab-worker-x86_64: $(WORKER_SRC) $(wildcard engine/worker/*.h engine/*.h)
	@mkdir -p $(@D)
	$(CC) -m64 $(CPPFLAGS_ALL) $(CFLAGS_ALL) $(WORKER_FLAGS) -o $@ $(WORKER_SRC)

$(BUILD)/entrylab-worker-i386: $(WORKER_SRC) $(wildcard engine/worker/*.h engine/*.h)
	@mkdir -p $(@D)
	$(CC) -m32 $(CPPFLAGS_ALL) $(CFLAGS_ALL) $(WORKER_FLAGS) -o $@ $(WORKER_SRC)

clean:
	rm -rf build build-* entrylab

-include $(shell find $(BUILD) -name '*.d' 2>/dev/null)
.PHONY: all unit clean
