#include "place.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "link.h"
#include "shot.h"

#ifndef MFD_EXEC
#define MFD_EXEC 0x10u
#endif
#ifndef MAP_FIXED_NOREPLACE
#define MAP_FIXED_NOREPLACE 0x100000
#endif

enum {
	PAGE = 4096,
	LOWEST = 0x10000000, /* above the worker itself */
	HIGHEST = 0x70000000,
	CODE_LIMIT = 16384,
	COPIES_LIMIT = 8192,
	STACK_LIMIT = 256 << 10,
	LINE = 64,
	TAIL = 32 + 2 * LINE, /* room behind the copies: the loop's end, the jump out, and once a
	                         second one on a line of its own */
};

static struct {
	void *message;
	const struct protocol_section *sections;
	const struct protocol_fixup *fixups;
	const struct protocol_variant *variants;
	const uint8_t *bytes;
	struct protocol_program head;
	uint32_t *address; /* of each section that is placed, now */
	uint8_t *body;     /* of each section: it is repeated, not placed once */
	uint8_t *wanted;   /* of each section: it belongs to what is being placed */
} program;

/* One region, seen twice. */
static struct {
	int fd; /* -1: no executable memfd here; write then holds the only mapping */
	uint8_t *write;
	uint32_t exec; /* address of the executable mapping */
	size_t size, used;
} region = {.fd = -1};

static struct {
	uint8_t *at;
	size_t size;
} data;

uint64_t place_random(uint64_t *state)
{
	/* xorshift64*, Vigna 2016 */
	uint64_t x = *state;
	x ^= x >> 12;
	x ^= x << 25;
	x ^= x >> 27;
	*state = x;
	return x * 2685821657736338717ull;
}

void place_load(const void *message, uint32_t size)
{
	free(program.message);
	free(program.address);
	free(program.body);
	free(program.wanted);
	program.message = malloc(size);
	if (!program.message || size < sizeof program.head)
		link_fail("program");
	memcpy(program.message, message, size);
	memcpy(&program.head, message, sizeof program.head);
	const struct protocol_program *h = &program.head;
	uint64_t want = sizeof *h + (uint64_t)h->sections * sizeof *program.sections +
	                (uint64_t)h->fixups * sizeof *program.fixups +
	                (uint64_t)h->variants * sizeof *program.variants + h->bytes;
	errno = 0;
	if (want != size)
		link_fail("a program's size does not add up");
	const uint8_t *p = (const uint8_t *)program.message + sizeof *h;
	program.sections = (const void *)p;
	p += h->sections * sizeof *program.sections;
	program.fixups = (const void *)p;
	p += h->fixups * sizeof *program.fixups;
	program.variants = (const void *)p;
	p += h->variants * sizeof *program.variants;
	program.bytes = p;
	program.address = calloc(h->sections + 1, sizeof *program.address);
	program.body = calloc(h->sections + 1, 1);
	program.wanted = calloc(h->sections + 1, 1);
	if (!program.address || !program.body || !program.wanted)
		link_fail("out of memory");
	for (uint32_t i = 0; i < h->variants; i++) {
		if (program.variants[i].body >= 0)
			program.body[program.variants[i].body] = 1;
		if (program.variants[i].baseline >= 0)
			program.body[program.variants[i].baseline] = 1;
	}
}

uint32_t place_variant_count(void)
{
	return program.head.variants;
}

const struct protocol_variant *place_variant(uint32_t variant)
{
	return &program.variants[variant];
}

static uint32_t round_up(uint32_t x, uint32_t align)
{
	return (x + align - 1) & ~(align - 1);
}

static uint32_t body_stride(uint32_t variant)
{
	int32_t s = program.variants[variant].body;
	return s < 0 ? 0 : round_up(program.sections[s].memory, program.sections[s].align);
}

static uint32_t body_align(uint32_t variant)
{
	const struct protocol_variant *v = &program.variants[variant];
	uint32_t align = v->align;
	if (v->body >= 0 && program.sections[v->body].align > align)
		align = program.sections[v->body].align;
	return align;
}

uint32_t place_copies_limit(uint32_t variant)
{
	uint32_t stride = body_stride(variant), stack = program.variants[variant].stack,
	         n = COPIES_LIMIT;
	if (stride && CODE_LIMIT / stride < n)
		n = CODE_LIMIT / stride;
	if (stack && STACK_LIMIT / stack < n)
		n = STACK_LIMIT / stack;
	return n < 2 ? 2 : n;
}

