/* command_claim: the commands about published claims. */
#ifndef TUI_COMMAND_CLAIM_H
#define TUI_COMMAND_CLAIM_H

#include "tui/command.h"

/* `list claims`, `show CLAIM`. */
int command_claim_list(struct command_call *call, struct error *err);
int command_claim_show(struct command_call *call, struct error *err);

int command_claim_verify(struct command_call *call, struct error *err);

#endif
