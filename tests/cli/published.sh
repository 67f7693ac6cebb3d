# published: tables of published figures beside this machine's.
# shellcheck shell=bash source=lib.sh

# The lines of a table's file without its header.
rows() { grep -v '^#' "$TOP/experiments/published/$1.tsv"; }

test_published_lists_the_tables_that_we_ship() {
	local file
	lab published
	expect_exit 0
	expect_silent_err
	for file in "$TOP"/experiments/published/*.tsv; do
		expect_out "^$(basename "$file" .tsv) "
	done
	lab published --format jsonl
	expect_json 'length==7 and all(.kind=="published-table" and .source!="" and .figures>0)'
	[ ! -e "$ARCHIVE" ] || fail "the list measured something"
}

test_every_published_figure_is_printed_as_it_was_published() {
	local table
	for table in segreg stubseq intr-entry stubpool nullsys sysenter gap; do
		lab published $table --format jsonl --time 0.05 --no-archive --quiet
		expect_measured
		jq -r 'select(.kind=="published")|.columns|[.[]]|@tsv' out >printed
		diff <(rows $table | tail -n +2) printed || fail "$table: other figures"
	done
}

test_segreg_stands_beside_this_machine_in_nanoseconds() {
	both_abis
	lab published segreg --format jsonl --time 0.3 --quiet
	expect_measured
	expect_json 'length==135 and all(.unit=="ns")'
	expect_json '[.[]|select(.columns.reg=="none" and .here!=null)|.here.est]|all(fabs<0.5)'
	expect_json '[.[]|select(.columns.reg!="none" and .here!=null)|.here]|all(.lo<=.est and .est<=.hi and .est>1)'
	expect_json '.[]|select(.columns.cpu=="Pentium III (Coppermine)" and .columns.reg=="fs" and .columns.selector=="data")|.variant=="[reg=fs outer=null inner=data]"'
	expect_json 'all(.here!=null or .reason!=null)'
	"$PROGRAM" list runs --format jsonl >out
	expect_json 'length==1 and .[0].command=="run segreg abi=i386 reg=none,fs,gs outer=null,tls inner=data,ldt,gdt use=inner --time 0.3"'
}

test_the_same_table_for_people_has_this_machine_in_lines_of_its_own() {
	both_abis
	lab published segreg --time 0.2
	expect_measured
	expect_out '^table +cpu +reg +data +ldt +gdt$'
	expect_out '^this machine +none +-?0\.[0-9]+ ±0\.[0-9]+'
	expect_out '^this machine +fs +[0-9.]+ ±[0-9.]+ +[0-9.]+ ±[0-9.]+ +[0-9.]+ ±[0-9.]+$'
	expect_out '^ +Pentium III \(Coppermine\) +none +0 +0 +0$'
	expect_out '^source +J\. Fitzhardinge'
	expect_out '; ns, ±99%; run 1, '
	expect_equal "lines of this machine" "$(grep -c '^this machine' out)" 3
	awk 'length > 110 {exit 1}' out || fail "too wide"
}

test_what_no_program_can_measure_is_shown_without_this_machine_and_says_why() {
	lab published sysenter
	expect_exit 0
	expect_out 'no figure of this machine.s: an entry into a kernel'
	expect_out '^Celeron 366 +82 +236 +253$'
	lab published gap
	expect_exit 0
	expect_out 'no figure of this machine.s'
	expect_out '^reads per histogram +10000000000 '
	[ ! -e "$ARCHIVE" ] || fail "something was measured"
}

test_what_compares_two_kernels_is_called_context() {
	lab published nullsys --time 0.05 --no-archive
	expect_measured
	expect_out '^context +The published pairs compare two kernels'
	expect_out '12\.811'
}

test_a_table_of_the_users_own_is_measured_in_its_unit() {
	mkdir -p "$XDG_CONFIG_HOME/entrylab/experiments/published"
	printf '#: title Adds\n#: source me\n#: value cycles cycles\n#: run ladder adds=1,10,100\n#: here | 2 * [adds={adds}]\n' >mine
	printf 'adds\tcycles\n10\t20\n100\t200\n' >>mine
	mv mine "$XDG_CONFIG_HOME/entrylab/experiments/published/adds.tsv"
	lab published adds --time 0.3 --format jsonl --quiet
	expect_measured
	expect_json '.[0].here.est>19 and .[0].here.est<21 and .[1].here.est>198 and .[1].here.est<202'
	lab published adds --time 0.2
	expect_measured
	expect_out '^adds +cycles +here$'
	expect_out '^100 +200 +(199|200)\.?[0-9]* ±[0-9.]+$'
	sed -i 's/ladder adds/laddr adds/' "$XDG_CONFIG_HOME/entrylab/experiments/published/adds.tsv"
	lab published adds
	expect_exit 0
	expect_out 'there is no experiment laddr here'
}

# As for claims, each file says what is wrong with it; but its header lines are the table's, so these begin with "##".
test_every_broken_table_is_refused_with_its_line_and_what_is_wrong() {
	local file says wrong=0 count=0
	for file in "$CLI"/bad/*.tsv; do
		count=$((count + 1))
		lab published "$file"
		while read -r says; do
			grep -qE -- "^entrylab: $file:$says" err && [ "$STATUS" = 2 ] && [ ! -s out ] && continue
			wrong=$((wrong + 1))
			echo "${file##*/} ($(head -n 1 "$file")): status $STATUS, wanted '$says', got: $(head -c 400 err)"
		done < <(sed -n 's/^## says: //p' "$file")
		grep -q '^## says: ' "$file" || fail "$file does not tell what is expected"
	done
	[ $count -gt 8 ] || fail "only $count broken files"
	[ $wrong -eq 0 ] || exit 1
}

test_what_is_no_table_is_told() {
	lab published segrge
	expect_refused "there is no published table 'segrge': did you mean segreg\?"
	lab published ./missing.tsv
	expect_refused '\./missing\.tsv: cannot open: No such file'
	: >empty.tsv
	lab published ./empty.tsv
	expect_refused 'empty\.tsv:1: the file is empty'
	lab published segreg gap
	expect_refused 'too many words'
}
