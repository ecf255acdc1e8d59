import Media

/// Interpolates the timestamps of frames without one by counting samples, without accumulating rounding errors.
struct AudioTimestampInterpolator: Equatable, Sendable {
    private var anchor: Ticks?
    private var samples: Int64 = 0
    private var sampleRate: SampleRate = 48_000

    init() {}

    /// The current time to the nearest tick, 0 ..< 2³³; nil before the first timestamp, and from a loss to the next
    /// timestamp.
    var now: Ticks? {
        anchor.map { ($0 + Ticks(samples: samples, sampleRate: sampleRate)).wire }
    }

    mutating func set(_ pts: Ticks?) {
        anchor = pts
        samples = 0
    }

    mutating func advance(_ count: Int, at rate: SampleRate) {
        if rate != sampleRate {
            set(now)
            sampleRate = rate
        }
        samples += Int64(count)
    }
}
