//! The lines of one direction of a job.

use std::fmt::Write as _;

use flashmark_core::histogram::Histogram;

use crate::results::JobReport;
use crate::value::decimal::Billionths;

use super::super::figures::{Latency, Part, Percentiles, percentiles, sane, whole_ms};
use super::super::number::{Style, Unit, number};
use super::put;

/// Adds the lines of a direction, if anything was done in it.
pub(super) fn write(text: &mut String, report: &JobReport, part: &Part<'_>) {
    let figures = &part.report;
    if figures.bytes == 0 || figures.runtime_ns == 0 {
        return;
    }
    let style = Style::of(&report.options.report);
    let [rate, rate_too] = style.rate(part.bytes_per_s());
    let [bytes, _] = style.bytes(figures.bytes);
    let (iops, runtime) = (style.count(part.iops() as u64), whole_ms(figures.runtime_ns));
    put!(text, "  {}: IOPS={iops}, BW={rate} ({rate_too})({bytes}/{runtime}msec)", part.name);
    // Zones are not supported, so that none is reset; fio 3.33 says so behind every line of writes.
    text.push_str(if part.is_write { "; 0 zone resets\n" } else { "\n" });
    write_latency(text, "slat", &figures.submission);
    write_latency(text, "clat", &figures.completion);
    write_latency(text, " lat", &figures.total);
    let told = Percentiles::of(report);
    for (is_told, name, histogram) in [
        (told.submission, "slat", &figures.submission),
        (told.completion, "clat", &figures.completion),
        (told.total, "lat", &figures.total),
    ] {
        if is_told {
            write_percentiles(text, name, &percentiles(report, histogram), histogram);
        }
    }
    write_bandwidth(text, style, part);
    let iops = sane(&figures.iops_samples);
    if iops.count > 0 {
        put!(text, "   iops        : min={:5}, max={:5}, avg={:5.2}, ", iops.min, iops.max, iops.mean);
        put!(text, "stdev={:5.2}, samples={}\n", iops.deviation(), iops.count);
    }
}

/// Adds the lines of syncs, if there were any.
pub(super) fn write_syncs(text: &mut String, report: &JobReport) {
    if !report.syncs.is_empty() {
        text.push_str("  fsync/fdatasync/sync_file_range:\n");
        write_latency(text, "sync", &report.syncs);
        write_percentiles(text, "sync", &percentiles(report, &report.syncs), &report.syncs);
    }
}

/// Adds minimum, maximum, mean and deviation, in the unit in which they are not too long.
fn write_latency(text: &mut String, name: &str, histogram: &Histogram) {
    let latency = Latency::of(histogram);
    if latency.count == 0 {
        return;
    }
    let (least, most, deviation) = (latency.min_ns, latency.max_ns, latency.deviation_ns);
    let (unit, divisor) = match () {
        () if least > 2_000_000 && most > 99_999_999 && deviation > 1_000_000.0 => ("msec", 1_000_000),
        () if least > 2_000 && most > 99_999 && deviation > 1_000.0 => ("usec", 1_000),
        () => ("nsec", 1),
    };
    let [min, max] = [least, most].map(|ns| number(ns / divisor, 6, false, Unit::None));
    let [mean, deviation] = [latency.mean_ns, deviation].map(|ns| ns / divisor as f64);
    put!(text, "    {name} ({unit}): min={min}, max={max}, avg={mean:5.2}, stdev={deviation:5.2}\n");
}

/// Adds percentiles, as many to a line as fit.
fn write_percentiles(text: &mut String, name: &str, list: &[(Billionths, u64)], histogram: &Histogram) {
    if histogram.is_empty() || list.is_empty() {
        return;
    }
    let least = list.iter().map(|(_, ns)| *ns).min().unwrap_or(0);
    let most = list.iter().map(|(_, ns)| *ns).max().unwrap_or(0);
    let (unit, divisor) = match () {
        () if least > 2_000_000 && most > 99_999_999 => ("msec", 1_000_000),
        () if least > 2_000 && most > 99_999 => ("usec", 1_000),
        () => ("nsec", 1),
    };
    let decimals = list.iter().map(|(percentile, _)| decimals(*percentile)).max().unwrap_or(0);
    let width = (most / divisor).to_string().len().max(5);
    let a_line = (73 / (decimals + 10 + width)).max(1);
    put!(text, "    {name} percentiles ({unit}):\n");
    let lines: Vec<String> = list
        .chunks(a_line)
        .map(|line| {
            let one = |(percentile, ns): &(Billionths, u64)| {
                let percentile = percentile.0 as f64 / 1e9;
                let value = ns.div_ceil(divisor);
                format!(" {percentile:>digits$.decimals$}th=[{value:>width$}]", digits = decimals + 3)
            };
            format!("     |{}", line.iter().map(one).collect::<Vec<_>>().join(","))
        })
        .collect();
    put!(text, "{}\n", lines.join(",\n"));
}

/// How many digits a percentile needs behind the point.
fn decimals(percentile: Billionths) -> usize {
    percentile.to_string().split_once('.').map_or(0, |(_, digits)| digits.len())
}

fn write_bandwidth(text: &mut String, style: Style, part: &Part<'_>) {
    let samples = sane(&part.report.bandwidth_samples);
    if samples.count == 0 {
        return;
    }
    let bits = if style.in_bits { 8 } else { 1 };
    let (mut min, mut max) = (samples.min.saturating_mul(bits), samples.max.saturating_mul(bits));
    let (mut mean, mut deviation) = (samples.mean * bits as f64, samples.deviation() * bits as f64);
    let thousand = if style.binary { 1024 } else { 1000 };
    let mut unit = match (style.in_bits, style.binary) {
        (true, true) => "Kibit",
        (true, false) => "kbit",
        (false, true) => "KiB",
        (false, false) => "kB",
    };
    if mean > (thousand * thousand) as f64 {
        (min, max) = (min / thousand, max / thousand);
        (mean, deviation) = (mean / thousand as f64, deviation / thousand as f64);
        unit = match (style.in_bits, style.binary) {
            (true, true) => "Mibit",
            (true, false) => "Mbit",
            (false, true) => "MiB",
            (false, false) => "MB",
        };
    }
    put!(text, "   bw ({unit:>5}/s): min={min:5}, max={max:5}, per={:.2}%, ", part.percent_of_group());
    put!(text, "avg={mean:5.2}, stdev={deviation:5.2}, samples={}\n", samples.count);
}
