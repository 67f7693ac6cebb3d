# list claims, show CLAIM, verify: what they tell, measure, keep and refuse.
# shellcheck shell=bash source=lib.sh

# A claim of the test's own, in the user's directory: NAME LINE...
claim() {
	local dir=$XDG_CONFIG_HOME/entrylab/experiments/claims name=$1
	shift
	mkdir -p "$dir"
	{
		echo "title The claim $name"
		echo "who the test"
		echo "when 2026"
		printf '%s\n' "$@"
	} >"$dir/$name.claim"
}

# Ladders are known beforehand: each rung is its number of adds.
ladder_claims() {
	claim more 'run ladder adds=1,10' 'holds [adds=10] - [adds=1] > 5 cycles' 'published P4 | 9 cycles'
	claim less 'run ladder adds=1,10' 'holds [adds=10] - [adds=1] < 5 cycles | rungs'
	claim ratio 'run ladder adds=1,10' 'holds [adds=10] / [adds=1] >= 9' 'holds [adds=10] / [adds=1] - 1 < 1100%'
	claim between 'run ladder adds=1,10' 'holds [adds=10] - [adds=1] >= 9 cycles'
}

verdict() { # CLAIM
	json --arg c "$1" '.[]|select(.kind=="verdict" and .claim==$c)|.verdict'
}

# Where the machine is shared, controls may fail; then all is undecided, and said so.
trusted() { [ "$STATUS" != 4 ] || skip "the run was not trusted"; }

