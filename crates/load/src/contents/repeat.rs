//! Bytes that are repeated over a block.

/// Fills `block` with `pattern`, over and over from its start, or with zeros if it is empty.
pub(crate) fn lay(pattern: &[u8], block: &mut [u8]) {
    if pattern.is_empty() {
        return block.fill(0);
    }
    let mut laid = pattern.len().min(block.len());
    block[..laid].copy_from_slice(&pattern[..laid]);
    // What is laid doubles each time; whole patterns, so that the next one begins at its start.
    while laid < block.len() {
        let more = laid.min(block.len() - laid);
        block.copy_within(..more, laid);
        laid += more;
    }
}

/// Where `bytes` first differ from `pattern`, repeated, of which the byte at `start` comes first.
pub(crate) fn first_difference(pattern: &[u8], start: usize, bytes: &[u8]) -> Option<usize> {
    let expected = |at: usize| pattern[(start + at) % pattern.len()];
    let differs = |(at, byte): (usize, &u8)| (*byte != expected(at)).then_some(at);
    // If the first pattern is right, and each byte is the one a pattern before, all are.
    let first = pattern.len().min(bytes.len());
    let rest = bytes.len() - first;
    if bytes[..first].iter().enumerate().find_map(differs).is_none() && bytes[first..] == bytes[..rest] {
        return None;
    }
    bytes.iter().enumerate().find_map(differs)
}
