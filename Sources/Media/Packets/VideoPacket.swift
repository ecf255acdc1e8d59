/// One video access unit in decoding order, as fMP4 wants it.
package struct VideoPacket: Equatable, Sendable {
    package enum Sync: Equatable, Sendable {
        /// An IDR picture (HEVC: IDR or BLA): decoding may begin here.
        case instantaneousRefresh
        /// An HEVC CRA picture: a run may begin here, without the pictures that lead it. Elsewhere those refer to what came
        /// before, and it is not marked sync.
        case cleanRandomAccess
        /// A recovery point SEI: decodable after some pictures; never marked sync.
        case recoveryPoint
        case none

        /// A run may begin here.
        package var isRandomAccess: Bool { self == .instantaneousRefresh || self == .cleanRandomAccess }
    }

    /// PID of the elementary stream it came from (0 when the container has none).
    package let pid: UInt16
    package let configuration: VideoConfiguration
    /// As on the wire, 0 ..< 2³³; nil when no PES header gave one.
    package let pts: Ticks?
    package let dts: Ticks?
    package let sync: Sync
    /// Bytes of this access unit were lost or doubted on the way.
    package let isDamaged: Bool
    /// NAL units, each behind its length in four bytes: access unit delimiters and filler left out, and in front of
    /// random access exactly the parameter sets of `configuration`, in its order.
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
