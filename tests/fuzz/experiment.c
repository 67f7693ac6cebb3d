/* libFuzzer harness: an experiment's file, and words that select from it.
 *
 * The first line of the input holds the words of a selection, the second those of --against, the
 * rest is the file. Build with clang -fsanitize=fuzzer,address,undefined. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "engine/experiment.h"

enum { MAX_WORDS = 16 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* What must hold, or the input is a finding. */
static void require(int holds)
{
	if (!holds)
		abort();
}

/* Takes one line off the front and cuts it into words. line is the caller's to free. */
static char *take_words(const char **text, size_t *size, const char **words, size_t *count)
{
	const char *end = memchr(*text, '\n', *size);
	size_t n = end ? (size_t)(end - *text) : *size;
	char *line = strndup(*text, n), *save;
	*count = 0;
	require(line != NULL);
	for (char *w = strtok_r(line, " ", &save); w && *count < MAX_WORDS;
	     w = strtok_r(NULL, " ", &save))
		words[(*count)++] = w;
	n += end != NULL;
	*text += n;
	*size -= n;
	return line;
}

static void check_bases(const struct experiment *x, const struct experiment_variants *v,
                        const char **words, size_t n)
{
	struct error err = {0};
	long *base = calloc(v->count, sizeof *base);
	require(base != NULL);
	int rc = experiment_bases(x, v, words, n, base, &err);
	require(rc == 0 || (rc == ERROR_INPUT && err.text[0]));
	for (size_t i = 0; i < v->count && !rc; i++)
		require(base[i] >= -1 && base[i] < (long)v->count);
	free(base);
}

static void check_variants(const struct experiment *x, const struct experiment_variants *v)
{
	require(v->count > 0 && v->count <= 20000 && v->factor_count == x->factor_count);
	for (size_t i = 0; i < v->count; i++)
		for (size_t k = 0; k < x->exclude_count && i < 64; k++)
			require(!experiment_condition_holds(x, &x->excludes[k].when,
			                                    v->items[i].levels));
	char *label = experiment_variant_label(x, v, v->count - 1);
	require(label && *label);
	free(label);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *text = (const char *)data, *words[MAX_WORDS], *against[MAX_WORDS];
	size_t word_count, against_count;
	struct experiment *x;
	struct experiment_selection s;
	struct experiment_variants v;
	struct error err = {0};
	char *first = take_words(&text, &size, words, &word_count);
	char *second = take_words(&text, &size, against, &against_count);
	int rc = experiment_parse("fuzz", "fuzz.s", text, size, &x, &err);
	require((rc == 0) == (x != NULL));
	if (!rc) {
		require(x->curve == -1 || (x->curve > 0 && x->curve < (long)x->factor_count));
		for (size_t f = 0; f < x->factor_count; f++)
			for (size_t i = 0; i < x->factors[f].level_count; i++)
				experiment_level_mentioned(x, x->factors[f].levels[i]);
		rc = experiment_select(x, words, word_count, &s, &err);
		if (!rc) {
			rc = experiment_expand(x, &s, &v, &err);
			experiment_selection_free(x, &s);
		}
		if (!rc) {
			check_variants(x, &v);
			check_bases(x, &v, against, against_count);
			experiment_variants_free(&v);
		}
		experiment_free(x);
	}
	require(rc == 0 || (rc == ERROR_INPUT && err.text[0]));
	free(first);
	free(second);
	return 0;
}
