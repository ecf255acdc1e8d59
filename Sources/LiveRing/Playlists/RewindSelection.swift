/// The listed entries that a range from one date to another names. Ranges with other dates in the same segments select the
/// same.
package struct RewindSelection: Hashable, Sendable {
    /// The indices of the entries among the listed ones. Not empty.
    let indices: Range<Int>
    /// Whether no later segment can begin before the end of the range.
    let isComplete: Bool
    /// Whether the range has been complete for so long that no viewer loads its playlist who saw it grow.
    let isClosed: Bool
    /// Whether no segment leaves the playlist until it is closed.
    let canOnlyGrow: Bool
    /// Whether the viewer asked for a start, to begin there and not at the live edge.
    let hasStart: Bool
}
