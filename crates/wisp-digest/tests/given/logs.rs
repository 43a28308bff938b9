//! The given cases of logs, documents, CI runs, crashes and package managers.

use crate::common::{bytes, cascades, case, copies, notes, places, root_lines, roots, warning_lines};
use wisp_digest::{Content, Digest, Options, Severity, Verdict, View};

#[test]
fn a_service_log_has_eight_templates_over_thirty_nine_entries() {
    let digest = Digest::of(&bytes("cases/17-service.log"), Options::default());
    let log = digest.log.expect("it is a log");
    assert_eq!(
        (digest.content, digest.lines, log.entries, log.templates.len()),
        (Content::Log, 51, 39, 8)
    );
    let found = |part: &str| {
        log.templates
            .iter()
            .find(|each| each.example.text.contains(part))
            .map(|each| each.count)
    };
    let expected = [
        ("GET", 14),
        ("POST", 6),
        ("reading", 5),
        ("writing", 3),
        ("retry", 4),
        ("pool", 2),
        ("batch", 3),
        ("cache", 2),
    ];
    for (part, count) in expected {
        assert_eq!(found(part), Some(count), "{part}");
    }
    assert_eq!(log.templates.iter().map(|each| each.count).sum::<u64>(), 39);
    assert_eq!(
        log.severities,
        [
            (Severity::Error, 10),
            (Severity::Warning, 4),
            (Severity::Info, 25)
        ]
    );
    let pool = log
        .templates
        .iter()
        .find(|each| each.example.text.contains("pool"))
        .expect("pool");
    assert_eq!((pool.continued, &pool.entry_lines[..]), (12, &[31, 43][..]));
    assert_eq!(digest.unexplained.count, 0);
    assert!(digest.failures.is_empty());
}

#[test]
fn a_json_document_keeps_its_numbers_and_its_names() {
    let digest = Digest::of(&bytes("cases/18-tree.json"), Options::default());
    let json = digest.json.as_ref().expect("it is JSON");
    let top: Vec<_> = json.members.iter().filter(|member| member.depth == 1).collect();
    assert_eq!(top.len(), 11);
    assert_eq!(
        top.len() as u64 + top.iter().map(|member| member.duplicates).sum::<u64>(),
        12
    );
    let types = |path: &str| {
        json.members
            .iter()
            .find(|member| member.path == path)
            .map(|member| member.types.as_str())
    };
    assert_eq!(types("$.id"), Some("number 9007199254740993"));
    assert_eq!(types("$.wide"), Some("number 123456789012345678901234567890"));
    assert_eq!(types("$.exact"), Some("number 5.107091491635510056019771245"));
    assert_eq!(types("$.huge"), Some("number 1e400"));
    assert_eq!(types("$.minus"), Some("number -0"));
    assert_eq!(types("$.stations"), Some("array[3]"));
    assert_eq!(types("$.stations[].pos"), Some("object ×2 | null ×1"));
    assert_eq!(types("$.stations[].tags"), Some("array[0…2] ×2 | object ×1"));
    let code = types("$.stations[].code").expect("code");
    assert!(
        code.starts_with("number 1401004938049356981…1401004938049356982 ×2 | string"),
        "{code}"
    );
    for path in [
        "$[\"\"]",
        "$[\"a.b\"]",
        "$[\"a.b\"][\"c/d\"]",
        "$[\"a.b\"][\"[0]\"]",
    ] {
        assert!(types(path).is_some(), "{path}");
    }
    assert!(digest.failures.is_empty() && digest.unexplained.count == 0);
    assert!(
        digest
            .render(4096, View::Notable)
            .contains("dup: number 1…2 ×2 (this name 2 times)")
    );
}

#[test]
fn github_actions_has_two_failed_steps() {
    let digest = case("51-github-actions.log", 1);
    assert_eq!(roots(&digest), [(22, 22), (45, 48)]);
    assert_eq!(places(&digest)[1], "src/shore.rs:31:9");
    assert_eq!(digest.failures[1].subject.as_deref(), Some("shore::runs_along"));
    assert_eq!(
        (
            digest.count("cargo test", "passed"),
            digest.count("cargo test", "failed")
        ),
        (Some(2), Some(1))
    );
    let failed: Vec<&str> = digest
        .sections
        .iter()
        .filter(|section| section.verdict == Verdict::Failed)
        .map(|section| section.name.as_str())
        .collect();
    assert_eq!(failed, ["./scripts/docs.sh", "cargo test --locked"]);
    assert!(notes(
        &digest,
        "./scripts/docs.sh (exit 127), cargo test --locked (exit 101)"
    ));
    assert_eq!(
        (warning_lines(&digest), digest.unexplained.count),
        (vec![12, 31], 0)
    );
}

