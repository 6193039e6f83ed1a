//! ESP-IDF wear levelling, compatible on flash with the original.
#![no_std]
#![forbid(unsafe_code)]
