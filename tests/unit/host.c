#include "engine/host.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>
#include <jansson.h>

#include "engine/experiment.h"
#include "engine/tsc.h"

static struct host described(void)
{
	return (struct host){
	        .cpu_name = "AMD EPYC 9B14",
	        .vendor = "AuthenticAMD",
	        .family = 25,
	        .model = 17,
	        .stepping = 1,
	        .microcode = "0xa10113e",
	        .hypervisor = "KVM",
	        .kernel = "6.1.0-37-amd64 #1 SMP",
	        .cmdline_isolation = "none",
	        .kstack_offset = "off",
	        .tsc_hz = 2.6e9,
	        .tsc_source = "measured",
	        .tsc_granule = 26,
	        .tsc_invariant = true,
	        .governor = "performance",
	        .smt = "off",
	        .clocksource = "tsc",
	        .fred = "no",
	        .pmu = "6 counters; libpfm 4.13.0",
	        .pmu_counters = 6,
	        .perf_paranoid = 2,
	        .boot_id = "c0ffee",
	        .cpu = 1,
	        .cpus = 2,
	        .tool_version = "0.1",
	        .steal = "0.00%",
	};
}

static int last_allowed(void)
{
	size_t n;
	int *cpus = host_cpus_allowed(&n);
	assert_non_null(cpus);
	assert_true(n > 0);
	int cpu = cpus[n - 1];
	free(cpus);
	return cpu;
}

static void capabilities_are_unique_words_with_a_sentence(void **state)
{
	(void)state;
	for (int i = 0; i < HOST_CAPABILITIES; i++) {
		const struct host_capability_info *c = &host_capabilities[i];
		assert_non_null(c->name);
		assert_non_null(c->what);
		assert_true(strlen(c->name) ==
		            strspn(c->name, "abcdefghijklmnopqrstuvwxyz0123456789_"));
		assert_true(strlen(c->what) > 10);
		/* finding its own index means that no earlier one has the name */
		assert_int_equal(host_capability_find(c->name), i);
	}
	assert_int_equal(host_capability_find("ld"), -1);
	assert_int_equal(host_capability_find(""), -1);
}

static void cpu_lists_read_and_write_as_the_kernel_does(void **state)
{
	(void)state;
	static const char *const good[][2] = {
	        {"0-3,8\n", "0-3,8"}, {"0", "0"},     {"", "none"},
	        {"(null)\n", "none"}, {"\n", "none"}, {"1,2,5", "1-2,5"},
	};
	static const char *const bad[] = {"a",  "1-",  "-1",  "3-1",         "1,,2",
	                                  "1,", "2,1", "1 2", "99999999999", "0-99999999"};
	struct cpulist list;
	for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
		assert_true(cpulist_parse(good[i][0], &list));
		char *text = cpulist_format(&list);
		assert_string_equal(text, good[i][1]);
		free(text);
		cpulist_free(&list);
	}
	for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
		assert_false(cpulist_parse(bad[i], &list));
		assert_null(list.cpus);
	}
}

/* Lists given as text, for host_cpu_choose. */
static int choose(int cpu, const char *present, const char *online, const char *allowed,
                  const char *isolated, int *out, struct error *err)
{
	struct cpulist p, o, a, i;
	assert_true(cpulist_parse(present, &p) && cpulist_parse(online, &o) &&
	            cpulist_parse(allowed, &a) && cpulist_parse(isolated, &i));
	int rc = host_cpu_choose(cpu, &p, &o, &a, &i, out, err);
	cpulist_free(&p);
	cpulist_free(&o);
	cpulist_free(&a);
	cpulist_free(&i);
	return rc;
}

static void default_cpu_is_an_isolated_one_else_the_last_allowed(void **state)
{
	(void)state;
	struct error err;
	int cpu = -1;
	assert_int_equal(choose(-1, "0-3", "0-3", "0-3", "", &cpu, &err), 0);
	assert_int_equal(cpu, 3);
	assert_int_equal(choose(-1, "0-3", "0-3", "0-3", "1-2", &cpu, &err), 0);
	assert_int_equal(cpu, 2);
	assert_int_equal(choose(-1, "0-3", "0-3", "0-1", "3", &cpu, &err), 0);
	assert_int_equal(cpu, 1);
	assert_int_equal(choose(-1, "0-3", "0-3", "", "", &cpu, &err), ERROR_INTERNAL);
}

