/// One coded audio frame.
package struct AudioPacket: Equatable, Sendable {
    package let pid: UInt16
    package let configuration: AudioConfiguration
    /// As on the wire, 0 ..< 2³³: of the PES for the first frame that begins in it, counted in samples after that;
    /// nil while no PES has given one.
    package let pts: Ticks?
    package let isDamaged: Bool
    package let payload: ArraySlice<UInt8>

    package init(
        pid: UInt16, configuration: AudioConfiguration, pts: Ticks?, isDamaged: Bool, payload: ArraySlice<UInt8>
    ) {
        self.pid = pid
        self.configuration = configuration
        self.pts = pts
        self.isDamaged = isDamaged
        self.payload = payload
    }

    /// What it lasts, rounded down to ticks.
    package var duration: Ticks {
        switch configuration.codec {
        case .smpte302, .blurayPCM:
            Ticks(
                samples: Int64(PCMHeader.sampleCount(of: payload, configuration.codec)),
                sampleRate: Int64(configuration.sampleRate))
        default: configuration.frameDuration
        }
    }
}
