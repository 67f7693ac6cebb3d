/* claim_parse: what a claim's file is to be. Private to claim*.c. */
#ifndef ENGINE_CLAIM_PARSE_H
#define ENGINE_CLAIM_PARSE_H

#include "textfile.h"

extern const struct textfile_kind claim_parse_kind;

#endif
