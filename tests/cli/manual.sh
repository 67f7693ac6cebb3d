# The manual tells what the program does: the tables of both are one.
# shellcheck shell=bash source=lib.sh disable=SC2034 # COMMAND is told where an expectation fails

tables() { # TABLE: the names in it
	"$PROGRAM" help --tables | awk -F'\t' -v t="$1" '$1 == t {print $2}'
}

# The names that a section lists, as its items (.It) give them.
items() { # FILE SECTION
	awk -v s="$2" '/^\.Sh/ {on = ($0 == ".Sh " s)} on && /^\.It/' "$TOP/man/$1"
}

same() { # WHAT PROGRAM MANUAL
	local d
	d=$(diff <(tr ' ' '\n' <<<"$2" | sed '/^$/d' | sort -u) <(tr ' ' '\n' <<<"$3" | sed '/^$/d' | sort -u)) ||
		fail "$1 (< the program, > the manual): $d"
}

page() { [ -f "$TOP/man/$1" ] || skip "there is no man/$1 yet"; }

test_manual_pages_are_clean() {
	local page
	need mandoc
	for page in "$TOP"/man/*.[1-9]; do
		[ -f "$page" ] || skip "there are no pages yet"
		mandoc -T lint -W warning "$page" >lint 2>&1 || fail "$(cat lint)"
	done
}

test_the_manual_has_the_options_of_the_program() {
	page entrylab.1
	same options "$(tables option)" "$(items entrylab.1 OPTIONS | grep -oE 'Fl (Fl )?-?[a-z-]+' | sed -E 's/^Fl (Fl )?-*//' | grep -E '..' | sort -u)"
}

test_the_manual_has_the_commands_of_the_program() {
	page entrylab.1
	same commands "$(tables command)" "$(items entrylab.1 COMMANDS | awk '{print $3}')"
	page entrylab-commands.1
	same commands "$(tables command)" "$(awk '/^\.Ss/ {print $NF}' "$TOP/man/entrylab-commands.1")"
}

# With the same words behind the name, and the same options.
test_the_manual_has_the_words_and_options_of_each_command() {
	local command text words
	page entrylab-commands.1
	need mandoc
	mandoc -T ascii -O width=400 "$TOP/man/entrylab-commands.1" | col -bx >page
	while IFS='~' read -r command words; do
		text=$(awk -v c="$command" '$0 ~ "^   [a-z]" {on = ($1 == c && NF == 1)} on' page)
		grep -qF -- "$command${words:+ $words}" <<<"$text" || fail "entrylab-commands(1): $command $words: not so in its section: $text"
		same "options of $command" "$("$PROGRAM" help --tables | awk -F'\t' -v c="$command" '$1 == "takes" && $2 == c {print $3}')" \
			"$(sed -n 's/^ *Options: //p' <<<"$text" | grep -oE -- '--[a-z-]+' | sed 's/^--//')"
	done < <("$PROGRAM" help --tables | awk -F'\t' '$1 == "command" {print $2 "~" $3}')
}

test_the_manual_has_the_header_keys_fields_and_capabilities_of_the_program() {
	page entrylab-experiment.5
	same 'header keys' "$(tables key)" "$(items entrylab-experiment.5 'HEADER KEYS' | awk '{for (i = 2; i <= NF; i++) if ($i !~ /^(Cm|Ic|Sy|Li|Va)$/) {print $i; break}}' | grep -vxE 'unroll|loop|once|code|pool|buffer|all|flush|walk')"
	same fields "$(tables field)" "$(items entrylab-experiment.5 FIELDS | awk '{for (i = 2; i <= NF; i++) if ($i !~ /^(Cm|Ic|Sy|Li|Va)$/) {print $i; break}}')"
	same capabilities "$(tables capability)" "$(items entrylab-experiment.5 CAPABILITIES | awk '{for (i = 2; i <= NF; i++) if ($i !~ /^(Cm|Ic|Sy|Li|Va)$/) {print $i; break}}')"
}

