import Media

/// A video access unit with both times unwrapped on the clock of its period.
struct TimedVideo: Equatable, Sendable {
    var packet: VideoPacket
    var dts: Ticks
    var pts: Ticks
    /// Whether decoding begins with this unit, whatever precedes it.
    var beginsPeriod = false
    /// Whether a random access point that is no IDR picture counts as one: the stream has no others.
    var usesOpenRandomAccess = false
    /// Whether this is a key frame once more, which stands (`StandingVideo`).
    var isRepeated = false

    /// How decoding may begin with this unit; nil if it shall not. A decoder that begins with the first unit of a period
    /// shows no leading picture of it.
    var randomAccess: RandomAccessPoint? {
        switch packet.randomAccess {
        case .instantaneousRefresh: .instantaneousRefresh
        case .gradualRefresh(let frames) where beginsPeriod || usesOpenRandomAccess: .gradualRefresh(frames: frames)
        case _ where beginsPeriod: .instantaneousRefresh
        case let kind: usesOpenRandomAccess ? kind : nil
        }
    }

    /// Payload of the sample, after its parameter sets where decoding begins.
    var payload: ArraySlice<UInt8> {
        if beginsPeriod, packet.randomAccess == .cleanRandomAccess {
            return BrokenLink.payload(of: packet.payload, codec: packet.configuration.codec)
        }
        guard randomAccess != nil, !packet.parameterSets.isEmpty else { return packet.payload }
        return (packet.parameterSets + packet.payload)[...]
    }
}

extension [TimedVideo] {
    /// Returns how decoding may begin with a unit. Without leading pictures after it, every later unit can be decoded.
    func randomAccess(at index: Int) -> RandomAccessPoint? {
        let kind = self[index].randomAccess
        guard kind == .cleanRandomAccess || kind == .recoveryPoint, index + 1 < count else { return kind }
        let following = self[(index + 1)..<Swift.min(count, index + 1 + Self.deepestReordering)]
        return following.allSatisfy { $0.pts > self[index].pts } ? .instantaneousRefresh : kind
    }

    /// Presentation time from which the units are shown: of a period's first unit, or of the leading pictures that it has.
    /// The leading pictures of a later unit belong to what is shown before it.
    var presentationStart: Ticks? { first.flatMap { $0.beginsPeriod ? lazy.map(\.pts).min() : $0.pts } }

    /// Largest number of frames, in decoding order, between one frame and the last presented before it (both
    /// standards).
    static var deepestReordering: Int { 16 }
}

/// An audio frame with its unwrapped time.
struct TimedAudio: Equatable, Sendable {
    var packet: AudioPacket
    var pts: Ticks
}
