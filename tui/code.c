#include "tui/code.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "tui/memory.h"
#include "tui/render_csv.h"
#include "tui/render_json.h"

enum {
	CODE_BYTES_A_LINE = 15, /* no x86 instruction has more */
	CODE_BYTES_SHOWN = 8, /* a wider column for the rare longer ones would push the text away */
};

/* "64 8b 04 25", or without blanks. out has room for three characters a byte. */
static void code_hex(char *out, const struct listing_line *line, const char *between)
{
	*out = '\0';
	for (uint8_t i = 0; i < line->byte_count && i <= CODE_BYTES_A_LINE; i++)
		out += sprintf(out, "%s%02x", i ? between : "", line->bytes[i]);
}

static bool code_in_part(const struct listing_line *line, const struct listing_part *part)
{
	return line->variant == part->variant && strcmp(line->part, part->part) == 0;
}

static void text_variant(const struct experiment *x, const struct experiment_variants *v,
                         size_t variant, FILE *out)
{
	char *label = experiment_variant_label(x, v, variant);

	fprintf(out, "%s%s %s\n", variant ? "\n" : "", x->name, label ? label : "");
	free(label);
}

static void code_text(const struct experiment *x, const struct experiment_variants *v,
                      const struct listing *l, FILE *out)
{
	for (size_t p = 0; p < l->part_count; p++) {
		const struct listing_part *part = &l->parts[p];

		if (p == 0 || part->variant != l->parts[p - 1].variant)
			text_variant(x, v, part->variant, out);
		fprintf(out, "  %s, %" PRIu32 " byte%s%s%s\n", part->part, part->size,
		        part->size == 1 ? "" : "s", part->sha256[0] ? ", sha256 " : "",
		        part->sha256);
		for (size_t i = 0; i < l->line_count; i++) {
			const struct listing_line *line = &l->lines[i];
			char bytes[3 * sizeof(line->bytes) + 1];

			if (!code_in_part(line, part))
				continue;
			code_hex(bytes, line, " ");
			fprintf(out, "    %08" PRIx64 "  %-*s  %s\n", line->address,
			        3 * CODE_BYTES_SHOWN - 1, bytes, line->text);
		}
	}
}

static void code_jsonl(const struct experiment *x, const struct experiment_variants *v,
                       const struct listing *l, FILE *out)
{
	for (size_t p = 0; p < l->part_count; p++) {
		const struct listing_part *part = &l->parts[p];
		json_t *o = json_object(), *variant = json_object(), *lines = json_array();

		for (size_t f = 0; f < v->factor_count; f++)
			json_object_set_new(variant, x->factors[f].name,
			                    render_json_text(v->items[part->variant].levels[f]));
		for (size_t i = 0; i < l->line_count; i++) {
			const struct listing_line *line = &l->lines[i];
			char bytes[3 * sizeof(line->bytes) + 1];
			json_t *one;

			if (!code_in_part(line, part))
				continue;
			one = json_object();
			code_hex(bytes, line, "");
			json_object_set_new(one, "address",
			                    json_integer((json_int_t)line->address));
			json_object_set_new(one, "offset", json_integer(line->offset));
			json_object_set_new(one, "bytes", json_string(bytes));
			json_object_set_new(one, "instruction", render_json_text(line->text));
			json_array_append_new(lines, one);
		}
		json_object_set_new(o, "kind", json_string("listing"));
		json_object_set_new(o, "experiment", render_json_text(x->name));
		json_object_set_new(o, "variant", variant);
		json_object_set_new(o, "part", json_string(part->part));
		json_object_set_new(o, "bytes", json_integer(part->size));
		json_object_set_new(o, "sha256",
		                    part->sha256[0] ? json_string(part->sha256) : json_null());
		json_object_set_new(o, "lines", lines);
		render_json_line(out, o);
	}
}

static void code_csv(const struct experiment *x, const struct experiment_variants *v,
                     const struct listing *l, FILE *out)
{
	fputs("experiment", out);
	for (size_t f = 0; f < v->factor_count; f++) {
		char *name = memory_format("factor_%s", x->factors[f].name);

		render_csv_text(out, false, name);
		free(name);
	}
	fputs(",part,address,offset,bytes,instruction", out);
	render_csv_end(out);
	for (size_t i = 0; i < l->line_count; i++) {
		const struct listing_line *line = &l->lines[i];
		char bytes[3 * sizeof(line->bytes) + 1];

		render_csv_text(out, true, x->name);
		for (size_t f = 0; f < v->factor_count; f++)
			render_csv_text(out, false, v->items[line->variant].levels[f]);
		render_csv_text(out, false, line->part);
		code_hex(bytes, line, "");
		fprintf(out, ",0x%" PRIx64 ",%" PRIu32 ",%s", line->address, line->offset, bytes);
		render_csv_text(out, false, line->text);
		render_csv_end(out);
	}
}

void code_print(const struct experiment *x, const struct experiment_variants *v,
                const struct listing *l, enum render_format format, FILE *out)
{
	switch (format) {
	case RENDER_TEXT:
		code_text(x, v, l, out);
		break;
	case RENDER_JSONL:
		code_jsonl(x, v, l, out);
		break;
	case RENDER_CSV:
		code_csv(x, v, l, out);
		break;
	case RENDER_FORMATS:
		break;
	}
}
