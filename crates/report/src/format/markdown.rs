//! Markdown: a GitHub table for each target and its remarks as a list.

use std::io;

use flashmark_core::record::Record;

use super::{Format, FormatError, Style};
use crate::attribution::{self, Pair, Part};
use crate::comparison::{self, Comparison};
use crate::notes::{Weight, notes};
use crate::rows::{Place, Row, rows};
use crate::targets::{Group, runs};
use crate::wear;

/// The format.
pub(super) struct Markdown;

impl Format for Markdown {
    fn name(&self) -> &'static str {
        "markdown"
    }

    fn about(&self) -> &'static str {
        "the table and its doubts in Markdown, for documents and issues"
    }

    fn is_machine(&self) -> bool {
        true
    }

    fn knows_views(&self) -> bool {
        true
    }

    fn write(&self, records: &[Record], style: &Style, out: &mut dyn io::Write) -> Result<(), FormatError> {
        for (nth, run) in runs(records).iter().enumerate() {
            if nth > 0 {
                writeln!(out)?;
            }
            writeln!(out, "## {}", escaped(&run.headline()))?;
            for group in &run.groups {
                writeln!(out, "\n### {}\n\n{}\n", escaped(&group.name()), escaped(&group.describe()))?;
                if let Some(phases) = group.phases() {
                    writeln!(out, "{}\n", escaped(&phases))?;
                }
                table(out, group, style)?;
                let notes = notes(group, style.rate_unit);
                if !notes.is_empty() {
                    writeln!(out)?;
                }
                for note in notes {
                    let mark = match note.weight {
                        Weight::Error => "**error:** ",
                        Weight::Doubt => "**warning:** ",
                        Weight::Fact => "",
                    };
                    writeln!(out, "* {mark}{}", escaped(&note.text))?;
                }
                if style.attribution {
                    where_the_time_went(out, group)?;
                }
                if style.wear {
                    wear(out, group, style)?;
                }
            }
            if let Some(comparison) = comparison::wanted(run, style) {
                side_by_side(out, comparison.as_ref(), style)?;
            }
            if let Some(predicted) = run.predicted() {
                writeln!(out, "\n{}", escaped(predicted))?;
            }
            if let Some(missing) = run.missing() {
                writeln!(out, "\n**warning:** {}", escaped(&missing))?;
            }
        }
        Ok(())
    }
}

fn table(out: &mut dyn io::Write, group: &Group<'_>, style: &Style) -> io::Result<()> {
    let headers = ["workload", "size", "rate", "repeats", "reached", "IOPS", "mean", "median", "p99", "max", "stalls"];
    writeln!(out, "| {} |", headers.join(" | "))?;
    writeln!(out, "| :-- | --: | --: | --: | :-- | --: | --: | --: | --: | --: | --: |")?;
    for row in group.records.iter().flat_map(|record| rows(record)) {
        let [mean, median, p99, max] = row.latencies();
        let unit = style.rate_unit.name();
        let spread = row.spread(style.rate_unit).map_or_else(String::new, |rates| format!("{rates} {unit}"));
        let rate = row.rate(style.rate_unit);
        let cells = [
            name(&row),
            row.size(),
            if row.in_cache() { format!("{rate} cache!") } else { rate },
            spread,
            row.reached().into(),
            row.iops(),
            mean,
            median,
            p99,
            max,
            row.stalls(),
        ];
        writeln!(out, "| {} |", cells.map(|cell| escaped(&cell)).join(" | "))?;
    }
    Ok(())
}

fn where_the_time_went(out: &mut dyn io::Write, group: &Group<'_>) -> io::Result<()> {
    let Some(parts) = attribution::parts(group) else {
        return writeln!(out, "\n* {}", escaped(attribution::UNKNOWN));
    };
    let line = |cells: &[Pair], joined: &dyn Fn(&Pair) -> String| {
        let cells: Vec<String> = cells.iter().map(|cell| escaped(joined(cell).trim_end())).collect();
        format!("| {} |", cells.join(" | "))
    };
    for Part { title, headers, rows } in parts {
        writeln!(out, "\n{}:\n", escaped(title))?;
        writeln!(out, "{}", line(&headers, &|Pair(upper, lower)| format!("{upper} {lower}")))?;
        writeln!(out, "| :-- |{}", " --: |".repeat(headers.len() - 1))?;
        for row in rows {
            let beside = |Pair(upper, lower): &Pair| match lower.as_str() {
                "" => upper.clone(),
                lower => format!("{upper} ({lower})"),
            };
            writeln!(out, "{}", line(&row, &beside))?;
        }
    }
    Ok(())
}

