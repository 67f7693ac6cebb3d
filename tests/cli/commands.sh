# list, show, listing, host: what they tell.
# shellcheck shell=bash source=lib.sh disable=SC2034 # COMMAND is told where an expectation fails

test_list_shows_every_experiment_that_we_ship() {
	local file
	lab list
	expect_exit 0
	for file in "$TOP"/experiments/*.s; do
		expect_out "(^| )$(basename "$file" .s) +(i386|x86_64)"
	done
	lab list experiments --format jsonl
	expect_json "[.[].experiment]|length==$(find "$TOP/experiments" -maxdepth 1 -name '*.s' | wc -l)"
}

test_a_file_in_the_users_directory_is_an_experiment() {
	mkdir -p "$XDG_CONFIG_HOME/entrylab/experiments"
	printf '#: title My own\n.macro body\n\tnop\n.endm\n' >"$XDG_CONFIG_HOME/entrylab/experiments/mine.s"
	lab list
	expect_out 'Other +mine .*My own'
	lab run mine --time 0.1
	expect_measured
	unset XDG_CONFIG_HOME
	mkdir -p "$HOME/.config/entrylab/experiments"
	mv "$HOME/config/entrylab/experiments/mine.s" "$HOME/.config/entrylab/experiments/yours.s"
	lab list
	expect_out 'yours '
}

test_the_first_directory_counts() {
	mkdir one two
	printf '#: title From one\n.macro body\n\tnop\n.endm\n' >one/twin.s
	printf '#: title From two\n.macro body\n\tnop\n.endm\n' >two/twin.s
	ENTRYLAB_EXPERIMENTS=$PWD/one:$PWD/two lab show twin
	expect_out 'From one'
	ENTRYLAB_EXPERIMENTS=$PWD/two:$PWD/one lab show twin
	expect_out 'From two'
	ENTRYLAB_EXPERIMENTS=$PWD/two:$PWD/one lab list
	expect_equal 'lines of twin' "$(grep -c ' twin ' out)" 1
}

test_a_path_is_an_experiment_wherever_it_is() {
	printf '#: title Here\n.macro body\n\tnop\n.endm\n' >here.s
	lab run ./here.s --time 0.1
	expect_measured
	lab run here.s --time 0.1
	expect_measured
	lab run "$PWD/here.s" --time 0.1
	expect_measured
	mkdir 'with blank'
	mv here.s 'with blank/it is.s'
	lab run 'with blank/it is.s' --time 0.1
	expect_measured
}

test_show_tells_documentation_factors_exclusions_and_source() {
	lab show segreg
	expect_exit 0
	expect_out '^segreg: Segment register'
	expect_out 'Fitzhardinge'
	expect_out 'outer .*null.* data ldt gdt tls'
	expect_out 'rdfsbase and its kin exist in x86_64 only'
	expect_out '^\.macro body reg, outer, inner'
	expect_out 'tls\*|fs\*' # a default
	lab show segreg --format jsonl
	expect_json 'length==1 and .[0].kind=="experiment" and (.[0].factors|type=="array")'
}

# The same bytes as the C tools see: a listing is checked against objdump.
test_listing_shows_addresses_bytes_instructions_and_size() {
	need objcopy objdump
	lab listing segreg abi=x86_64 reg=gs outer=tls inner=gdt --format jsonl
	expect_exit 0
	expect_json '[.[]|select(.part=="body")]|length==1 and .[0].bytes==([.[0].lines[].bytes|length/2]|add)'
	json '.[]|select(.part=="body")|.lines[].bytes' | tr -d '\n' | sed 's/../\\x&/g' >hex
	printf "$(cat hex)" >body.bin
	expect_equal 'instructions' "$(json '.[]|select(.part=="body")|.lines|length')" \
		"$(objdump -D -b binary -m i386:x86-64 body.bin | grep -cE '^ +[0-9a-f]+:')"
	lab listing segreg abi=x86_64 reg=gs outer=tls inner=gdt
	expect_out 'body, [0-9]+ bytes, sha256 [0-9a-f]{64}'
	expect_out '[0-9a-f]+ +0f a8 +pushq? +%gs'
}

test_listing_shows_every_variant_that_was_selected() {
	lab listing ladder adds=1..5 abi=all --format jsonl
	expect_exit 0
	expect_json '[.[]|select(.part=="body")]|length==10'
	expect_json '[.[]|select(.part=="body" and .variant.adds=="5")]|all(.bytes==10)'
}

test_the_hash_of_a_listing_is_that_of_the_run() {
	lab run ladder adds=3 --time 0.1 --format jsonl
	expect_measured
	local hash
	hash=$(json '.[]|select(.kind=="result")|.code.sha256')
	lab listing ladder adds=3 --format jsonl
	expect_json '[.[]|select(.part=="body")|.sha256]==[$h]' --arg h "$hash"
}

test_host_tells_the_machine_and_the_reason_for_what_it_lacks() {
	lab host
	expect_exit 0
	expect_out '^CPU +[A-Za-z]'
	expect_out '^kernel +'
	expect_out '^PMU +'
	expect_out '^time stamp +[0-9.]+ GHz'
	expect_out '^capability +i386 +x86_64'
	lab host --format jsonl
	expect_json 'length==1 and .[0].kind=="host"'
	# a capability is true, or a reason
	expect_json '[.[0].capabilities|.i386,.x86_64|.[]]|all(.==true or (type=="string" and length>5))'
	expect_json '.[0].cpu_name|length>0'
	expect_json '.[0].boot_id==$b' --arg b "$(cat /proc/sys/kernel/random/boot_id)"
	lab host --cpu 0 --format jsonl
	expect_exit 0
	expect_json '.[0].cpu==0'
}

# Software clocks are not cycles, and what does not count is not used.
test_without_a_pmu_the_host_says_why_and_cycles_are_calibrated() {
	lab host --format jsonl
	expect_json '.[0].pmu|length>3'
	[ "$(json '.[0].pmu_counters')" = 0 ] || skip "this machine has counters"
	lab run ladder adds=1 --time 0.1 --format jsonl
	expect_measured
	expect_json '[.[]|select(.kind=="result")]|all(.cycles.source=="calibrated")'
}

test_the_cpu_that_was_asked_for_is_the_one_that_measures() {
	local cpu
	for cpu in $(taskset -cp $$ | sed 's/.*: //; s/[,-]/ /g' | awk '{print $1, $NF}'); do
		lab run ladder adds=1 --cpu "$cpu" --time 0.1 --format jsonl
		expect_measured
		expect_json '(.[]|select(.kind=="run")|.cpu)==$c and (.[]|select(.kind=="host")|.cpu)==$c' --argjson c "$cpu"
	done
}

# A thousand rows in one run; not for how long it takes, but that it works.
test_a_thousand_variants_fit_into_one_run() {
	lab run ladder adds=1..1000 --time 0.2 --format jsonl
	expect_measured
	expect_json '[.[]|select(.kind=="result" and .state=="measured")]|length==1000'
}
