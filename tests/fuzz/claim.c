/* libFuzzer harness: a claim's file, and a published table's.
 *
 * The first byte says which of the two the rest is. Build with clang
 * -fsanitize=fuzzer,address,undefined, and let ENTRYLAB_EXPERIMENTS name the experiments that the
 * inputs' runs are of. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "engine/claim.h"
#include "engine/published.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* What must hold, or the input is a finding. */
static void require(int holds)
{
	if (!holds)
		abort();
}

static void check_claim(const char *text, size_t size)
{
	struct error err = {0};
	struct claim *c;
	struct claim_judgement j;
	int rc = claim_parse("f", "f.claim", text, size, &c, &err);
	require(rc == 0 || (rc == ERROR_INPUT && err.text[0] && !c));
	if (rc)
		return;
	require(c->needs ? !c->experiment : c->condition_count > 0);
	for (size_t i = 0; i < c->condition_count; i++)
		require(c->conditions[i].formula.reference_count > 0);
	require(claim_judge(c, NULL, CLAIM_UNDECIDED, "no run", &j, &err) == 0);
	require(j.verdict == (c->needs ? CLAIM_UNTESTABLE : CLAIM_UNDECIDED) && j.why);
	claim_judgement_free(&j);
	claim_free(c);
}

static void check_table(const char *text, size_t size)
{
	struct error err = {0};
	struct published *p;
	int rc = published_parse("f", "f.tsv", text, size, &p, &err);
	require(rc == 0 || (rc == ERROR_INPUT && err.text[0] && !p));
	if (rc)
		return;
	require(p->row_count > 0 && p->value < p->column_count &&
	        p->across < (long)p->column_count);
	for (size_t i = 0; i < p->row_count; i++)
		require(!p->rows[i].has_here || p->rows[i].here.degree == 1);
	published_free(p);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text;
	if (!size)
		return 0;
	/* of the exact size, so that reading past it is seen */
	text = malloc(size);
	require(text != NULL);
	memcpy(text, data + 1, size - 1);
	if (data[0] & 1)
		check_claim(text, size - 1);
	else
		check_table(text, size - 1);
	free(text);
	return 0;
}
