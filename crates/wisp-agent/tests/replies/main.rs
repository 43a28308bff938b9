//! What wisp does with each way a server or a reply can be wrong, against the scripted server over real HTTP.
//!
//! The faults seen in the field, by the number they have in the reference of Ollama's API, and the test that plays
//! each of them. `the_table_names_tests_that_are_there` holds the table to the files.
//!
//! | # | fault | file | test |
//! | --- | --- | --- | --- |
//! | 1 | old turns vanish behind 200 | window.rs | `nothing_over_the_window_is_sent_to_a_server_that_would_cut_it_silently` |
//! | 1 | the same, noticed | window.rs | `a_cut_prompt_is_noticed_by_its_count_and_its_calls_are_not_run` |
//! | 2 | the window's errors, of every path | window.rs | `a_refused_prompt_is_condensed_and_asked_again_once` |
//! | 3 | the same inside JSON inside text | window.rs | `a_refused_prompt_is_condensed_and_asked_again_once` |
//! | 4 | `num_ctx` ignored through `/v1` | replies/requests.rs | `only_the_native_routes_are_used_and_the_window_is_always_said` |
//! | 5 | the model is loaded again for each turn | server.rs | `a_model_that_is_loaded_for_each_turn_is_told_of_once_with_what_to_do` |
//! | 6 | no calls while streaming | replies/requests.rs | `a_server_from_before_0_5_is_refused_and_the_remedy_named` |
//! | 7 | a call written as text | replies/calls.rs | `a_call_written_as_text_is_recovered_and_marked` |
//! | 8 | arguments that are no object | replies/requests.rs | `content_is_text_arguments_are_objects_and_one_system_message_is_first` |
//! | 9 | content that is no text | replies/requests.rs | `content_is_text_arguments_are_objects_and_one_system_message_is_first` |
//! | 10 | a call of gpt-oss that cannot be read | replies/broken.rs | `a_call_the_server_could_not_read_is_asked_for_again_changed` |
//! | 11 | the same in XML | replies/broken.rs | `a_model_that_cannot_write_a_call_is_given_up_after_two_changes` |
//! | 12 | a retry that hangs | replies/broken.rs | `a_server_that_hangs_after_a_bad_call_is_freed_by_unloading_the_model` |
//! | 13 | an error under another key | replies/broken.rs | `an_error_under_another_key_is_an_error_and_not_a_reply` |
//! | 14 | thinking and then nothing | replies/empty.rs | `a_model_that_only_thinks_is_asked_not_to_for_one_request` |
//! | 15 | thinking that used up the room | replies/empty.rs | `thinking_that_used_up_the_room_goes_straight_to_no_thinking` |
//! | 16 | tags of thinking in content | replies/empty.rs | `thinking_tags_in_content_become_thinking` |
//! | 17 | no support for tools | replies/refused.rs | `a_refusal_of_tools_or_thinking_is_met_once_and_remembered` |
//! | 18 | no support for thinking | replies/trying.rs | `a_refusal_to_think_is_remembered_while_the_models_file_is_the_same` |
//! | 19 | an end without `done` | replies/broken.rs | `no_call_is_run_from_a_reply_that_did_not_end` |
//! | 20 | an error in the middle | replies/broken.rs | `what_had_arrived_of_a_broken_reply_is_kept_and_marked` |
//! | 21 | the runner died | replies/broken.rs | `a_runner_that_died_is_tried_once_more` |
//! | 22 | not enough memory | replies/refused.rs | `what_cannot_be_helped_is_not_tried_again` |
//! | 23 | the load took too long | replies/refused.rs | `what_cannot_be_helped_is_not_tried_again` |
//! | 24 | the server is busy | replies/refused.rs | `a_busy_server_is_waited_for_and_no_longer_than_five_tries` |
//! | 25 | the cloud is overloaded, or drops the stream | replies/elsewhere.rs | `an_overloaded_service_is_waited_for_and_a_dropped_stream_is_asked_for_anew` |
//! | 26 | the quota is used up | replies/refused.rs | `what_cannot_be_helped_is_not_tried_again` |
//! | 27 | not signed in | replies/refused.rs | `what_cannot_be_helped_is_not_tried_again` |
//! | 28 | lines cut across chunks | replies/calls.rs | `a_call_runs_and_its_result_comes_back_on_every_profile_and_chunker` |
//! | 29 | characters cut across chunks | replies/calls.rs | `a_call_runs_and_its_result_comes_back_on_every_profile_and_chunker` |
//! | 30 | counts that are missing | replies/requests.rs | `counts_that_are_missing_are_unknown_and_not_nought` |
//! | 31 | a reply that only loads | replies/broken.rs | `a_reply_that_only_says_the_model_was_loaded_is_an_error` |
//! | 32 | nothing after a result | replies/empty.rs | `an_empty_reply_after_a_result_is_asked_for_again_without_running_anything_twice` |
//! | 33 | no ids, indices of nought | replies/calls.rs | `ids_are_our_own_and_each_call_has_its_answer_in_order` |
//! | 34 | `format` beside tools | replies/trying.rs | `a_schema_is_asked_for_alone_and_without_turning_off_what_enforces_it` |
//! | 35 | `format` ignored without thinking | replies/trying.rs | `a_schema_is_asked_for_alone_and_without_turning_off_what_enforces_it` |
//! | 36 | a system message in the middle | replies/requests.rs | `content_is_text_arguments_are_objects_and_one_system_message_is_first` |
//! | 37 | no request left after a cut | window.rs | `a_template_that_finds_no_request_is_a_window_too_small` |
//! | 38 | all of the prompt evaluated again | window.rs | `nine_tenths_of_each_request_of_a_tool_loop_are_reused` |
//! | 38 | what would make it so | window.rs | `tools_in_another_order_or_a_clock_in_the_instructions_are_not_reused` |
//! | 39 | generating without end | replies/broken.rs | `endless_repetition_is_stopped` |
//! | 40 | a server that goes on when nobody listens | server.rs | `an_interrupt_reaches_the_server_within_a_second` |
//! | 41 | a slow prompt | server.rs | `a_load_of_ninety_seconds_and_five_silent_minutes_are_shown_and_waited_for` |
//! | 42 | proxies in the environment | ../../../tests/tests/server.rs | `nothing_but_the_server_is_contacted_whatever_proxies_are_named` |
//! | 43 | an address to listen on as the server's | replies/requests.rs | `a_server_named_by_an_address_to_listen_on_is_reached_on_this_machine` |
//! | 44 | 403 behind a tunnel | replies/refused.rs | `what_cannot_be_helped_is_not_tried_again` |
//! | 45 | the operator's keep-alive | replies/requests.rs | `the_operators_keep_alive_is_left_alone_unless_one_is_set` |
//! | 46 | downloads that fail at 200, go back, break | ../../../tests/tests/models.rs | `a_model_is_fetched_also_when_the_download_breaks` |
//! | 47 | a penalty that damages code | replies/requests.rs | `no_penalty_on_repetition_unless_the_models_maker_set_one` |

