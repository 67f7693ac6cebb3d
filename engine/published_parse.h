/* published_parse: what a published table's file is to be. Private to published*.c. */
#ifndef ENGINE_PUBLISHED_PARSE_H
#define ENGINE_PUBLISHED_PARSE_H

#include "textfile.h"

extern const struct textfile_kind published_parse_kind;

#endif
