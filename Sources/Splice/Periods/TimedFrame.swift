import Demux
import Media
import Mux
import Transcode

/// A video access unit with both times unwrapped on the clock of its period.
struct TimedVideo: Equatable, Sendable {
    var packet: VideoPacket
    var dts: Ticks
    var pts: Ticks
    /// Whether decoding begins with this unit, whatever precedes it.
    var beginsPeriod = false

    var isSync: Bool { beginsPeriod || packet.sync == .instantaneousRefresh }

    /// Payload of the sample.
    var payload: ArraySlice<UInt8> {
        beginsPeriod && packet.sync == .cleanRandomAccess ? BrokenLink.payload(of: packet.payload) : packet.payload
    }
}

/// An audio frame with its unwrapped time.
struct TimedAudio: Equatable, Sendable {
    var packet: AudioPacket
    var pts: Ticks
}
