/* render_host: the machine a run was measured on, from the JSON object that engine/host.h writes.
 */
#ifndef TUI_RENDER_HOST_H
#define TUI_RENDER_HOST_H

#include "tui/render_page.h"

/* "AMD EPYC 9R14 · 3.70 GHz (calibrated) · TSC 2.596 GHz · cpu 1": what is known of it. json may be
 * NULL. malloc'ed. */
char *render_host_line(const char *json, int cpu);

/* All of it: fields, mitigations, capabilities with the reason for each that is missing, and the
 * advice. */
void render_host_all(const struct render_page *page, const char *json,
                     const struct host_advice *advice, size_t n, enum render_format format);

#endif
