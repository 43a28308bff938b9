//! What a line comes apart into: simple commands with their words, assignments and redirections.

/// One word of a command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Word {
    /// The word without its quotes; expansions as they were written.
    pub text: String,
    /// Whether the program gets exactly `text`: no expansion, no brace list, nothing that differs between shells.
    pub literal: bool,
    /// Whether an unquoted `*`, `?` or `[` stands in it.
    pub glob: bool,
}

impl Word {
    /// A word the program gets as it is.
    pub fn literal(text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            literal: true,
            glob: false,
        }
    }

    /// A word whose value is not known before the line runs.
    pub fn unknown(text: impl Into<String>) -> Self {
        Self {
            literal: false,
            ..Self::literal(text)
        }
    }

    /// Whether the word is exactly this text.
    pub fn is(&self, text: &str) -> bool {
        self.literal && self.text == text
    }

    /// Whether the word may turn out to be an option: it starts with a dash, or what it starts with is not known.
    pub fn may_be_option(&self) -> bool {
        self.text.starts_with('-')
            || (!self.literal && !self.text.starts_with(['/', '.', '~']))
            || self.starts_with_glob()
    }

    fn starts_with_glob(&self) -> bool {
        self.glob && self.text.starts_with(['*', '?', '['])
    }
}

/// A redirection.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Redirect {
    /// Whether it opens its target for writing.
    pub writes: bool,
    /// Whether it copies or closes a descriptor (`>&`, `<&`) where its target is a number or `-`.
    pub copies: bool,
    /// The file, or the descriptor that is copied.
    pub target: Word,
}

/// Targets that hold nothing afterwards.
const HARMLESS: [&str; 3] = ["/dev/null", "/dev/stdout", "/dev/stderr"];

impl Redirect {
    /// Whether it can change a file.
    pub fn changes_a_file(&self) -> bool {
        let text = self.target.text.as_str();
        let descriptor = text == "-" || (!text.is_empty() && text.bytes().all(|b| b.is_ascii_digit()));
        let harmless = HARMLESS.contains(&text) || (self.copies && descriptor);
        self.writes && !(self.target.literal && harmless)
    }
}

/// What a part of a line is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shape {
    /// A program or builtin with its words.
    Command,
    /// Assignments on their own.
    Assignment,
    /// `[[ … ]]`, or `[ … ]` with something in it a shell may read as a redirection.
    Test,
    /// A function is defined; its body is taken apart as well.
    Function,
    /// Arithmetic on a variable, whose value bash may run.
    Arithmetic,
    /// Redirections without a command.
    Redirection,
}

/// A part of a line that runs, or takes effect, on its own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SimpleCommand {
    /// The part as it was written, with its redirections.
    pub text: String,
    /// What it is.
    pub shape: Shape,
    /// `NAME=value` before the program (or alone), in order.
    pub assignments: Vec<(String, Word)>,
    /// The program and its arguments; empty for other shapes.
    pub words: Vec<Word>,
    /// Its redirections.
    pub redirects: Vec<Redirect>,
    /// Whether it only starts the next part (`env`, `xargs`, `sh -c`), which is judged in its place.
    pub wrapper: bool,
    /// The part before it that last changed the directory, as it was written; `None` where nothing did. What is
    /// known of the working directory is not known of where this part runs.
    pub moved: Option<String>,
    /// The directories it may run in beside the one the line began in, as far as the line's own `cd`s say.
    pub places: Vec<String>,
    /// Whether another part of the line, or text in it, reaches its standard input.
    pub fed: bool,
    /// Whether it gets further arguments that the line does not show (`xargs`, `find -exec … {}`).
    pub open: bool,
    /// Names of the variables that are expanded in it, also within a here-document of its own.
    pub expands: Vec<String>,
}

impl SimpleCommand {
    /// A part without words yet.
    pub fn new(shape: Shape, text: &str) -> Self {
        Self {
            text: text.to_owned(),
            shape,
            assignments: Vec::new(),
            words: Vec::new(),
            redirects: Vec::new(),
            wrapper: false,
            moved: None,
            places: Vec::new(),
            fed: false,
            open: false,
            expands: Vec::new(),
        }
    }

    /// A command of given words, as wrappers start it.
    pub fn of_words(words: Vec<Word>, open: bool) -> Self {
        let text = words
            .iter()
            .map(|w| w.text.as_str())
            .collect::<Vec<_>>()
            .join(" ");
        Self {
            words,
            open,
            ..Self::new(Shape::Command, &text)
        }
    }

    /// The program's name as written, when it is known.
    pub fn program(&self) -> Option<&str> {
        let first = self.words.first()?;
        (first.literal && !first.glob).then_some(first.text.as_str())
    }

    /// The program's name without its directory, when it is known.
    pub fn name(&self) -> Option<&str> {
        self.program().map(|p| p.rsplit('/').next().unwrap_or(p))
    }

    /// Whether the program is the system's own: named without a directory, or in a directory of the system.
    pub fn is_on_path(&self) -> bool {
        let Some(program) = self.program() else {
            return false;
        };
        let Some((dir, _)) = program.rsplit_once('/') else {
            return true;
        };
        matches!(
            dir,
            "/bin" | "/usr/bin" | "/usr/local/bin" | "/sbin" | "/usr/sbin" | "/opt/homebrew/bin"
        )
    }

    /// The words after the program.
    pub fn args(&self) -> &[Word] {
        self.words.get(1..).unwrap_or_default()
    }

    /// The arguments that are no options.
    pub fn operands(&self) -> impl Iterator<Item = &Word> {
        self.args().iter().filter(|word| !word.text.starts_with('-'))
    }

    /// Whether everything it does follows from its own text: no word, value or target is expanded, no arguments are
    /// added, and nothing in the line reaches its standard input, where an interpreter finds its program.
    pub fn is_fixed(&self) -> bool {
        let values = self.assignments.iter().map(|(_, value)| value);
        let targets = self.redirects.iter().map(|redirect| &redirect.target);
        let mut all = self.words.iter().chain(values).chain(targets);
        !self.open && !self.fed && all.all(|word| word.literal && !word.glob)
    }

    /// The words joined by spaces, without quotes: what patterns are also matched against.
    pub fn plain(&self) -> String {
        self.words
            .iter()
            .map(|w| w.text.as_str())
            .collect::<Vec<_>>()
            .join(" ")
    }
}
