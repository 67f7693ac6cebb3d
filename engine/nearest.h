/* nearest: the known name that a mistyped one most likely meant. */
#ifndef ENGINE_NEAREST_H
#define ENGINE_NEAREST_H

#include <stddef.h>

/* Returns the index of the name nearest to word by Damerau-Levenshtein distance (letters compared
 * without case; a name that word abbreviates comes before mistyped ones; the first of equals), or
 * -1 if none is near enough to be worth offering (distance above max(1, length of word / 3),
 * nothing in common, or more than 64 letters). */
int nearest_name(const char *word, const char *const *names, size_t n);

#endif