test_the_manual_has_the_keys_of_claims_and_tables() {
	page entrylab-claims.5
	same 'claim keys' "$(tables claim-key)" "$(items entrylab-claims.5 'CLAIM KEYS' | awk '{print $3}')"
	same 'table keys' "$(tables table-key)" "$(items entrylab-claims.5 'TABLE KEYS' | awk '{print $3}')"
}

# The help of the table is the sentence of the manual.
test_the_manual_says_what_help_says() {
	local text kind name help
	need mandoc
	for kind in option command binding pane tab key capability field claim-key table-key; do
		case $kind in
		option | command | binding | pane | tab) set -- entrylab.1 ;;
		*-key) set -- entrylab-claims.5 ;;
		*) set -- entrylab-experiment.5 ;;
		esac
		page "$1"
		text=$(mandoc -T ascii -O width=400 "$TOP/man/$1" | col -bx | tr -s ' \n' ' ')
		while IFS=$'\t' read -r name help; do
			grep -qF -- "${help%.}" <<<"$text" || fail "$1 does not say of $kind $name: $help"
		done < <("$PROGRAM" help --tables | awk -F'\t' -v OFS='\t' -v k=$kind '$1 == k {print $2, $NF}')
	done
}

# Examples of the manual are commands that the program takes.
test_the_examples_of_the_manual_work() {
	local line n=0
	page entrylab-commands.1
	lab run ladder adds=1,2 --time 0.1
	lab run ladder adds=1,2 --time 0.1
	lab run ladder adds=1,2 --time 0.1
	cp -r home/data data # three runs, to begin with
	printf 'list\n' >tonight.elab
	while read -r line; do
		n=$((n + 1))
		rm -rf home/data
		cp -r data home/data
		printf '%s\n' "set time 0.1" "$line" >example.elab
		lab -f example.elab
		# some are for the workbench
		[ "$STATUS" = 2 ] && grep -q 'is for the workbench' err && continue
		# claims fail where they do
		[ "$line" = "verify --all" ] && [ "$STATUS" = 1 ] && continue
		expect_measured
	done < <("$PROGRAM" help --tables | awk -F'\t' '$1 == "command" {print $2}' | while read -r c; do
		"$PROGRAM" help "$c" | awk '/^Example/ {getline; on = 1; sub(/^ +/, ""); print; exit}'
	done)
	[ $n -ge 5 ] || fail "only $n examples found"
}

test_the_experiment_of_the_manual_works() {
	page entrylab-experiment.5
	need mandoc
	mandoc -T ascii "$TOP/man/entrylab-experiment.5" | col -bx | sed -n '/^EXAMPLES/,/^DIAGNOSTICS/p' >examples
	awk '/#: title/ {n++; on = 1} on {sub(/^ +/, ""); print > ("example" n ".s")} /\.endm/ {on = 0}' examples
	ls example?.s >/dev/null 2>&1 || fail "no examples found"
	for file in example?.s; do
		lab run "./$file" --time 0.1 --format jsonl
		expect_measured
		expect_json '[.[]|select(.kind=="result")]|length>=1 and all(.state=="measured")'
	done
}

# ---- entrylab-experiments(7): what repeats the files of experiments, claims and published tables ----

# The page as it reads, to the file page. No paragraph is as long as a line, so that none is broken at a hyphen.
experiments_page() {
	page entrylab-experiments.7
	need mandoc
	mandoc -T ascii -O width=1000 "$TOP/man/entrylab-experiments.7" | col -bx >page
}

# One section or subsection of it, in one line.
part() { # HEADING
	awk -v h="$1" '/^[^ ]|^   [^ ]/ {sub(/^ +/, ""); on = ($0 == h); next} on' page | tr -s ' \n' ' '
}

sentence() { # TEXT: with its full stop
	echo "${1%.}."
}