static void cpu_that_cannot_be_had_is_named_with_those_that_can(void **state)
{
	(void)state;
	struct error err;
	int cpu = 42;
	assert_int_equal(choose(7, "0-1", "0-1", "0-1", "", &cpu, &err), ERROR_INPUT);
	assert_string_equal(err.text, "CPU 7 does not exist: this machine has 0-1");
	assert_int_equal(choose(-5, "0-1", "0-1", "0-1", "", &cpu, &err), ERROR_INPUT);
	assert_string_equal(err.text, "CPU -5 does not exist: this machine has 0-1");
	assert_int_equal(choose(0, "0-1", "0-1", "1", "", &cpu, &err), ERROR_INPUT);
	assert_string_equal(err.text, "CPU 0 is not allowed to this process (allowed: 1)");
	assert_int_equal(choose(1, "0-1", "0", "0", "", &cpu, &err), ERROR_INPUT);
	assert_string_equal(err.text,
	                    "CPU 1 is offline: echo 1 > /sys/devices/system/cpu/cpu1/online");
	assert_int_equal(cpu, 42);
}

static void cpus_of_this_machine_can_be_picked(void **state)
{
	(void)state;
	struct error err;
	int cpu;
	assert_int_equal(host_cpu_pick(-1, &cpu, &err), 0);
	assert_int_equal(host_cpu_pick(cpu, &cpu, &err), 0);
	assert_int_equal(host_cpu_pick(100000, &cpu, &err), ERROR_INPUT);
	assert_non_null(strstr(err.text, "CPU 100000 does not exist: this machine has "));
}

static void this_host_is_described_and_its_json_has_every_field(void **state)
{
	(void)state;
	static const char *const names[] = {
	        "cpu_name",      "vendor",        "family",
	        "model",         "stepping",      "microcode",
	        "hypervisor",    "kernel",        "cmdline_isolation",
	        "kstack_offset", "mitigations",   "tsc_hz",
	        "tsc_source",    "tsc_granule",   "tsc_invariant",
	        "core_hz",       "governor",      "smt",
	        "clocksource",   "fred",          "pmu",
	        "pmu_counters",  "perf_paranoid", "boot_id",
	        "cpu",           "cpus",          "tool_version",
	        "steal",         "sibling_load",
	};
	struct host h;
	struct error err;
	int cpu = last_allowed();
	assert_int_equal(host_read(cpu, &h, &err), 0);
	char *text = host_json(&h, NULL);
	json_t *all = json_loads(text, 0, NULL);
	assert_non_null(all);
	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
		const json_t *value = json_object_get(all, names[i]);
		assert_non_null(value);
		if (json_is_string(value))
			assert_true(json_string_length(value) > 0);
	}
	assert_int_equal(json_object_size(all), sizeof names / sizeof names[0]);
	assert_true(json_is_null(json_object_get(all, "core_hz")));
	assert_int_equal(json_integer_value(json_object_get(all, "cpu")), cpu);
	assert_int_equal(json_object_size(json_object_get(all, "mitigations")), h.mitigation_count);
	assert_true(h.tsc_hz > 1e8 && h.tsc_hz < 1e11);
	assert_true(h.tsc_granule >= 1);
	json_decref(all);
	free(text);
	host_free(&h);
}

static void reading_the_host_leaves_the_allowed_cpus_as_they_were(void **state)
{
	(void)state;
	struct host h;
	struct error err;
	size_t before, after;
	int *a = host_cpus_allowed(&before);
	assert_int_equal(host_read(a[0], &h, &err), 0);
	int *b = host_cpus_allowed(&after);
	assert_int_equal(before, after);
	assert_memory_equal(a, b, before * sizeof *a);
	free(a);
	free(b);
	host_free(&h);
}

static void host_of_a_cpu_that_does_not_exist_is_refused(void **state)
{
	(void)state;
	struct host h;
	struct error err;
	assert_int_equal(host_read(100000, &h, &err), ERROR_INPUT);
	assert_non_null(strstr(err.text, "CPU 100000"));
	host_free(&h);
}

