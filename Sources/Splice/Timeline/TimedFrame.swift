import Demux
import Media
import Mux
import Transcode

/// A video access unit with both times unfolded on the clock of its run.
struct TimedVideo: Equatable, Sendable {
    var packet: VideoPacket
    var dts: Ticks
    var pts: Ticks
    /// Decoding begins with it, whatever stands in front.
    var beginsRun = false

    var isSync: Bool { beginsRun || packet.sync == .instantaneousRefresh }

    /// Its bytes as a sample.
    var payload: ArraySlice<UInt8> {
        beginsRun && packet.sync == .cleanRandomAccess ? BrokenLink.payload(of: packet.payload) : packet.payload
    }
}

/// An audio frame with its time on a clock that does not wrap.
struct TimedAudio: Equatable, Sendable {
    var packet: AudioPacket
    var pts: Ticks
}