test_the_manual_has_a_section_for_each_experiment_in_its_group() {
	page entrylab-experiments.7
	same 'experiments and groups' "$("$PROGRAM" list --format jsonl | jq -r '"\(.experiment):\(.group | ascii_upcase | gsub(" "; "_"))"')" \
		"$(awk '/^\.Sh/ {group = substr($0, 5); gsub(" ", "_", group)} /^\.Ss/ {print $2 ":" group}' "$TOP/man/entrylab-experiments.7")"
}

test_the_manual_has_the_title_source_and_factors_of_each_experiment() {
	local name title source text line
	experiments_page
	for name in $("$PROGRAM" list --format jsonl | jq -r .experiment); do
		lab show "$name" --format jsonl
		text=$(part "$name")
		title=$(json '.[0].title')
		source=$(json '.[0].source')
		[[ $text == " $title ${source:+Source. $(sentence "$source") }Question. "* ]] ||
			fail "entrylab-experiments(7): $name does not begin with its title and its source: ${text:0:300}"
		same "factors of $name" "$(json '.[0].factors[].factor')" \
			"$(awk -v h=".Ss $name" '/^\.S[hs]/ {on = ($0 == h)} on && /^\.It Cm/ {print $3}' "$TOP/man/entrylab-experiments.7")"
		while IFS= read -r line; do
			grep -qF -- " $(sentence "$line")" <<<"$text" || fail "entrylab-experiments(7): $name: not so in its section: $line"
		done < <(json '.[0].factors[] | "\(.factor): \(if .lo then "\(.lo)..\(.hi)" else [.levels[].level] | join(" ") end) \(.doc)"')
	done
}

test_the_manual_has_the_claims_with_their_numbers_and_statements() {
	local text line
	experiments_page
	lab list claims --format jsonl
	text=$(part CLAIMS)
	same claims "$(json '.[].claim')" "$(items entrylab-experiments.7 CLAIMS | sed -n 's/.*Cm \([^ ]*\).*/\1/p')"
	while IFS= read -r line; do
		grep -qF -- " $(sentence "$line")" <<<"$text" || fail "entrylab-experiments(7): no such claim: $line"
	done < <(json '.[] | "\(if .number then "\(.number) " else "" end)\(.claim) (\(.run // .needs | split(" ")[0])) \(.statement)"')
}

test_the_manual_has_the_published_tables_with_their_titles_and_sources() {
	local text line
	experiments_page
	lab published --format jsonl
	text=$(part 'PUBLISHED TABLES')
	same 'published tables' "$(json '.[].table')" "$(items entrylab-experiments.7 'PUBLISHED TABLES' | awk '{print $3}')"
	while IFS= read -r line; do
		grep -qF -- " $(sentence "$line")" <<<"$text" || fail "entrylab-experiments(7): no such table: $line"
	done < <(json '.[] | "\(.table) \(.title | rtrimstr(".")). Source: \(.source | rtrimstr("."))\(if .run then ". Measured by \(.run | split(" ")[0])" else "" end)"')
}

# In the section of an experiment stand commands that run it.
test_the_examples_of_the_experiments_manual_work() {
	local name line found
	page entrylab-experiments.7
	for name in $("$PROGRAM" list --format jsonl | jq -r .experiment); do
		found=0
		while read -r line; do
			found=1
			[[ $line == "run $name" || $line == "run $name "* ]] || fail "entrylab-experiments(7): under $name: $line"
			printf '%s\n' 'set time 0.05' "$line" >example.elab
			lab -f example.elab --quiet
			[ "$STATUS" = 3 ] || expect_measured # 3: not on this machine
		done < <(awk -v h=".Ss $name" '/^\.S[hs]/ {on = ($0 == h)} on && sub(/^\.Dl /, "")' "$TOP/man/entrylab-experiments.7")
		[ $found = 1 ] || fail "entrylab-experiments(7): no example under $name"
	done
}
