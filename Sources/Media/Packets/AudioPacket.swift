/// One coded audio frame.
package struct AudioPacket: Equatable, Sendable {
    package let pid: UInt16
    package var configuration: AudioConfiguration
    /// Presentation time as on the wire, 0 ..< 2³³. The first frame that begins in a PES packet has the packet's time;
    /// times of later frames are counted in samples. nil until a PES packet has a time.
    package var pts: Ticks?
    package let isDamaged: Bool
    package var payload: ArraySlice<UInt8>

    package init(
        pid: UInt16, configuration: AudioConfiguration, pts: Ticks?, isDamaged: Bool, payload: ArraySlice<UInt8>
    ) {
        self.pid = pid
        self.configuration = configuration
        self.pts = pts
        self.isDamaged = isDamaged
        self.payload = payload
    }
}

/// Unwraps the 33-bit timestamps of one audio stream and counts samples where a packet has none. Hours of packed audio
/// without timestamps therefore do not drift.
package struct AudioTimestampUnwrapper: Equatable, Sendable {
    private var anchor = Ticks.zero
    private var samples: Int64 = 0
    private var sampleRate: SampleRate = 48_000

    package init() {}

    /// The time at which the next frame should follow.
    package var expected: Ticks { anchor + Ticks(samples: samples, sampleRate: sampleRate) }

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
