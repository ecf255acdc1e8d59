/// A moment of EXT-X-PROGRAM-DATE-TIME (RFC 8216 §4.3.2.6), to the millisecond, on the UTC axis.
package struct ProgramDateTime: Hashable, Comparable, Sendable {
    /// Milliseconds since 1970-01-01T00:00:00Z.
    package var millisecondsSince1970: Int64

    package init(millisecondsSince1970: Int64) { self.millisecondsSince1970 = millisecondsSince1970 }

    package static func < (left: ProgramDateTime, right: ProgramDateTime) -> Bool {
        left.millisecondsSince1970 < right.millisecondsSince1970
    }
}
