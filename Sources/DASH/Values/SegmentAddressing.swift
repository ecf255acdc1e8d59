package import Support

/// How the segments of a representation are named and timed (ISO/IEC 23009-1 §5.3.9).
package struct SegmentAddressing: Equatable, Sendable {
    package enum Segments: Equatable, Sendable {
        case template(URLTemplate)
        /// SegmentURL elements, in order.
        case list([Reference])
        /// A segment index in the bytes of the resource (ISO/IEC 14496-12 §8.16.3).
        case index(ByteRange)
    }

    package enum Times: Equatable, Sendable {
        case timeline([TimelineRun])
        /// Segments of one duration, in units of the timescale. A live list of them follows from the clock.
        case constant(UInt64)
        /// The times of a segment index.
        case indexed
    }

    /// SegmentURL or Initialization: a part of a resource.
    package struct Reference: Equatable, Sendable {
        /// Relative to the base URL; nil: the base URL itself.
        package var uri: String?
        package var byteRange: ByteRange?
    }

    package enum Initialization: Equatable, Sendable {
        case template(URLTemplate)
        case reference(Reference)
    }

    package var segments: Segments
    package var times: Times
    package var initialization: Initialization?
    /// Units in a second.
    package var timescale: UInt64 = 1
    /// The media time of the start of the period.
    package var presentationTimeOffset: UInt64 = 0
    package var startNumber: UInt64 = 1
    /// The number of the last segment; nil if unknown.
    package var endNumber: UInt64?
    /// How much earlier than its end a segment can be requested.
    package var availabilityTimeOffset = Duration.zero

    /// The duration of `units` of the timescale, to the nanosecond.
    package func duration(_ units: UInt64) -> Duration {
        let (seconds, rest) = units.quotientAndRemainder(dividingBy: timescale)
        return .seconds(Int64(seconds)) + .nanoseconds(Int64(rest * 1_000_000_000 / timescale))
    }

    /// The time of a media time from the start of the period; negative before it.
    package func offset(_ mediaTime: UInt64) -> Duration {
        mediaTime >= presentationTimeOffset
            ? duration(mediaTime - presentationTimeOffset) : .zero - duration(presentationTimeOffset - mediaTime)
    }

    /// The units in a duration, rounded down; zero for a negative one, and the largest for one beyond the range.
    package func units(in duration: Duration) -> UInt64 {
        guard duration > .zero else { return 0 }
        let (seconds, attoseconds) = duration.components
        let (whole, overflows) = UInt64(seconds).multipliedReportingOverflow(by: timescale)
        let (sum, carries) = whole.addingReportingOverflow(
            UInt64(attoseconds / 1_000_000_000) * timescale / 1_000_000_000)
        return overflows || carries ? .max : sum
    }
}

/// One S of a SegmentTimeline: segments of one duration after each other, in units of the timescale.
package struct TimelineRun: Equatable, Sendable {
    package var start: UInt64
    package var duration: UInt64
    /// nil: up to the end of the period, or as far as the clock goes.
    package var count: UInt64?
    /// How many segments precede the run in its timeline.
    package var index: UInt64
}

/// The references of a segment index.
package struct SegmentIndex: Equatable, Sendable {
    package struct Entry: Equatable, Sendable {
        package var byteRange: ByteRange
        /// In units of the timescale.
        package var start: UInt64
        package var duration: UInt64
    }

    package var timescale: UInt64
    package var entries: [Entry]
}