/* A mapping at a random page below 2 GB, where nothing else is. */
static void *map_low(size_t size, int protection, int flags, int fd, uint64_t *random)
{
	for (int i = 0; i < 256; i++) {
		uint32_t span = (HIGHEST - LOWEST - (uint32_t)size) / PAGE;
		uint32_t at = LOWEST + (uint32_t)(place_random(random) % span) * PAGE;
		void *p = mmap((void *)(uintptr_t)at, size, protection, flags | MAP_FIXED_NOREPLACE,
		               fd, 0);
		if (p == (void *)(uintptr_t)at)
			return p;
		if (p != MAP_FAILED)
			munmap(p, size); /* a kernel before 4.17 takes the flag for a hint */
		else if (errno != EEXIST)
			break;
	}
	return MAP_FAILED;
}

void *place_map(size_t size, uint64_t *random)
{
	void *p = map_low(size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE,
	                  -1, random);
	return p == MAP_FAILED ? NULL : p;
}

static int executable_file(size_t size)
{
	/* vm.memfd_noexec may refuse; older kernels do not know the flag */
	int fd = (int)syscall(SYS_memfd_create, "code", MFD_EXEC);
	if (fd < 0)
		fd = (int)syscall(SYS_memfd_create, "code", 0);
	if (fd < 0)
		return -1;
	void *p = MAP_FAILED;
	if (!ftruncate(fd, (off_t)size))
		p = mmap(NULL, PAGE, PROT_READ | PROT_EXEC, MAP_SHARED, fd, 0);
	if (p == MAP_FAILED) {
		close(fd);
		return -1;
	}
	munmap(p, PAGE);
	return fd;
}

static void region_prepare(size_t size, uint64_t *random)
{
	size = (size + PAGE - 1) & ~(size_t)(PAGE - 1);
	if (size > HIGHEST - LOWEST - (64 << 20)) {
		errno = 0;
		link_fail("the code of this run is too large to be placed");
	}
	if (region.exec)
		munmap((void *)(uintptr_t)region.exec, region.size);
	region.exec = 0;
	if (region.fd < 0 || size > region.size) {
		if (region.fd >= 0) {
			munmap(region.write, region.size);
			close(region.fd);
		}
		region.size = size;
		region.fd = executable_file(size);
		if (region.fd >= 0) {
			region.write =
			        mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, region.fd, 0);
			if (region.write == MAP_FAILED)
				link_fail("cannot map memory for code");
		}
	}
	void *p;
	if (region.fd >= 0) {
		p = map_low(region.size, PROT_READ | PROT_EXEC, MAP_SHARED | MAP_POPULATE,
		            region.fd, random);
	} else {
		/* never writable and executable at once: region_seal changes the protection */
		p = map_low(region.size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
		            random);
		region.write = p;
	}
	if (p == MAP_FAILED)
		link_fail("cannot map memory for code below 2 GB");
	region.exec = (uint32_t)(uintptr_t)p;
	region.used = 0;
}

static void region_seal(void)
{
	if (region.fd < 0 && mprotect(region.write, region.size, PROT_READ | PROT_EXEC))
		link_fail("cannot make code executable");
	/* Code was changed through another address: a serialising instruction must come before it
	 * is run (SDM vol. 3, 9.1.3). */
	unsigned a = 0, b, c = 0, d;
	__asm__ volatile("cpuid" : "+a"(a), "=b"(b), "+c"(c), "=d"(d)::"memory");
}

/* Takes size bytes behind a random gap of less than spread bytes. */
static uint32_t region_take(uint32_t size, uint32_t align, uint32_t spread, uint64_t *random)
{
	uint32_t gap = spread > 1 ? (uint32_t)(place_random(random) % spread) : 0;
	uint32_t at = round_up(region.exec + (uint32_t)region.used + gap, align) - region.exec;
	region.used = at + size;
	return at;
}

static void apply(uint8_t *to, uint32_t address, const struct protocol_section *s)
{
	uint32_t self = (uint32_t)(s - program.sections);
	for (uint32_t i = 0; i < s->fixups; i++) {
		const struct protocol_fixup *f = &program.fixups[s->fixup + i];
		/* a copy of a body that names a label of its own means itself and not the first
		 * copy */
		int64_t base = f->section == PROTOCOL_SHARED ? 0
		               : f->section == self          ? address
		                                             : program.address[f->section];
		int64_t value = f->addend + base;
		int64_t relative = value - (int64_t)address - f->at;
		uint8_t *at = to + f->at;
		switch (f->kind) {
		case PROTOCOL_ABS16:
			memcpy(at, &value, 2);
			break;
		case PROTOCOL_ABS32:
			memcpy(at, &value, 4);
			break;
		case PROTOCOL_ABS64:
			memcpy(at, &value, 8);
			break;
		case PROTOCOL_REL8:
			memcpy(at, &relative, 1);
			break;
		case PROTOCOL_REL16:
			memcpy(at, &relative, 2);
			break;
		case PROTOCOL_REL32:
			memcpy(at, &relative, 4);
			break;
		case PROTOCOL_REL64:
			memcpy(at, &relative, 8);
			break;
		default:
			errno = 0;
			link_fail("a fixup of an unknown kind");
		}
	}
}