test_list_claims_shows_every_claim_that_we_ship() {
	local file
	lab list claims
	expect_exit 0
	expect_silent_err
	for file in "$TOP"/experiments/claims/*.claim; do
		expect_out "(^| )$(basename "$file" .claim)( |$)"
	done
	lab list claims --format jsonl
	expect_json 'length>=10 and all(.kind=="claim" and (.statement|endswith(".")))'
	expect_json 'all((.run!=null and (.conditions|length)>0) or (.needs!=null and .needs_why!=null))'
}

# A threshold is nothing without its reason.
test_every_claim_that_we_ship_gives_the_reason_for_its_threshold() {
	lab list claims --format jsonl
	expect_json 'all(.run==null or (.note|length)>40)'
}

test_numbers_of_claims_are_used_once() {
	lab list claims --format jsonl
	expect_json '[.[].number|select(.!=null)]|(length==(unique|length)) and (.==sort)'
}

test_show_tells_a_claim() {
	ladder_claims
	lab show more
	expect_exit 0
	expect_out '^more: The claim more$'
	expect_out '^who +the test$'
	expect_out '^run +ladder adds=1,10$'
	expect_out '^holds if +\[adds=10\] - \[adds=1\] > 5 cycles$'
	expect_out '^published +P4: 9 cycles$'
	lab show less --format csv
	expect_out '^,less,The claim less,the test,2026,,"ladder adds=1,10",rungs,'
	[ ! -e "$ARCHIVE" ] || fail "show measured something"
}

test_verify_tells_what_holds_and_what_fails_from_one_run() {
	ladder_claims
	lab verify more less ratio --format jsonl --time 0.3 --quiet
	trusted
	expect_exit 1
	expect_equal more "$(verdict more)" holds
	expect_equal less "$(verdict less)" fails
	expect_equal ratio "$(verdict ratio)" holds
	expect_json '[.[]|select(.kind=="verdict")|.run]|unique|length==1'
	expect_json '.[]|select(.claim=="more")|.findings[0]|.value.lo<=.value.est and .value.est<=.value.hi and (.value.est-9|fabs)<0.3 and .unit=="cycles" and .threshold==5'
	expect_json '.[]|select(.claim=="ratio")|(.findings|length)==2 and .findings[1].unit=="%"'
	expect_json '.[]|select(.claim=="more")|.published[0].figure=="9 cycles"'
	lab list runs --format jsonl
	expect_json 'length==1 and .[0].experiment=="ladder"'
}

test_a_claim_that_holds_is_status_0_and_its_table_names_what_was_wanted() {
	ladder_claims
	lab verify more --time 0.3
	trusted
	expect_exit 0
	expect_out '^ *more +holds +\+[89]\.[0-9]+ +±[0-9.]+ +> 5 cycles'
	expect_out 'published: P4: 9 cycles'
	expect_out '^1 claim: 1 hold · 1 run, '
}

test_a_threshold_inside_the_interval_decides_nothing_and_says_what_would_have_been() {
	claim alike 'run ladder adds=5,6' 'holds max([adds=5], [adds=6]) / [adds=6] >= 1'
	lab verify alike --time 0.2 --format jsonl
	trusted
	# the larger is always the six adds: the ratio is 1 in every placement, and nothing lies to a side of 1
	expect_equal alike "$(verdict alike)" "not decided"
	expect_exit 0
	expect_json '.[]|select(.kind=="verdict")|.reason|test("would have been decided nine times in ten")'
}

test_the_run_of_a_claim_is_kept_as_a_command_that_can_be_typed() {
	local command
	claim more 'run ladder adds=1,10 --precision 0.5' 'holds [adds=10] - [adds=1] > 5 cycles'
	lab verify more --time 0.2 --seed 3
	trusted
	command=$("$PROGRAM" list runs --format jsonl | jq -r .command)
	expect_equal command "$command" 'run ladder adds=1,10 --precision 0.5 --time 0.2 --seed 3'
	lab verify more --time 0.2 --no-archive
	lab list runs --format jsonl
	expect_json 'length==1'
}

test_time_and_precision_are_the_users_then_the_claims_then_ours() {
	claim own 'run ladder adds=1,10 --time 0.15' 'holds [adds=10] - [adds=1] > 5 cycles'
	claim ours 'run ladder adds=1,10' 'holds [adds=10] - [adds=1] > 5 cycles'
	lab verify own ours
	"$PROGRAM" list runs --format jsonl | jq -r .command | sort >commands
	printf '%s\n' 'run ladder adds=1,10 --time 0.15 --precision 0.02,0.05%' 'run ladder adds=1,10 --time 0.5 --precision 0.02,0.05%' >wanted
	diff wanted commands || fail "other commands"
	rm -rf "$XDG_DATA_HOME"
	printf 'set time 0.1\nverify own ours\n' >script
	lab -f script
	lab list runs --format jsonl
	expect_json 'length==2 and all(.command|test("--time 0.1( |$)"))'
}

test_a_claim_for_another_machine_is_not_testable_and_says_why() {
	claim gate 'needs ring0 an interrupt gate of our own'
	lab verify gate
	expect_exit 3
	expect_out 'gate +not testable here'
	expect_out 'an interrupt gate of our own'
	expect_err 'nothing that was asked for is possible'
	ladder_claims
	lab verify gate more --time 0.3
	trusted
	expect_exit 0
	expect_out '2 claims: 1 hold, 1 not testable here'
}

# A variant whose capability the machine lacks: here one that no machine has, because the worker is not there.
test_a_variant_that_cannot_be_here_makes_its_claim_untestable() {
	own_workers x86_64
	claim lacks 'run ladder abi=i386,x86_64 adds=1' 'holds [abi=i386] - [abi=x86_64] < 1 cycles'
	lab verify lacks --time 0.2
	expect_exit 3
	expect_out 'lacks +not testable here'
	expect_out 'abi=i386: '
}

test_without_an_assembler_nothing_is_testable() {
	ladder_claims
	mkdir empty
	PATH=$PWD/empty "$PROGRAM" verify more >out 2>err
	STATUS=$?
	expect_exit 3
	expect_out 'more +not testable here'
	expect_out 'assembler'
}

test_verify_all_judges_every_claim() {
	lab verify --all --time 0.1 --format jsonl --quiet
	case $STATUS in 0 | 1 | 4) ;; *) fail "expected exit status 0, 1 or 4" ;; esac
	expect_json "[.[]|select(.kind==\"verdict\")]|length==$(find "$TOP/experiments/claims" -name '*.claim' | wc -l)"
	expect_json 'all(.kind!="verdict" or (.verdict|IN("holds","fails","not decided","not testable here")))'
	expect_json 'all(.kind!="verdict" or ((.verdict|IN("holds","fails"))==(.reason==null)))'
}

test_a_broken_claim_does_not_stop_the_others() {
	ladder_claims
	claim broken 'run ladder adds=1' 'holds [adds=2] > 1'
	lab verify more --time 0.2
	trusted
	expect_exit 0
	lab list claims
	expect_exit 0
	expect_out 'The claim more'
	expect_err 'claims/broken\.claim:5: no variant of the run is \[adds=2\]: the run has adds=1'
	lab verify --all --time 0.05 --quiet --format jsonl
	expect_exit 2
	expect_err 'claims/broken\.claim:5: '
	expect_json '[.[]|select(.kind=="verdict" and .claim=="more")]|length==1'
}

# Each file in bad/ says in its first line what is wrong with it, and in lines "# says:" what must stand behind the file's name
# in the message (a pattern of grep -E).
test_every_broken_claim_is_refused_with_its_line_and_what_is_wrong() {
	local file says wrong=0 count=0 command
	for file in "$CLI"/bad/*.claim; do
		count=$((count + 1))
		for command in verify show; do
			lab $command "$file"
			while read -r says; do
				grep -qE -- "^entrylab: $file:$says" err && [ "$STATUS" = 2 ] && [ ! -s out ] && continue
				wrong=$((wrong + 1))
				echo "$command ${file##*/} ($(head -n 1 "$file")): status $STATUS, wanted '$says', got: $(head -c 400 err)"
			done < <(sed -n 's/^# says: //p' "$file")
		done
		grep -q '^# says: ' "$file" || fail "$file does not tell what is expected"
	done
	[ $count -gt 15 ] || fail "only $count broken files"
	[ $wrong -eq 0 ] || exit 1
	[ ! -e "$ARCHIVE" ] || fail "a refused claim was measured"
}