static void json_carries_probes_and_text_that_is_not_utf8(void **state)
{
	(void)state;
	struct host h = described();
	struct host_probes probes = {0};
	strcpy(h.cpu_name, "CPU\xff name");
	probes.abi[EXPERIMENT_X86_64][HOST_LDT].present = true;
	strcpy(probes.abi[EXPERIMENT_I386][HOST_LDT].why, "not built");
	char *text = host_json(&h, &probes);
	json_t *all = json_loads(text, 0, NULL);
	assert_non_null(all);
	assert_string_equal(json_string_value(json_object_get(all, "cpu_name")), "CPU? name");
	json_t *caps = json_object_get(all, "capabilities");
	assert_true(json_is_true(json_object_get(json_object_get(caps, "x86_64"), "ldt")));
	assert_string_equal(
	        json_string_value(json_object_get(json_object_get(caps, "i386"), "ldt")),
	        "not built");
	assert_int_equal(json_object_size(json_object_get(caps, "i386")), HOST_CAPABILITIES);
	assert_true(json_is_null(json_object_get(all, "vsyscall")));
	json_decref(all);
	free(text);
	probes.abi[EXPERIMENT_I386][HOST_SYSCALL32] =
	        (struct host_probe){.present = true, .why = "cd 80 c3: int $0x80"};
	text = host_json(&h, &probes);
	all = json_loads(text, 0, NULL);
	assert_string_equal(json_string_value(json_object_get(all, "vsyscall")),
	                    "cd 80 c3: int $0x80");
	caps = json_object_get(all, "capabilities");
	assert_true(json_is_true(json_object_get(json_object_get(caps, "i386"), "syscall32")));
	json_decref(all);
	free(text);
}

static char *compared(const struct host *a, const struct host *b)
{
	char *x = host_json(a, NULL), *y = host_json(b, NULL), *text = host_compare(x, y);
	free(x);
	free(y);
	return text;
}

static void same_hosts_compare_equal_whatever_does_not_move_an_entry_path(void **state)
{
	(void)state;
	struct host a = described(), b = described();
	strcpy(b.boot_id, "another");
	strcpy(b.steal, "3.10%");
	b.core_hz = 3.1e9;
	b.cpu = 0;
	assert_null(compared(&a, &b));
}

static void changed_mitigation_kernel_and_microcode_are_named(void **state)
{
	(void)state;
	char a_list[][2][256] = {{"retbleed", "Vulnerable"},
	                         {"spectre_v2", "Mitigation: Retpolines"}};
	char b_list[][2][256] = {{"retbleed", "Vulnerable"},
	                         {"spectre_v2", "Vulnerable"},
	                         {"vmscape", "Not affected"}};
	struct host a = described(), b = described();
	a.mitigations = a_list;
	a.mitigation_count = 2;
	b.mitigations = b_list;
	b.mitigation_count = 3;
	strcpy(b.microcode, "0xa10113f");
	strcpy(b.kernel, "6.12.1 #1 SMP");
	char *text = compared(&a, &b);
	assert_string_equal(
	        text, "microcode: \"0xa10113e\" against \"0xa10113f\"\n"
	              "kernel: \"6.1.0-37-amd64 #1 SMP\" against \"6.12.1 #1 SMP\"\n"
	              "mitigation spectre_v2: \"Mitigation: Retpolines\" against \"Vulnerable\"\n"
	              "mitigation vmscape: \"unknown\" against \"Not affected\"");
	free(text);
}

static void host_text_that_is_no_object_is_a_difference(void **state)
{
	(void)state;
	struct host h = described();
	char *good = host_json(&h, NULL);
	static const char *const bad[] = {"", "[1]", "{", "null"};
	for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
		char *text = host_compare(good, bad[i]);
		assert_string_equal(text, "the description of the second host cannot be read");
		free(text);
	}
	free(good);
}

static void good_machine_gets_no_advice_but_isolation(void **state)
{
	(void)state;
	struct host h = described();
	struct host_advice out[8];
	assert_int_equal(host_advise(&h, out, 8), 1);
	assert_string_equal(out[0].command, "boot with isolcpus=1 nohz_full=1 rcu_nocbs=1");
	strcpy(h.cmdline_isolation, "isolcpus=1 nohz_full=1");
	assert_int_equal(host_advise(&h, out, 8), 0);
	strcpy(h.cmdline_isolation, "isolcpus=0");
	assert_int_equal(host_advise(&h, out, 8), 1);
	h.cpus = 1;
	assert_int_equal(host_advise(&h, out, 8), 0);
}