#[path = "../common/mod.rs"]
mod common;

mod broken;
mod calls;
mod elsewhere;
mod empty;
mod odd;
mod other;
mod refused;
mod requests;
mod trying;
mod warm;

use common::Stage;
use ollama_sim::{Capability, Config, Reply, Script};
use serde_json::{Value, json};

const THINKS: [Capability; 3] = [Capability::Completion, Capability::Tools, Capability::Thinking];

/// A stage on which this script plays, in a window of 16,384 tokens.
fn stage(script: Script) -> Stage {
    Stage::new(Config::new(script), &settings())
}

fn settings() -> Value {
    json!({"ollama": {"contextLength": 16384}})
}

fn reads(name: &str) -> Reply {
    Reply::call("read_file", json!({"path": name}))
}

#[test]
fn the_table_names_tests_that_are_there() {
    let tests = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests");
    let mut rows = std::collections::BTreeSet::new();
    for line in include_str!("main.rs")
        .lines()
        .filter(|l| l.starts_with("//! | "))
        .skip(2)
    {
        let cells: Vec<&str> = line
            .split('|')
            .map(|cell| cell.trim().trim_matches('`'))
            .collect();
        let text = common::read(&tests.join(cells[3]));
        assert!(text.contains(&format!("fn {}(", cells[4])), "{line}");
        rows.insert(cells[1].parse::<u32>().expect("a number"));
    }
    assert!((1..=47).all(|row| rows.contains(&row)), "{rows:?}");
}
