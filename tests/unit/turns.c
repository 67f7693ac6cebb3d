/* Loops whose turns have several copies of the body, and patterns that have a period, in real
 * workers. No figure is looked at. */
#include "bench.h"

static uint32_t sized_unroll(struct bench *b)
{
	struct protocol_sized s;
	uint32_t variant = 0;
	ask(b, PROTOCOL_SIZE, &variant, sizeof variant);
	assert_int_equal(hear(b), 1);
	assert_int_equal(b->head.type, PROTOCOL_SIZED);
	memcpy(&s, b->body, sizeof s);
	return s.unroll;
}

/* Samples of 2 unroll and of unroll iterations. */
static void sample(struct bench *b, uint32_t unroll)
{
	struct protocol_block block = {.seed = 1, .rounds = 3, .entries = 1};
	struct protocol_entry entry = {.variant = 0, .unroll = unroll};
	if (worker_send(b->w, PROTOCOL_BLOCK, &block, sizeof block, &entry, sizeof entry, &b->err))
		fail_msg("%s", b->err.text);
	assert_int_equal(hear(b), 1);
	assert_int_equal(b->head.type, PROTOCOL_SAMPLES);
}

FOR_ABIS(every_copy_in_a_turn_is_an_iteration)
{
	struct protocol_checked c =
	        check_of(abi, WITH("#: repeat loop 5\n", "", "incl env_counter(env)\n"));
	assert_int_equal(c.iterations, 5);
	assert_int_equal(c.env.counter, 5);
	assert_int_equal(c.env.iterations, 5);
	assert_int_equal(c.faults, 0);
	c = check_of(abi, WITH("#: repeat loop 2\n", "", "incl env_counter(env)\n"));
	assert_int_equal(c.iterations, 4);
	assert_int_equal(c.env.counter, 4);
}

FOR_ABIS(copies_in_a_turn_lie_at_different_addresses)
{
	struct protocol_checked c = check_of(
	        abi, WITH("#: repeat loop 4\n",
	                  ".macro setup\nmovl $0, env_save0(env)\nmovl $0, env_save1(env)\n.endm\n",
	                  /* twice the same place would be counted in save1 */
	                  "1: mov $1b, %eax\ncmp env_save0(env), %eax\njne 2f\nincl "
	                  "env_save1(env)\n2: mov %eax, env_save0(env)\nincl env_counter(env)\n"));
	assert_int_equal(c.env.counter, 4);
	assert_int_equal(c.env.save1, 0);
}

FOR_ABIS(a_loop_takes_back_what_a_turn_leaves_on_the_stack)
{
	static const char text[] = WITH(
	        "#: repeat loop 4\n#: stack 16\n", ".macro setup\nmovl $0, env_save0(env)\n.endm\n",
	        ".rept 16 / (4 + 4 * abi64)\npush xax\n.endr\nmov xsp, env_save1(env)\n");
	struct protocol_checked c = check_of(abi, text);
	assert_int_equal(c.iterations, 4);
	assert_int_equal(c.faults, 0);
	/* a stack that was never taken back would end in the pages below its room */
	struct bench b;
	bench_open(&b, abi, text);
	bench_ready(&b);
	sample(&b, 1 << 20);
	assert_int_equal(check(&b).faults, 0);
	bench_close(&b);
	/* and one that leaves another amount is still found */
	c = check_of(abi, WITH("#: repeat loop 4\n#: stack 32\n", "", "lea -24(xsp), xsp"));
	assert_int_equal(c.faults, PROTOCOL_CHECK_STACK);
	assert_int_equal(c.stack_moved, 4 * 8);
}

FOR_ABIS(iterations_of_a_loop_come_in_whole_turns)
{
	struct bench b;
	bench_open(&b, abi, WITH("#: repeat loop 48\n", "", "incl env_counter(env)\n"));
	bench_ready(&b);
	assert_int_equal(sized_unroll(&b) % 48, 0);
	bench_close(&b);
}

FOR_ABIS(iterations_of_a_loop_come_in_whole_periods_of_its_pattern)
{
	static const struct {
		uint32_t pattern, period;
	} cases[] = {{PROTOCOL_PATTERN_SHORT, 64}, {PROTOCOL_PATTERN_BLOCKS, 1000}};
	for (size_t i = 0; i < 2; i++) {
		struct bench b;
		/* 3 ones of 4 in every execution, whose place goes on: counted by the last */
		bench_open(
		        &b, abi,
		        WITH("#: repeat loop\n",
		             ".macro setup\nmov env_pattern(env), xsi\nmovl $0, "
		             "env_save1(env)\n.endm\n.macro teardown\nmov env_save1(env), "
		             "%eax\nshl $2, %eax\nmov env_iterations(env), %ecx\nlea (xcx,xcx,2), "
		             "%ecx\ncmp %ecx, %eax\njne 1f\nincl env_save2(env)\n1: incl "
		             "env_save3(env)\n.endm\n",
		             "movzbl (xsi), %eax\ninc xsi\nadd %eax, env_save1(env)\n"));
		b.p.variants[0].pattern = cases[i].pattern;
		b.p.variants[0].share = 75;
		bench_ready(&b);
		uint32_t unroll = sized_unroll(&b);
		assert_int_equal(unroll % cases[i].period, 0);
		uint64_t before2 = check(&b).env.save2, before3 = check(&b).env.save3;
		sample(&b, unroll);
		struct protocol_checked c = check(&b);
		/* 3 rounds, each of 2U and U, each behind one to warm up; and a check, with the
		 * quiet ones of the check before, which have no whole period */
		assert_int_equal(c.env.save3 - before3,
		                 12 + 1 + (has(abi, HOST_FOOTPRINT) ? 8 : 0));
		assert_int_equal(c.env.save2 - before2, 12);
		bench_close(&b);
	}
}

FOR_ABIS(only_the_check_is_told_that_it_is_one)
{
	struct bench b;
	bench_open(&b, abi,
	           WITH("",
	                ".macro teardown\nmov env_checking(env), %eax\nadd %eax, "
	                "env_save0(env)\nincl env_save1(env)\n.endm\n",
	                "nop"));
	bench_ready(&b);
	assert_int_equal(check(&b).env.save0, 1);
	sample(&b, 10);
	struct protocol_checked c = check(&b);
	assert_int_equal(c.env.save0, 2);
	assert_true(c.env.save1 > 10);
	bench_close(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        TEST(every_copy_in_a_turn_is_an_iteration),
	        TEST(copies_in_a_turn_lie_at_different_addresses),
	        TEST(a_loop_takes_back_what_a_turn_leaves_on_the_stack),
	        TEST(iterations_of_a_loop_come_in_whole_turns),
	        TEST(iterations_of_a_loop_come_in_whole_periods_of_its_pattern),
	        TEST(only_the_check_is_told_that_it_is_one),
	};
	return cmocka_run_group_tests(tests, find_workers, NULL);
}
