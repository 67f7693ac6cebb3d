/* render_claims: claims, listed, shown and judged. */
#ifndef TUI_RENDER_CLAIMS_H
#define TUI_RENDER_CLAIMS_H

#include "engine/claim.h"
#include "tui/render.h"

/* `list claims`. */
void render_claims_list(const struct claim_list *list, enum render_format format, FILE *out)
        __attribute__((nonnull));

/* `show CLAIM`. */
void render_claims_show(const struct claim *c, enum render_format format, FILE *out)
        __attribute__((nonnull));

/* A claim with what a run said of it. */
struct render_claims_item {
	const struct claim *claim;
	struct claim_judgement judgement;
	char run[40];      /* the archive's number of the run, or "" */
	double confidence; /* of the intervals; 0 without a run */
};

/* `verify`. runs, seconds: how much was measured. */
void render_claims_verdicts(const struct render_claims_item *items, size_t n, size_t runs,
                            double seconds, enum render_format format, FILE *out)
        __attribute__((nonnull(6)));

#endif