static void every_advice_comes_with_the_command(void **state)
{
	(void)state;
	static const char *const commands[] = {
	        "echo 0 > /sys/devices/system/cpu/cpu3/online",
	        "echo performance > /sys/devices/system/cpu/cpu1/cpufreq/scaling_governor",
	        "boot with isolcpus=1 nohz_full=1 rcu_nocbs=1",
	        "boot with randomize_kstack_offset=off",
	        "echo tsc > /sys/devices/system/clocksource/clocksource0/current_clocksource",
	        "sysctl kernel.perf_event_paranoid=2",
	};
	struct host h = described();
	struct host_advice out[8];
	strcpy(h.smt, "on, sibling 3");
	strcpy(h.governor, "powersave");
	strcpy(h.kstack_offset, "on");
	strcpy(h.clocksource, "hpet");
	h.pmu_counters = 0;
	h.perf_paranoid = 3;
	assert_int_equal(host_advise(&h, out, 8), 6);
	for (size_t i = 0; i < 6; i++) {
		assert_string_equal(out[i].command, commands[i]);
		assert_true(strlen(out[i].what) > 20);
	}
	assert_int_equal(host_advise(&h, out, 2), 2);
	/* where nothing can be read, nothing is advised */
	struct host unknown = {.governor = "unknown",
	                       .smt = "unknown",
	                       .clocksource = "unknown",
	                       .kstack_offset = "unknown"};
	assert_int_equal(host_advise(&unknown, out, 8), 0);
}

static void probe_lines_become_answers(void **state)
{
	(void)state;
	struct host_probe out[HOST_CAPABILITIES];
	assert_int_equal(
	        host_probe_parse(
	                "i386 yes\nldt yes\nsysenter no not on this CPU in long mode (#UD)\n", out),
	        3);
	assert_true(out[HOST_I386].present && out[HOST_LDT].present);
	assert_string_equal(out[HOST_LDT].why, "");
	assert_false(out[HOST_SYSENTER].present);
	assert_string_equal(out[HOST_SYSENTER].why, "not on this CPU in long mode (#UD)");
	assert_false(out[HOST_FOOTPRINT].present);
	assert_string_equal(out[HOST_FOOTPRINT].why, "the worker's probe said nothing about it");
	/* what was found may stand behind a yes */
	assert_int_equal(host_probe_parse("syscall32 yes: 51 52 55: syscall\ngdt yes: \n", out), 1);
	assert_true(out[HOST_SYSCALL32].present);
	assert_string_equal(out[HOST_SYSCALL32].why, "51 52 55: syscall");
	assert_false(out[HOST_GDT].present);
}

static void garbage_from_a_probe_is_no_answer(void **state)
{
	(void)state;
	static const char *const garbage[] = {
	        "",         "\n\n",           "yes",
	        "ldt",      "ldt maybe",      "ldt no",
	        "ldt no ",  "ldt yes please", "LDT yes",
	        " ldt yes", "\xff\xfe\n yes", "Segmentation fault\n",
	};
	struct host_probe out[HOST_CAPABILITIES];
	for (size_t i = 0; i < sizeof garbage / sizeof garbage[0]; i++) {
		assert_int_equal(host_probe_parse(garbage[i], out), 0);
		for (int c = 0; c < HOST_CAPABILITIES; c++) {
			assert_false(out[c].present);
			assert_true(out[c].why[0] != 0);
		}
	}
	/* the first answer stands, a long reason is cut, a last line needs no newline */
	char longest[600] = "gdt yes\ngdt no later\nint80 no ";
	memset(longest + strlen(longest), 'x', 500);
	assert_int_equal(host_probe_parse(longest, out), 2);
	assert_true(out[HOST_GDT].present);
	assert_int_equal(strlen(out[HOST_INT80].why), sizeof out[0].why - 1);
}

/* A directory with worker programs that are scripts. */
static char worker_dir[] = "/tmp/entrylab-host-XXXXXX";

static void write_worker(const char *abi, const char *content)
{
	char path[128];
	snprintf(path, sizeof path, "%s/entrylab-worker-%s", worker_dir, abi);
	unlink(path);
	if (!content)
		return;
	FILE *f = fopen(path, "w");
	assert_non_null(f);
	fputs(content, f);
	assert_int_equal(fclose(f), 0);
	assert_int_equal(chmod(path, 0755), 0);
}

static int make_worker_dir(void **state)
{
	(void)state;
	return mkdtemp(worker_dir) && setenv("ENTRYLAB_WORKERS", worker_dir, 1) == 0 ? 0 : -1;
}

static int remove_worker_dir(void **state)
{
	(void)state;
	write_worker("i386", NULL);
	write_worker("x86_64", NULL);
	unsetenv("ENTRYLAB_WORKERS");
	return rmdir(worker_dir);
}

