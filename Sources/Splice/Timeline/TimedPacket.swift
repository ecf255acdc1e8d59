/// A video access unit with both times unfolded on the clock of its run.
struct TimedVideo: Equatable, Sendable {
    var packet: VideoPacket
    var dts: Ticks
    var pts: Ticks

    var isSync: Bool { packet.sync == .instantaneousRefresh }
}

/// An audio frame with its time on a clock that does not wrap.
struct TimedAudio: Equatable, Sendable {
    var packet: AudioPacket
    var pts: Ticks
}