fn side_by_side(out: &mut dyn io::Write, comparison: Option<&Comparison>, style: &Style) -> io::Result<()> {
    let Some(comparison) = comparison else {
        return writeln!(out, "\n* {}", escaped(comparison::NOTHING));
    };
    writeln!(out, "\n### {}\n", escaped(&comparison.title()))?;
    let headers = comparison.targets.iter().flat_map(|target| {
        let target = escaped(target);
        comparison::FIGURES.map(|figure| format!(" {target} {figure} |"))
    });
    writeln!(out, "| workload |{}", headers.collect::<String>())?;
    writeln!(out, "| :-- |{}", " --: |".repeat(comparison.targets.len() * comparison::FIGURES.len()))?;
    for line in &comparison.lines {
        let cells = line.cells.iter().flat_map(|cell| cell.shown(style.rate_unit));
        let cells = cells.map(|cell| format!(" {} |", escaped(&cell))).collect::<String>();
        writeln!(out, "| {} |{cells}", escaped(&line.name))?;
    }
    writeln!(out)?;
    comparison.remarks().iter().try_for_each(|remark| writeln!(out, "* {}", escaped(remark)))
}

/// The map is code: in it spaces count and nothing else is Markdown.
fn wear(out: &mut dyn io::Write, group: &Group<'_>, style: &Style) -> io::Result<()> {
    let Some(found) = wear::of(group) else {
        return writeln!(out, "\n* {}", escaped(wear::UNKNOWN));
    };
    writeln!(out, "\nwear: {}", escaped(&wear::summary(found)))?;
    let map = wear::map(found, None, style.ascii);
    if map.is_empty() { Ok(()) } else { writeln!(out, "\n```text\n{}\n```", map.join("\n")) }
}

/// Leading spaces mean nothing in a Markdown cell, so that what belongs to a row is set off by its mark alone.
fn name(row: &Row<'_>) -> String {
    let name = row.name();
    if row.place == Place::Main { name } else { name.trim_start().to_owned() }
}

/// Text that Markdown takes as it is (CommonMark 2.4: a backslash before punctuation).
#[must_use]
pub fn escaped(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for c in text.chars() {
        if matches!(c, '\\' | '|' | '`' | '*' | '_' | '<' | '>' | '[' | ']' | '#' | '~' | '&') {
            shown.push('\\');
        }
        shown.push(c);
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::super::tests::shown;
    use super::*;
    use crate::samples;

    #[test]
    fn every_kind_of_trouble_is_in_the_document() {
        insta::assert_snapshot!("markdown", shown(&Markdown, &samples::mixed_bag(), &Style::default()));
    }

    #[test]
    fn views_follow_the_rows() {
        let style = Style { attribution: true, wear: true, ..Style::default() };
        insta::assert_snapshot!("markdown_views", shown(&Markdown, &samples::simulated::on_fatfs(), &style));
    }

    #[test]
    fn targets_stand_side_by_side_below_all() {
        insta::assert_snapshot!(
            "markdown_compare",
            shown(&Markdown, &samples::simulated::side_by_side(), &Style::default())
        );
    }

    #[test]
    fn a_name_cannot_break_the_table() {
        let mut record = samples::mixed_bag().remove(0);
        record.workload.name = "a|b\n| c | <img src=x> [d](e) `f` \\".into();
        let text = shown(&Markdown, &[record], &Style::default());
        let row = text.lines().find(|line| line.starts_with("| a")).unwrap();
        // Outer bars and those between 11 cells; the name's own are escaped.
        let bars = row.replace("\\\\", "").replace("\\|", "").matches('|').count();
        assert_eq!(bars, 12, "{row}");
        assert!(row.contains("\\<img"), "{row}");
    }
}
