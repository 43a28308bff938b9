//! Models the person does not want: hidden and refused until enabled again.

use wisp_config::{Changed, Config, ConfigError};
use wisp_ollama::same_model;

/// Why a model was not turned on or off.
#[derive(Debug, thiserror::Error)]
pub enum TurnedError {
    /// The configured model must stay.
    #[error(
        "{0} is the default model, so it cannot be disabled; make another model the default first: wisp config set model NAME"
    )]
    Default(String),
    /// The configuration cannot be written.
    #[error(transparent)]
    Config(#[from] ConfigError),
}

/// What came of it.
#[derive(Debug)]
pub struct Turned {
    /// One line for the person.
    pub text: String,
    /// The change, when there was something to change.
    pub changed: Option<Changed>,
}

/// Enables or disables a model. `x` and `x:latest` are one.
pub fn turn(config: &mut Config, name: &str, on: bool) -> Result<Turned, TurnedError> {
    if !on && config.model().is_some_and(|model| same_model(&model, name)) {
        return Err(TurnedError::Default(name.to_owned()));
    }
    let mut disabled = config.disabled_models();
    let before = disabled.len();
    disabled.retain(|d| !same_model(d, name));
    if on && disabled.len() == before {
        let text = format!("{name} is enabled");
        return Ok(Turned { text, changed: None });
    }
    if !on {
        disabled.push(name.to_owned());
    }
    let changed = Some(if disabled.is_empty() {
        config.unset("models.disabled")?
    } else {
        config.set("models.disabled", &serde_json::Value::from(disabled).to_string())?
    });
    let text = if on {
        format!("enabled {name}")
    } else {
        format!("disabled {name}: hidden from /model and refused until enabled")
    };
    Ok(Turned { text, changed })
}

#[cfg(test)]
mod tests {
    use super::turn;
    use wisp_config::Config;

    #[test]
    fn a_model_is_disabled_and_enabled_by_any_of_its_names() {
        let home = tempfile::tempdir().expect("a directory");
        let mut config = Config::load(&home.path().join("config.json")).expect("loads");
        let said = turn(&mut config, "small", false).expect("disabled");
        assert_eq!(
            said.text,
            "disabled small: hidden from /model and refused until enabled"
        );
        assert_eq!(config.disabled_models(), ["small"]);
        turn(&mut config, "small:latest", false).expect("the same again");
        assert_eq!(config.disabled_models(), ["small:latest"]);
        assert_eq!(
            turn(&mut config, "small", true).expect("enabled").text,
            "enabled small"
        );
        assert!(config.disabled_models().is_empty());
        assert_eq!(
            turn(&mut config, "small", true).expect("enabled").text,
            "small is enabled"
        );
    }

    #[test]
    fn the_default_stays() {
        let home = tempfile::tempdir().expect("a directory");
        let mut config = Config::load(&home.path().join("config.json")).expect("loads");
        config.set("model", "small").expect("set");
        let refused = turn(&mut config, "small:latest", false).expect_err("refused");
        assert!(refused.to_string().contains("is the default model"));
    }
}
