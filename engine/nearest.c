#include "nearest.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

/* Longer words are nobody's typing mistake. */
enum { LETTERS_MAX = 64 };

static size_t least(size_t a, size_t b)
{
	return a < b ? a : b;
}

static size_t fold(const char *text, unsigned char *letters)
{
	size_t n = 0;

	for (; text[n] && n < LETTERS_MAX; n++)
		letters[n] = (unsigned char)tolower((unsigned char)text[n]);
	return n;
}

/* Damerau-Levenshtein: the fewest letters inserted, deleted, replaced, or exchanged with a
 * neighbour, where letters may come between the two afterwards (Lowrance and Wagner 1975). cost[i +
 * 1][j + 1] is the distance of the first i letters of a to the first j of b; row and column 0 stand
 * for "never exchanged". */
static size_t distance(const unsigned char *a, size_t na, const unsigned char *b, size_t nb)
{
	unsigned short cost[LETTERS_MAX + 2][LETTERS_MAX + 2];
	unsigned char last_row[256] = {0}; /* where each letter was last seen in a, from 1 */
	const size_t never = na + nb;

	for (size_t i = 0; i <= na; i++) {
		cost[i + 1][0] = (unsigned short)never;
		cost[i + 1][1] = (unsigned short)i;
	}
	for (size_t j = 0; j <= nb; j++) {
		cost[0][j + 1] = (unsigned short)never;
		cost[1][j + 1] = (unsigned short)j;
	}
	cost[0][0] = (unsigned short)never;
	for (size_t i = 1; i <= na; i++) {
		size_t last_match = 0; /* where a[i - 1] was last seen in b, from 1 */

		for (size_t j = 1; j <= nb; j++) {
			size_t row = last_row[b[j - 1]], column = last_match;
			bool same = a[i - 1] == b[j - 1];
			size_t best = cost[i][j] + (same ? 0u : 1u);

			if (same)
				last_match = j;
			best = least(best, cost[i + 1][j] + 1u);
			best = least(best, cost[i][j + 1] + 1u);
			best = least(best,
			             cost[row][column] + (i - row - 1) + 1 + (j - column - 1));
			cost[i + 1][j + 1] = (unsigned short)best;
		}
		last_row[a[i - 1]] = (unsigned char)i;
	}
	return cost[na + 1][nb + 1];
}

int nearest_name(const char *word, const char *const *names, size_t n)
{
	unsigned char typed[LETTERS_MAX], known[LETTERS_MAX];
	size_t length = strlen(word), best = 0;
	int found = -1;

	if (length == 0 || length > LETTERS_MAX)
		return -1;
	fold(word, typed);
	const size_t far = length / 3 > 1 ? length / 3 : 1;

	for (size_t i = 0; i < n; i++) {
		if (strlen(names[i]) > LETTERS_MAX)
			continue;
		size_t letters = fold(names[i], known);
		bool prefix = length <= letters && memcmp(typed, known, length) == 0;
		size_t d = distance(typed, length, known, letters);

		/* With every letter replaced the two have nothing in common: "2" is not a mistyped
		 * "1". */
		if (!prefix && (d > far || d >= (length > letters ? length : letters)))
			continue;
		/* An abbreviation comes before a mistyped name, the same name before both; then the
		 * fewest letters off. */
		size_t order = d * 2 * LETTERS_MAX;

		if (prefix)
			order = d;
		if (found < 0 || order < best) {
			best = order;
			found = (int)i;
		}
	}
	return found;
}
