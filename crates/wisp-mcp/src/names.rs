//! What a server's tool is called in the registry: `server__tool`, in the characters that models and servers of models
//! take, at most 64 of them, and no two alike.

/// The most characters of a name: what common APIs take.
pub(crate) const LONGEST: usize = 64;

/// The names of a server's tools, in their order. What another character stands for becomes `_`; a name that would be too
/// long is cut; one that is `taken` or was given already ends in a number.
pub(crate) fn names<'a>(
    server: &str,
    tools: impl IntoIterator<Item = &'a str>,
    mut taken: impl FnMut(&str) -> bool,
) -> Vec<String> {
    let mut given: Vec<String> = Vec::new();
    for tool in tools {
        let plain = |c: char| {
            if c.is_ascii_alphanumeric() || matches!(c, '_' | '-') {
                c
            } else {
                '_'
            }
        };
        let whole: String = format!("{server}__")
            .chars()
            .chain(tool.chars().map(plain))
            .take(LONGEST)
            .collect();
        let mut name = whole.clone();
        let mut number = 1;
        while given.contains(&name) || taken(&name) {
            number += 1;
            let end = format!("_{number}");
            name = whole[..whole.len().min(LONGEST - end.len())].to_owned() + &end;
        }
        given.push(name);
    }
    given
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_the_servers_and_the_tools() {
        let names = names("files", ["read_file", "get-sum", "a.b/c d", "é"], |_| false);
        assert_eq!(
            names,
            ["files__read_file", "files__get-sum", "files__a_b_c_d", "files___"]
        );
    }

    #[test]
    fn no_two_are_alike_and_none_is_longer_than_64() {
        let long = "x".repeat(100);
        let other = format!("{long}y");
        let names = names("s", ["a b", "a.b", "a_b", &long, &other, &long], |name| {
            name == "s__a_b_2"
        });
        assert_eq!(names[..3], ["s__a_b", "s__a_b_3", "s__a_b_4"]);
        assert_eq!(names[3], format!("s__{}", "x".repeat(61)));
        assert_eq!(names[4], format!("s__{}_2", "x".repeat(59)));
        assert_eq!(names[5], format!("s__{}_3", "x".repeat(59)));
        assert!(names.iter().all(|name| name.len() <= 64));
    }
}
