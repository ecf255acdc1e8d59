/// Unwraps the 33-bit timestamps of one audio stream and counts samples where a packet has none. Hours of packed audio
/// without timestamps therefore do not drift.
package struct AudioTimestampUnwrapper: Equatable, Sendable {
    private var anchor = Ticks.zero
    /// Samples since `anchor`, at `sampleRate`.
    private var samples: Int64 = 0
    private var sampleRate: SampleRate = 48_000

    package init() {}

    /// The time at which the next frame should follow.
    package var expected: Ticks { anchor + Ticks(samples: samples, sampleRate: sampleRate) }

    /// Returns the unwrapped time of the next packet.
    package mutating func unwrap(_ packet: AudioPacket) -> Ticks {
        let time = packet.pts.map { Ticks(wire: $0, near: expected) } ?? expected
        let rate = packet.configuration.sampleRate
        if packet.pts != nil || rate != sampleRate {
            anchor = time
            samples = 0
            sampleRate = rate
        }
        samples += Int64(packet.configuration.samplesPerFrame)
        return time
    }
}
