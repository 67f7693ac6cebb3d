/* The PMU's finder against a kernel played by a script, since most virtual machines refuse every
 * hardware event. */
#include "counters/pmu.h"

#include <errno.h>
#include <limits.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

static struct script {
	int refusal;          /* errno of every open, or 0 */
	unsigned accepted;    /* members that a group may have */
	unsigned running;     /* of these, how many can run at once */
	double instructions;  /* counted, as a share of the truth */
	int branches_refused; /* errno for branch events, or 0 */
	unsigned open_now, opened;
	uint64_t event[64]; /* by descriptor */
} script;

static int play_open(const struct perf_event_attr *attr, pid_t pid, int cpu, int group,
                     unsigned long flags)
{
	assert_int_equal(pid, 0);
	assert_true(cpu >= 0);
	assert_true(flags & PERF_FLAG_FD_CLOEXEC);
	assert_int_equal(attr->size, sizeof *attr);
	assert_true(attr->exclude_kernel);
	errno = script.refusal ? script.refusal : script.branches_refused;
	if (script.refusal ||
	    (attr->config == PERF_COUNT_HW_BRANCH_INSTRUCTIONS && script.branches_refused))
		return -1;
	if (group >= 0 && script.open_now >= script.accepted) {
		errno = EINVAL;
		return -1;
	}
	script.open_now++;
	script.event[script.opened] = attr->config;
	return (int)script.opened++;
}

static int play_control(int fd, unsigned long request, unsigned long argument)
{
	(void)fd, (void)request;
	assert_int_equal(argument, PERF_IOC_FLAG_GROUP);
	return 0;
}

static ssize_t play_read(int fd, void *to, size_t size)
{
	uint64_t out[3] = {0, 1000, 1000};
	double truth = (uint32_t)script.event[fd] == PERF_COUNT_HW_INSTRUCTIONS ? 40000 : 20000;
	assert_int_equal(size, sizeof out);
	out[0] = (uint64_t)(truth * script.instructions);
	if (script.open_now > script.running)
		out[0] = out[2] = 0; /* the group is never scheduled */
	memcpy(to, out, size);
	return (ssize_t)size;
}

static int play_close(int fd)
{
	assert_true(fd >= 0 && (unsigned)fd < script.opened);
	script.open_now--;
	return 0;
}

static const struct pmu_kernel played = {play_open, play_control, play_read, play_close};

static struct pmu_found find(struct script s)
{
	struct pmu_found found;
	int cpu = sched_getcpu();
	script = s;
	pmu_find(&played, cpu, &found);
	assert_int_equal(script.open_now, 0); /* every descriptor is closed */
	found.core_type[0] = 0;               /* the machine's own, not the script's */
	return found;
}

static const char *text(const struct pmu_found *found)
{
	static char line[200];
	pmu_text(found, line, sizeof line);
	assert_true(strlen(line) < sizeof line - 1);
	assert_null(strchr(line, '\n'));
	return line;
}

static void counters_are_counted_by_trying(void **state)
{
	(void)state;
	struct pmu_found found =
	        find((struct script){.accepted = 6, .running = 6, .instructions = 1.0005});
	assert_int_equal(found.verdict, PMU_COUNTS);
	assert_int_equal(found.counters, 6);
	assert_int_equal(found.usable, 6);
	assert_string_equal(text(&found), "6 counters");
}

static void counter_held_by_the_watchdog_is_noticed(void **state)
{
	(void)state;
	struct pmu_found found =
	        find((struct script){.accepted = 4, .running = 3, .instructions = 1});
	assert_int_equal(found.counters, 4);
	assert_int_equal(found.usable, 3);
	assert_non_null(strstr(text(&found), "4 counters, 3 free"));
	assert_non_null(strstr(text(&found), "nmi_watchdog"));
}

