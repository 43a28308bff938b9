//! What a person mistypes on the command line: each answer names the thing and ends with what to do.

#![allow(clippy::unwrap_used, reason = "tests fail")]

use wisp_tests::Wisp;

/// What is said on stderr, with the exit code; nothing is printed on stdout.
fn said(args: &[&str]) -> (i32, String) {
    let ran = Wisp::new().run(args, "");
    assert_eq!(ran.text(), "", "{args:?}");
    (ran.code.unwrap(), ran.err)
}

#[test]
fn a_slip_for_a_command_is_not_sent_to_a_model() {
    let told = "error: there is no command modles; did you mean `wisp models`?\nhint: to send it to the model: \
                wisp respond \"modles\"\n";
    assert_eq!(said(&["modles"]), (64, told.to_owned()));
    let told = "error: there is no command sumarise; did you mean `wisp summarise`?\nhint: to send it to the \
                model: wisp respond \"sumarise build.log\"\n";
    assert_eq!(said(&["sumarise", "build.log"]), (64, told.to_owned()));
}

#[test]
fn a_file_that_cannot_be_read_is_named() {
    for command in ["summarise", "summarize"] {
        let told = "error: cannot open nofile.log: No such file or directory\nhint: give the path of a file, or `-` to \
                    read standard input\n";
        assert_eq!(said(&[command, "nofile.log"]), (1, told.to_owned()));
    }
    let told = "error: . is a directory\nhint: give one file, such as ./build.log\n";
    assert_eq!(said(&["summarise", "."]), (1, told.to_owned()));
}

#[test]
fn an_output_that_is_not_kept_is_named() {
    let told = "error: no stored output has the id abcdef\nhint: wisp outputs lists what is kept\n";
    assert_eq!(said(&["show", "abcdef"]), (1, told.to_owned()));
}