static void write_section(uint8_t *to, uint32_t address, const struct protocol_section *s)
{
	memcpy(to, program.bytes + s->offset, s->size);
	memset(to + s->size, 0, s->memory - s->size);
	apply(to, address, s);
}

/* Shared sections always; a variant's own only when it is placed: a run may have thousands. */
static void choose_sections(const uint32_t *variants, uint32_t n)
{
	uint8_t *listed = calloc(program.head.variants + 1, 1);
	if (!listed)
		link_fail("out of memory");
	for (uint32_t i = 0; i < n; i++)
		listed[variants[i]] = 1;
	for (uint32_t i = 0; i < program.head.sections; i++) {
		uint32_t v = program.sections[i].variant;
		program.wanted[i] = v == PROTOCOL_SHARED || listed[v];
	}
	for (uint32_t i = 0; i < n; i++) {
		const struct protocol_variant *v = &program.variants[variants[i]];
		if (v->setup >= 0)
			program.wanted[v->setup] = 1;
		if (v->teardown >= 0)
			program.wanted[v->teardown] = 1;
		if (v->pool >= 0)
			program.wanted[v->pool] = 1;
	}
	free(listed);
}

/* Executable sections that are placed once: setup, teardown, pool, and what the file puts into
 * .text. */
static bool placed_once(uint32_t section)
{
	const struct protocol_section *s = &program.sections[section];
	return (s->flags & PROTOCOL_EXEC) && !program.body[section] && program.wanted[section] &&
	       s->memory;
}

static uint8_t *jump(uint8_t *to, uint32_t address, uint32_t target)
{
	int32_t displacement = (int32_t)(target - (address + 5));
	*to++ = 0xe9;
	memcpy(to, &displacement, 4);
	return to + 4;
}

/* lea bytes(%rsp), %rsp: leaves the flags alone. */
static uint8_t *take_stack_back(uint8_t *to, uint32_t bytes)
{
#ifdef __x86_64__
	const uint8_t lea[] = {0x48, 0x8d, 0xa4, 0x24};
#else
	const uint8_t lea[] = {0x8d, 0xa4, 0x24};
#endif
	to = mempcpy(to, lea, sizeof lea);
	return mempcpy(to, &bytes, sizeof bytes);
}

static void write_bodies(uint32_t variant, const struct place *p)
{
	const struct protocol_variant *v = &program.variants[variant];
	uint8_t *to = region.write + (p->code - region.exec);
	uint32_t address = p->code;
	const struct protocol_section *s = v->body < 0 ? NULL : &program.sections[v->body];
	for (uint32_t i = 0; s && p->stride && i < p->copies; i++) {
		write_section(to, address, s);
		memset(to + s->memory, 0x90, p->stride - s->memory);
		to += p->stride;
		address += p->stride;
	}
	if (v->repeat == PROTOCOL_LOOP) {
		uint8_t *before = to;
		if (v->stack)
			to = take_stack_back(to, s ? v->stack * p->copies : 0);
		address += (uint32_t)(to - before);
		/* subl $1, env_loop(%rbp); jnz back. The field lies within a signed byte of %rbp.
		 */
		_Static_assert(offsetof(struct environment, loop) < 128, "disp8");
		const uint8_t count[] = {0x83, 0x6d, offsetof(struct environment, loop),
		                         1,    0x0f, 0x85};
		memcpy(to, count, sizeof count);
		int32_t back = (int32_t)(p->code - (address + sizeof count + 4));
		memcpy(to + sizeof count, &back, 4);
		to += sizeof count + 4;
		address += sizeof count + 4;
	}
	jump(to, address, (uint32_t)(uintptr_t)shot_exit);
	if (v->repeat == PROTOCOL_ONCE)
		jump(region.write + (p->nothing - region.exec), p->nothing,
		     (uint32_t)(uintptr_t)shot_exit);
}

