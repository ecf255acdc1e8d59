package import LiveRing

/// Consecutive segments that the spool refused because of disk errors.
///
/// Every segment is tried all the same, since a full disk may have room again at any moment.
package struct SpoolFailure: Equatable, Sendable {
    /// The newest disk error; nil while the spool accepts segments.
    package private(set) var error: RingError?
    /// How many segments in a row were refused.
    package private(set) var segments = 0

    /// Records that a segment was refused.
    /// - Returns: whether the error is worth reporting: the first disk error of several, or any other error.
    mutating func record(_ error: RingError) -> Bool {
        guard error.isDiskError else { return true }
        let isFirst = self.error == nil
        self.error = error
        segments += 1
        return isFirst
    }

    /// Records that a segment was accepted.
    /// - Returns: how many segments were refused before it; nil if the spool accepted the previous one.
    mutating func clear() -> Int? {
        defer { self = SpoolFailure() }
        return error == nil ? nil : segments
    }
}