static void counter_that_opens_but_does_not_count_is_not_used(void **state)
{
	(void)state;
	static const double shares[] = {0, 0.00085, 0.5, 0.999, 1.1, 3};
	for (size_t i = 0; i < sizeof shares / sizeof shares[0]; i++) {
		struct pmu_found found = find(
		        (struct script){.accepted = 4, .running = 4, .instructions = shares[i]});
		assert_int_equal(found.verdict, PMU_SILENT);
		assert_int_equal(found.counters, 0);
		assert_non_null(strstr(
		        text(&found),
		        "no counters: they open but do not count: 40000 instructions read "));
	}
	/* plausible, but the event never ran */
	struct pmu_found found =
	        find((struct script){.accepted = 4, .running = 0, .instructions = 1});
	assert_int_equal(found.verdict, PMU_SILENT);
}

static void branches_that_cannot_be_counted_leave_one_counter(void **state)
{
	(void)state;
	struct pmu_found found = find((struct script){
	        .accepted = 4, .running = 4, .instructions = 1, .branches_refused = ENOENT});
	assert_int_equal(found.verdict, PMU_COUNTS);
	assert_non_null(strstr(text(&found), "1 counter or more"));
}

static void refusal_says_its_cause_and_the_way_out(void **state)
{
	(void)state;
	static const struct {
		struct pmu_found found;
		const char *says;
	} cases[] = {
	        {{.error = ENOENT, .virtual_machine = true},
	         "no counters: this virtual machine has no PMU (perf_event_open: ENOENT)"},
	        {{.error = EOPNOTSUPP, .virtual_machine = true}, "this virtual machine has no PMU"},
	        {{.error = ENODEV, .virtual_machine = true, .wsl = true},
	         "WSL2 gives this machine no PMU"},
	        {{.error = ENXIO}, "no PMU driver for this CPU (perf_event_open: ENXIO)"},
	        {{.error = EACCES, .paranoid = 4},
	         "perf_event_paranoid is 4: sysctl kernel.perf_event_paranoid=2"},
	        {{.error = EPERM, .paranoid = 2},
	         "EPERM, seccomp refuses perf_event_open: start the container with --security-opt"},
	        {{.error = ENOSYS, .paranoid = 2}, "ENOSYS, seccomp refuses perf_event_open"},
	        {{.error = ENOSYS, .paranoid = INT_MIN}, "built without CONFIG_PERF_EVENTS"},
	        {{.error = EMFILE}, "no counters: perf_event_open: EMFILE: Too many open files"},
	};
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		struct pmu_found found = cases[i].found;
		found.verdict = PMU_REFUSED;
		assert_non_null(strstr(text(&found), cases[i].says));
	}
	struct pmu_found found = find((struct script){.refusal = EACCES});
	assert_int_equal(found.verdict, PMU_REFUSED);
	assert_int_equal(found.error, EACCES);
}

static void cpu_that_does_not_exist_is_no_pmu(void **state)
{
	(void)state;
	struct pmu_found found;
	pmu_find(&played, 1 << 22, &found);
	assert_int_equal(found.verdict, PMU_CPU);
	assert_non_null(strstr(text(&found), "the CPU cannot be used"));
}

static void this_machine_is_described_with_the_librarys_version(void **state)
{
	(void)state;
	char line[256];
	int n = pmu_describe(sched_getcpu(), line, sizeof line);
	assert_true(n >= 0);
	assert_non_null(strstr(line, "; libpfm 4."));
	assert_true(n > 0 || strncmp(line, "no counters: ", 13) == 0);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
	        cmocka_unit_test(counters_are_counted_by_trying),
	        cmocka_unit_test(counter_held_by_the_watchdog_is_noticed),
	        cmocka_unit_test(counter_that_opens_but_does_not_count_is_not_used),
	        cmocka_unit_test(branches_that_cannot_be_counted_leave_one_counter),
	        cmocka_unit_test(refusal_says_its_cause_and_the_way_out),
	        cmocka_unit_test(cpu_that_does_not_exist_is_no_pmu),
	        cmocka_unit_test(this_machine_is_described_with_the_librarys_version),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