static void place_data(uint64_t *random)
{
	size_t size = 0;
	for (uint32_t i = 0; i < program.head.sections; i++)
		if (!(program.sections[i].flags & PROTOCOL_EXEC))
			size = round_up((uint32_t)size, program.sections[i].align) +
			       program.sections[i].memory;
	if (!size)
		return;
	if (data.at)
		munmap(data.at, data.size);
	data.size = (size + PAGE - 1) & ~(size_t)(PAGE - 1);
	data.at = map_low(data.size, PROT_READ | PROT_WRITE,
	                  MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, random);
	if (data.at == MAP_FAILED)
		link_fail("cannot map memory for data below 2 GB");
	size = 0;
	for (uint32_t i = 0; i < program.head.sections; i++) {
		const struct protocol_section *s = &program.sections[i];
		if (s->flags & PROTOCOL_EXEC)
			continue;
		size = round_up((uint32_t)size, s->align);
		program.address[i] = (uint32_t)(uintptr_t)data.at + (uint32_t)size;
		size += s->memory;
	}
}

/* Everything but bodies, of the variants that are placed and of all: addresses first, for
 * relocations may go either way. */
static size_t measure(const uint32_t *variants, const uint32_t *copies, uint32_t n)
{
	size_t size = PAGE;
	for (uint32_t i = 0; i < n; i++)
		size += (size_t)body_stride(variants[i]) * copies[i] + TAIL +
		        body_align(variants[i]) + PAGE;
	for (uint32_t i = 0; i < program.head.sections; i++)
		if (placed_once(i))
			size += program.sections[i].memory + program.sections[i].align + 256;
	return size;
}

static void take_sections(uint64_t *random)
{
	for (uint32_t i = 0; i < program.head.sections; i++) {
		const struct protocol_section *s = &program.sections[i];
		if (placed_once(i))
			program.address[i] =
			        region.exec + region_take(s->memory + 1, s->align, 256, random);
	}
}

static void write_sections(void)
{
	for (uint32_t i = 0; i < program.head.sections; i++) {
		const struct protocol_section *s = &program.sections[i];
		if (!(s->flags & PROTOCOL_EXEC)) {
			write_section((uint8_t *)(uintptr_t)program.address[i], program.address[i],
			              s);
		} else if (placed_once(i)) {
			uint8_t *to = region.write + (program.address[i] - region.exec);
			write_section(to, program.address[i], s);
			to[s->memory] = 0xc3; /* setup and teardown return here */
		}
	}
}

static uint32_t section_address(int32_t s)
{
	return s < 0 || !program.sections[s].memory ? 0 : program.address[s];
}

void place_block(const uint32_t *variants, const uint32_t *copies, uint32_t n, uint64_t *random,
                 struct place *out)
{
	uint32_t *order = malloc((n + 1) * sizeof *order);
	if (!order)
		link_fail("out of memory");
	for (uint32_t i = 0; i < n; i++) {
		uint32_t j = (uint32_t)(place_random(random) % (i + 1));
		order[i] = order[j];
		order[j] = i;
	}
	choose_sections(variants, n);
	region_prepare(measure(variants, copies, n), random);
	place_data(random);
	take_sections(random);
	for (uint32_t k = 0; k < n; k++) {
		uint32_t i = order[k], v = variants[i];
		const struct protocol_variant *pv = &program.variants[v];
		uint32_t stride = body_stride(v);
		uint32_t at = region_take(stride * copies[i] + TAIL, body_align(v), PAGE, random);
		out[i] = (struct place){
		        .code = region.exec + at,
		        .stride = stride,
		        .copies = copies[i],
		        .setup = section_address(pv->setup),
		        .setup_size = pv->setup < 0 ? 0 : program.sections[pv->setup].memory,
		        .teardown = section_address(pv->teardown),
		        .teardown_size =
		                pv->teardown < 0 ? 0 : program.sections[pv->teardown].memory,
		        .pool = section_address(pv->pool),
		        .pool_size = pv->pool < 0 ? 0 : program.sections[pv->pool].memory,
		        /* the jump behind the body ends on this line or the one before */
		        .nothing = round_up(region.exec + at + stride * copies[i] + 5, LINE),
		};
		/* a reference to a label in a body, from outside it, means its first copy */
		if (pv->body >= 0)
			program.address[pv->body] = out[i].code;
	}
	write_sections();
	for (uint32_t i = 0; i < n; i++)
		write_bodies(variants[i], &out[i]);
	region_seal();
	free(order);
}

uint32_t place_entry(uint32_t variant, const struct place *p, uint32_t iterations)
{
	if (program.variants[variant].repeat == PROTOCOL_LOOP)
		return p->code;
	if (program.variants[variant].repeat == PROTOCOL_ONCE && !iterations)
		return p->nothing;
	return p->code + (p->copies - iterations) * p->stride;
}
