import Media

/// Counts a PES packet's time on in samples, without a rounding error that grows.
struct AudioTimestampInterpolator: Equatable, Sendable {
    private var anchor: Ticks?
    private var samples: Int64 = 0
    private var sampleRate: Int64 = 1

    init() {}

    /// Nearest tick, 0 ..< 2³³; nil before any time was given, and from a loss up to the next.
    var now: Ticks? {
        anchor.map { ($0 + Ticks(samples: samples, sampleRate: sampleRate)).wire }
    }

    mutating func set(_ pts: Ticks?) {
        anchor = pts
        samples = 0
    }

    mutating func advance(_ count: Int, at rate: Int) {
        if Int64(rate) != sampleRate {
            set(now)
            sampleRate = Int64(rate)
        }
        samples += Int64(count)
    }
}