static const char *i386_why(const char *i386_worker)
{
	static struct host_probes probes;
	struct error err;
	memset(&probes, 0, sizeof probes);
	write_worker("i386", i386_worker);
	write_worker("x86_64", "#!/bin/sh\n[ \"$1\" = --probe ] && echo x86_64 yes\n");
	assert_int_equal(host_probe_run(&probes, &err), 0);
	assert_true(probes.abi[EXPERIMENT_X86_64][HOST_X86_64].present);
	assert_false(probes.abi[EXPERIMENT_I386][HOST_I386].present);
	for (int i = 1; i < HOST_CAPABILITIES; i++)
		assert_string_equal(probes.abi[EXPERIMENT_I386][i].why,
		                    probes.abi[EXPERIMENT_I386][0].why);
	return probes.abi[EXPERIMENT_I386][HOST_I386].why;
}

static void worker_that_is_missing_or_does_not_start_is_explained(void **state)
{
	(void)state;
	assert_string_equal(i386_why(NULL), "not built: install gcc-multilib and run make again");
	assert_string_equal(i386_why("no program at all"),
	                    "32-bit programs do not start (ENOEXEC): booted with ia32_emulation=0, "
	                    "or a kernel without IA32 emulation");
	assert_string_equal(i386_why("#!/bin/sh\nkill -SEGV $$\n"),
	                    "32-bit programs die at once (SIGSEGV): ia32_emulation=0, a kernel "
	                    "without IA32 emulation, or a sandbox");
	assert_string_equal(i386_why("#!/bin/sh\necho nonsense; exit 3\n"),
	                    "the worker program gave no answer (exit status 3)");
}

static void worker_that_does_not_answer_is_ended(void **state)
{
	(void)state;
	assert_string_equal(i386_why("#!/bin/sh\nexec sleep 30\n"),
	                    "the worker program did not answer within 2 s");
}

static void time_stamp_rate_is_the_kernels(void **state)
{
	(void)state;
	char source[48];
	double said = tsc_hz(source, sizeof source), measured = tsc_hz_measure(20 * 1000 * 1000);
	assert_true(source[0] != 0);
	assert_true(said > measured * 0.999 && said < measured * 1.001);
}

static void granule_is_the_step_that_all_differences_share(void **state)
{
	(void)state;
	uint64_t steps[] = {52, 26, 78, 0, 26, 26000}, fine[] = {40, 41, 42, 45, 44, 43, 900},
	         none[] = {0, 0};
	/* a step of 26.4 ticks, rounded by a hypervisor that scales the counter */
	uint64_t scaled[] = {26, 27, 52, 53, 79, 80, 105, 106, 26, 27, 91234};
	uint64_t irregular[] = {40, 51, 69, 90, 101};
	assert_int_equal(tsc_granule_of(steps, 6), 26);
	assert_int_equal(tsc_granule_of(fine, 7), 1);
	assert_int_equal(tsc_granule_of(none, 2), 1);
	assert_int_equal(tsc_granule_of(none, 0), 1);
	assert_in_range(tsc_granule_of(scaled, 11), 25, 27);
	assert_int_equal(tsc_granule_of(irregular, 5), 1);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
	        cmocka_unit_test(capabilities_are_unique_words_with_a_sentence),
	        cmocka_unit_test(cpu_lists_read_and_write_as_the_kernel_does),
	        cmocka_unit_test(default_cpu_is_an_isolated_one_else_the_last_allowed),
	        cmocka_unit_test(cpu_that_cannot_be_had_is_named_with_those_that_can),
	        cmocka_unit_test(cpus_of_this_machine_can_be_picked),
	        cmocka_unit_test(this_host_is_described_and_its_json_has_every_field),
	        cmocka_unit_test(reading_the_host_leaves_the_allowed_cpus_as_they_were),
	        cmocka_unit_test(host_of_a_cpu_that_does_not_exist_is_refused),
	        cmocka_unit_test(json_carries_probes_and_text_that_is_not_utf8),
	        cmocka_unit_test(same_hosts_compare_equal_whatever_does_not_move_an_entry_path),
	        cmocka_unit_test(changed_mitigation_kernel_and_microcode_are_named),
	        cmocka_unit_test(host_text_that_is_no_object_is_a_difference),
	        cmocka_unit_test(good_machine_gets_no_advice_but_isolation),
	        cmocka_unit_test(every_advice_comes_with_the_command),
	        cmocka_unit_test(probe_lines_become_answers),
	        cmocka_unit_test(garbage_from_a_probe_is_no_answer),
	        cmocka_unit_test(worker_that_is_missing_or_does_not_start_is_explained),
	        cmocka_unit_test(worker_that_does_not_answer_is_ended),
	        cmocka_unit_test(time_stamp_rate_is_the_kernels),
	        cmocka_unit_test(granule_is_the_step_that_all_differences_share),
	};
	return cmocka_run_group_tests(tests, make_worker_dir, remove_worker_dir);
}
