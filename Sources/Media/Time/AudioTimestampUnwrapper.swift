/// Unfolds the 33-bit times of one stream of sound and counts on in samples where it says none, so that hours of packed
/// audio without time stamps do not drift.
package struct AudioTimestampUnwrapper: Equatable, Sendable {
    private var anchor = Ticks.zero
    /// Since `anchor`, at `sampleRate`.
    private var samples: Int64 = 0
    private var sampleRate: Int64 = 1

    package init() {}

    /// Where the next frame follows.
    package var expected: Ticks { anchor + Ticks(samples: samples, sampleRate: sampleRate) }

    package mutating func unfold(_ packet: AudioPacket) -> Ticks {
        let time = packet.pts.map { Ticks(wire: $0, near: expected) } ?? expected
        let rate = Int64(packet.configuration.sampleRate)
        if packet.pts != nil || rate != sampleRate {
            anchor = time
            samples = 0
            sampleRate = rate
        }
        samples += Int64(packet.configuration.samplesPerFrame)
        return time
    }
}
