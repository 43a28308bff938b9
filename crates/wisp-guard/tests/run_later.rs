//! Files that run later and wisp's own settings: by the file tool and by every way of the shell, nobody to ask means not
//! written, and the settings are refused whoever asks.

#![allow(clippy::unwrap_used, reason = "a test stops at what it did not expect")]

use std::path::{Path, PathBuf};

use wisp_guard::{Approvals, Confinement, Decision, Gate, Level, Place, Policy, Request, Threshold};

fn place() -> Place<'static> {
    Place {
        confinement: Confinement::FULL,
        own: vec!["/home/a/.wisp".into()],
        user_home: Some("/home/a".into()),
        ..Place::at(Path::new("/home/a/w"), "2026-11-30T09:00:00Z".parse().unwrap())
    }
}

fn decided(request: &Request, threshold: &str) -> Decision {
    let gate = Gate::new(
        Policy::new(&[], &[]).unwrap(),
        threshold.parse::<Threshold>().unwrap(),
    );
    gate.decide(request, &Approvals::new(), &place())
}

fn line(text: &str) -> Request {
    Request::Command {
        line: text.to_owned(),
    }
}

#[test]
fn an_edit_of_a_file_that_runs_later_is_dangerous() {
    for path in [
        "/home/a/w/.git/hooks/pre-commit",
        "/home/a/w/.git/config",
        "/home/a/w/.envrc",
        "/home/a/.bashrc",
        "/home/a/.bash_aliases",
        "/home/a/.profile",
        "/home/a/.zshenv",
        "/home/a/.ssh/authorized_keys",
        "/home/a/.gitconfig",
        "/home/a/.config/autostart/x.desktop",
        "/home/a/w/.husky/pre-commit",
    ] {
        let request = Request::Edit {
            path: path.to_owned(),
            real: PathBuf::from(path),
            mode: "write".to_owned(),
        };
        let decision = decided(&request, "dangerous");
        assert!(
            matches!(&decision, Decision::Ask(question) if question.level == Level::Dangerous),
            "{path}: {decision:?}"
        );
    }
}

#[test]
fn a_line_that_writes_one_is_dangerous() {
    for text in [
        "printf '#!/bin/sh\\n' > .git/hooks/pre-commit; chmod +x .git/hooks/pre-commit",
        "echo 'echo x' >> ~/.bashrc",
        "echo x | tee -a ~/.profile",
        "git config core.hooksPath /tmp/h",
        "git config --global alias.st '!x'",
        "cp x .git/config",
        "sed -i s/a/b/ ~/.zshenv",
        "python3 -c \"open('.git/hooks/pre-commit', 'w')\"",
        "ln -s x ~/.bash_aliases",
        "dd if=x of=.envrc",
        "install -m 755 x .git/hooks/pre-push",
        "cat x > $HOME/.ssh/authorized_keys",
    ] {
        let decision = decided(&line(text), "dangerous");
        assert!(
            matches!(&decision, Decision::Ask(question) if question.level == Level::Dangerous),
            "{text}: {decision:?}"
        );
    }
}

#[test]
fn no_line_reaches_the_settings_whatever_is_asked() {
    for text in [
        "echo '{\"approval\":{\"threshold\":\"never\"}}' > ~/.wisp/config.json",
        "printf x > y; cp y \"$HOME/.wisp/config.json\"",
        "sed -i s/stub/x/ ~/.wisp/config.json",
        "python3 -c \"import os;open(os.path.expanduser('~/.wisp/config.json'),'w').write('{}')\"",
        "cd ~ && cp w/y .wisp/config.json",
        "mv y ../.wisp/config.json",
        "rm -rf ~/.w*",
        "cat ~/.wisp/approvals.json",
        "if true; then echo x > ~/.wisp/config.json",
        "wisp config set approval.threshold never",
    ] {
        for threshold in ["moderate", "never"] {
            let decision = decided(&line(text), threshold);
            assert!(matches!(decision, Decision::Denied(_)), "{text}: {decision:?}");
        }
    }
}

#[test]
fn reading_the_settings_with_the_file_tool_is_dangerous() {
    let request = Request::Read {
        path: ".wisp/config.json".to_owned(),
        real: "/home/a/.wisp/config.json".into(),
        inside: true,
    };
    let decision = decided(&request, "moderate");
    assert!(
        matches!(&decision, Decision::Ask(question) if question.level == Level::Dangerous),
        "{decision:?}"
    );
}
