/* listing: machine code for people, by capstone: a variant's bodies as they would run, and single
 * instructions for messages. */
#ifndef ENGINE_LISTING_H
#define ENGINE_LISTING_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "error.h"
#include "experiment.h"
#include "host.h"

/* The instruction at offset of code, in AT&T syntax, into out; "" when there is none. */
void listing_instruction(enum experiment_abi abi, const uint8_t *code, size_t size, size_t offset,
                         char *out, size_t out_size);

/* Whether code has an instruction that enters the kernel: int n, syscall, sysenter. */
bool listing_enters_kernel(enum experiment_abi abi, const uint8_t *code, size_t size);

/* Whether code names %es or uses it implicitly (string instructions of 32-bit code). Bytes that are
 * no instructions are passed over. */
bool listing_touches_es(enum experiment_abi abi, const uint8_t *code, size_t size);

/* A listing as data: a line an instruction. */
struct listing_line {
	size_t variant;   /* index into the variants */
	const char *part; /* "setup", "body", "teardown", "pool" */
	uint64_t address; /* placed at an example address: 0x10000000 and up */
	uint32_t offset;  /* into the part */
	uint8_t bytes[16];
	uint8_t byte_count;
	char text[96]; /* "push %fs" */
};
struct listing {
	struct listing_line *lines;
	size_t line_count;
	struct listing_part {
		size_t variant;
		const char *part;
		uint32_t size;
		char sha256[65]; /* of bodies; else "" */
	} * parts;
	size_t part_count;
};

/* Assembles the variants and disassembles every part of each, relocated to example addresses. The
 * caller frees with listing_free. Errors as program_build. */
int listing_make(const struct experiment *x, const struct experiment_variants *v,
                 const struct host_probes *probes, struct listing *out, struct error *err);
void listing_free(struct listing *l);

#endif