#[test]
fn docker_build_has_two_errors_in_one_step() {
    let digest = case("52-docker-build.log", 1);
    assert_eq!(
        (root_lines(&digest), copies(&digest)),
        (vec![30, 31], vec![45, 46])
    );
    assert_eq!(places(&digest), ["src/server.ts:14:7", "src/wade.ts:3:10"]);
    // The lines of npm, of the step's end and its copies, and the last.
    assert_eq!(digest.failures[1].cascade, 14);
    assert!(notes(
        &digest,
        "step [api 5/5] RUN npm run build failed with exit code 2"
    ));
    assert!(notes(&digest, "Dockerfile:9"));
    let failed: Vec<&str> = digest
        .sections
        .iter()
        .filter(|section| section.verdict == Verdict::Failed)
        .map(|section| section.name.as_str())
        .collect();
    assert_eq!(failed, ["#7 [api 5/5] RUN npm run build"]);
    assert_eq!((warning_lines(&digest), digest.unexplained.count), (vec![29], 0));
}

#[test]
fn the_first_oops_is_the_root() {
    let digest = case("53-kernel.log", 1);
    assert_eq!(
        (root_lines(&digest), cascades(&digest)),
        (vec![9], vec![34, 40, 41])
    );
    assert_eq!(
        digest.failures[0].subject.as_deref(),
        Some("tern_flush_nest+0x2c/0x90 [ternfs]")
    );
    let explain: Vec<u64> = digest.failures[0]
        .explain
        .iter()
        .map(|quote| quote.line)
        .collect();
    assert!(explain.contains(&14) && explain.contains(&16) && explain.contains(&17));
}

#[test]
fn npm_eresolve_is_one_failure() {
    let digest = case("54-npm-eresolve.log", 1);
    assert_eq!(roots(&digest), [(6, 11)]);
    let title = &digest.failures[0].title;
    assert!(
        title.contains("ERESOLVE")
            && title.contains("crest@\"^3.1.0\"")
            && title.contains("peer crest@\"^2.0.0\" from plume@1.4.0"),
        "{title}"
    );
    assert_eq!((warning_lines(&digest), digest.unexplained.count), (vec![1], 0));
}

#[test]
fn a_python_chain_is_one_failure_told_by_its_ends() {
    let digest = case("55-python-chain.log", 1);
    assert_eq!(
        (root_lines(&digest), places(&digest)),
        (vec![30], vec!["/srv/build/otter/job.py:18".to_owned()])
    );
    assert!(digest.failures[0].title.contains("DEFAULT_DEPHT") && digest.failures[0].title.contains("(L9)"));
    let chain: Vec<u64> = digest.failures[0]
        .explain
        .iter()
        .map(|quote| quote.line)
        .collect();
    assert_eq!(chain, [9, 19]);
    assert_eq!(digest.unexplained.count, 0);
}

#[test]
fn two_java_threads_are_two_exceptions() {
    let digest = case("56-java-causes.log", 1);
    assert_eq!(
        (root_lines(&digest), places(&digest)),
        (
            vec![2, 12],
            vec!["Main.java:23".to_owned(), "Main.java:9".to_owned()]
        )
    );
    assert!(
        digest.failures[1]
            .title
            .starts_with("java.nio.file.NoSuchFileException: depth.txt")
    );
    assert!(digest.failures[1].title.contains("thread main, L5"));
    assert_eq!(digest.unexplained.count, 0);
}

#[test]
fn a_sanitizer_report_gives_the_own_frames() {
    let digest = case("57-asan.log", 1);
    assert_eq!((root_lines(&digest), cascades(&digest)), (vec![3], vec![24]));
    assert_eq!(places(&digest), ["/srv/build/nudi/slug.c:6"]);
    assert_eq!(digest.failures[0].subject.as_deref(), Some("use"));
    let explain: Vec<u64> = digest.failures[0]
        .explain
        .iter()
        .map(|quote| quote.line)
        .collect();
    for line in [5, 6, 14, 15, 20] {
        assert!(explain.contains(&line), "L{line}");
    }
    assert_eq!(digest.unexplained.count, 0);
}
