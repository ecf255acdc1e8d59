/// One coded audio frame.
package struct AudioPacket: Equatable, Sendable {
    package let pid: UInt16
    package let configuration: AudioConfiguration
    /// Presentation time as on the wire, 0 ..< 2³³: the time of the PES packet for the first frame that begins in it,
    /// counted in samples after that. nil until a PES packet has a time.
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
}
