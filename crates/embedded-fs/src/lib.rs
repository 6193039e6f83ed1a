//! The file systems of embedded devices behind one trait.
