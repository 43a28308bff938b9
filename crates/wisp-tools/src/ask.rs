//! `ask`: a question to the person, with choices; they answer, or leave it.

use serde_json::Value;

use crate::arguments;
use crate::arguments::Arguments;
use crate::call::Call;
use crate::tool::{Descriptor, Ending, Returned, Running, Tool};

/// The most choices.
const CHOICES: usize = 9;
/// The most characters of the question, and of one choice.
const TEXT: usize = 300;

arguments! {
    /// What `ask` is called with.
    pub struct AskArguments {
        question: String = "question", "One question, in one sentence";
        choices: Option<Vec<String>> = "choices", "Up to nine to choose from";
    }
}

/// The tool.
#[derive(Debug, Default, Clone, Copy)]
pub struct Ask;

impl Tool for Ask {
    fn descriptor(&self) -> Descriptor {
        Descriptor {
            name: "ask".into(),
            description: "Ask the user a question.".into(),
            parameters: AskArguments::PARAMETERS.into(),
            limits: "waits as long as an approval does (approval.timeoutSeconds); nine choices".to_owned(),
            example: "Set up the project, and ask me which licence I want.".into(),
            reads_only: true,
        }
    }

    fn run<'a>(&'a self, arguments: &'a Value, call: &'a mut Call<'_>) -> Running<'a> {
        Box::pin(async move {
            match AskArguments::from_value(arguments) {
                Ok(arguments) => ask(&arguments, call).await,
                Err(e) => Returned::error(e),
            }
        })
    }
}

async fn ask(arguments: &AskArguments, call: &Call<'_>) -> Returned {
    let question = one_line(&arguments.question);
    if question.is_empty() {
        return Returned::error("question is empty: give `question`, one sentence");
    }
    let choices = arguments.choices.as_deref().unwrap_or_default();
    if choices.len() > CHOICES {
        return Returned::error(format!(
            "at most {CHOICES} choices can be given: ask again with fewer choices"
        ));
    }
    let choices: Vec<String> = choices
        .iter()
        .map(|c| one_line(c))
        .filter(|c| !c.is_empty())
        .collect();
    match call.scene.person.choose(&question, choices).await {
        Some(answer) => Returned::text(format!("the person answered: {answer}")),
        None => Returned::refused(
            "the person did not answer; go on without the answer, or say what you would need it for",
            Ending::Declined,
        ),
    }
}

fn one_line(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    line.chars().take(TEXT).collect()
}
