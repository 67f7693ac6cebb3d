#include "pin.h"

#include <errno.h>

enum { FIRST_CPUS = 1024, MOST_CPUS = 1 << 20 };

int pin_get(struct pin_set *out)
{
	*out = (struct pin_set){0};
	/* sched_getaffinity answers EINVAL while the set is smaller than the kernel's own: there is
	 * no other way to ask for the size */
	for (int cpus = FIRST_CPUS; cpus <= MOST_CPUS; cpus *= 2) {
		cpu_set_t *set = CPU_ALLOC(cpus);
		size_t size = CPU_ALLOC_SIZE(cpus);
		if (!set)
			return -ENOMEM;
		CPU_ZERO_S(size, set);
		if (sched_getaffinity(0, size, set) == 0) {
			*out = (struct pin_set){.cpus = set, .size = size};
			return 0;
		}
		int error = errno;
		CPU_FREE(set);
		if (error != EINVAL)
			return -error;
	}
	return -EINVAL;
}

void pin_free(struct pin_set *set)
{
	CPU_FREE(set->cpus);
	*set = (struct pin_set){0};
}

int pin_to(int cpu, struct pin_set *saved)
{
	int rc = pin_get(saved);
	if (rc < 0)
		return rc;
	if (cpu < 0 || (size_t)cpu >= saved->size * 8) {
		pin_free(saved);
		return -EINVAL;
	}
	cpu_set_t *one = CPU_ALLOC(saved->size * 8);
	if (!one) {
		pin_free(saved);
		return -ENOMEM;
	}
	CPU_ZERO_S(saved->size, one);
	CPU_SET_S((size_t)cpu, saved->size, one);
	rc = sched_setaffinity(0, saved->size, one) == 0 ? 0 : -errno;
	CPU_FREE(one);
	if (rc < 0)
		pin_free(saved);
	return rc;
}

int pin_restore(struct pin_set *saved)
{
	int rc = sched_setaffinity(0, saved->size, saved->cpus) == 0 ? 0 : -errno;
	pin_free(saved);
	return rc;
}