test_what_is_no_claim_is_told() {
	lab verify null-cheapr
	expect_refused "there is no claim 'null-cheapr': did you mean null-cheaper\?"
	lab show null-cheapr
	expect_refused "there is no claim 'null-cheapr': did you mean null-cheaper\?"
	lab verify
	expect_refused 'name a claim'
	lab verify --all null-cheaper
	expect_refused 'name none beside it'
	lab verify null-cheaper null-cheaper
	expect_refused 'null-cheaper is named twice'
	lab verify ./missing.claim
	expect_refused '\./missing\.claim: cannot open: No such file'
	mkdir dir.claim
	lab verify ./dir.claim
	expect_refused 'this is a directory; a claim is a file in it'
	head -c 70000 /dev/zero | tr '\0' '#' >huge.claim
	lab verify ./huge.claim
	expect_refused '70000 bytes; a claim file has at most 64 KiB'
	printf 'title \0\n' >binary.claim
	lab verify ./binary.claim
	expect_refused 'binary\.claim:1: a NUL byte'
	printf 'title \377\n' >latin.claim
	lab verify ./latin.claim
	expect_refused 'latin\.claim:1: byte 0xff is not UTF-8'
	lab list claims more
	expect_refused 'list claims takes no filter'
}

test_verify_that_is_stopped_tells_what_was_measured() {
	claim slow 'run ladder adds=1,10 --time 20 --precision 0.0001' 'holds [adds=10] - [adds=1] > 5 cycles'
	claim later 'run ladder adds=1,2 --time 20 --precision 0.0001' 'holds [adds=2] - [adds=1] > 0.5 cycles'
	# not in the background: there a shell ignores SIGINT
	timeout --preserve-status -k 20 -s INT 1 "$PROGRAM" verify slow later >out 2>err
	STATUS=$?
	expect_exit 130
	expect_out 'later +not decided'
	expect_out 'stopped before it was measured'
	expect_err 'stopped: what was measured is shown'
}
