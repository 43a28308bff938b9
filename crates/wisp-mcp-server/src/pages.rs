//! Pages of lists and texts: the envelope that every long resource has.

use serde_json::{Value, json};

/// Rows of a page, and events of a page of the audit.
pub(crate) const ROWS: usize = 50;
pub(crate) const EVENTS: usize = 100;
/// Bytes of a page of text.
pub(crate) const BYTES: usize = 16 * 1024;

/// A page of rows as `name`, from 1, of the resource at `uri`. The error says that there is no such page.
pub(crate) fn rows(
    uri: &str,
    name: &str,
    all: &[Value],
    (page, size): (usize, usize),
) -> Result<Value, String> {
    let pages = all.len().div_ceil(size).max(1);
    let mut out = envelope(uri, page, pages, all.len())?;
    let from = (page - 1) * size;
    out[name] = json!(all[from.min(all.len())..(from + size).min(all.len())]);
    Ok(out)
}

/// A page of a text as `text`, cut between characters.
pub(crate) fn text(uri: &str, whole: &str, page: usize) -> Result<Value, String> {
    let mut cuts = vec![0];
    let mut at = 0;
    while at < whole.len() {
        at = (at + BYTES).min(whole.len());
        while !whole.is_char_boundary(at) {
            at -= 1;
        }
        cuts.push(at);
    }
    let pages = (cuts.len() - 1).max(1);
    let mut out = envelope(uri, page, pages, whole.len())?;
    let part = if whole.is_empty() {
        ""
    } else {
        &whole[cuts[page - 1]..cuts[page]]
    };
    out["text"] = part.into();
    Ok(out)
}

fn envelope(uri: &str, page: usize, pages: usize, total: usize) -> Result<Value, String> {
    if page == 0 || page > pages {
        return Err(format!("{uri} has {pages} pages, and no page {page}"));
    }
    let next = (page < pages).then(|| format!("{uri}?page={}", page + 1));
    Ok(json!({"page": page, "pages": pages, "total": total, "next": next}))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_paged_with_a_way_to_the_next() {
        let all: Vec<Value> = (0..101).map(Value::from).collect();
        let first = rows("wisp://x", "rows", &all, (1, 50)).unwrap();
        assert_eq!(
            (&first["pages"], &first["total"], &first["next"]),
            (&json!(3), &json!(101), &json!("wisp://x?page=2"))
        );
        let last = rows("wisp://x", "rows", &all, (3, 50)).unwrap();
        assert_eq!((&last["rows"], &last["next"]), (&json!([100]), &Value::Null));
        assert_eq!(
            rows("wisp://x", "rows", &all, (4, 50)).unwrap_err(),
            "wisp://x has 3 pages, and no page 4"
        );
        assert!(rows("wisp://x", "rows", &all, (0, 50)).is_err());
        assert_eq!(rows("wisp://x", "rows", &[], (1, 50)).unwrap()["rows"], json!([]));
    }

    #[test]
    fn a_text_is_cut_between_characters_and_whole_when_put_together() {
        let whole = "é".repeat(BYTES) + "x";
        let mut together = String::new();
        let pages = text("wisp://x", &whole, 1).unwrap()["pages"].as_u64().unwrap();
        for page in 1..=usize::try_from(pages).unwrap() {
            let part = text("wisp://x", &whole, page).unwrap()["text"]
                .as_str()
                .unwrap()
                .to_owned();
            assert!(part.len() <= BYTES);
            together.push_str(&part);
        }
        assert_eq!((together, pages), (whole, 3));
        assert_eq!(text("wisp://x", "", 1).unwrap()["text"], "");
    }
}
