/// One video access unit, in decoding order and in the sample format of fMP4.
package struct VideoPacket: Equatable, Sendable {
    package enum Sync: Equatable, Sendable {
        /// An IDR picture (HEVC: IDR or BLA). Decoding may begin here.
        case instantaneousRefresh
        /// An HEVC CRA picture. A period may begin here, without the leading pictures. Anywhere else the leading
        /// pictures refer to earlier pictures, so the sample is not marked sync.
        case cleanRandomAccess
        /// A recovery point SEI: decodable after some frames. Such a sample is never marked sync.
        case recoveryPoint
        case none

        /// Whether a period may begin here.
        package var isRandomAccess: Bool { self == .instantaneousRefresh || self == .cleanRandomAccess }
    }

    /// PID of the elementary stream (0 if the container has none).
    package let pid: UInt16
    package let configuration: VideoConfiguration
    /// Presentation time as on the wire, 0 ..< 2³³; nil if no PES header has one.
    package let pts: Ticks?
    /// Decoding time, like `pts`.
    package let dts: Ticks?
    package let sync: Sync
    /// Whether bytes of this access unit are missing or suspect.
    package let isDamaged: Bool
    /// NAL units with four-byte lengths, without access unit delimiters and filler. Before random access: exactly the
    /// parameter sets of `configuration`, in its order.
    package let payload: ArraySlice<UInt8>

    package init(
        pid: UInt16, configuration: VideoConfiguration, pts: Ticks?, dts: Ticks?, sync: Sync, isDamaged: Bool,
        payload: ArraySlice<UInt8>
    ) {
        self.pid = pid
        self.configuration = configuration
        self.pts = pts
        self.dts = dts
        self.sync = sync
        self.isDamaged = isDamaged
        self.payload = payload
    }
}
