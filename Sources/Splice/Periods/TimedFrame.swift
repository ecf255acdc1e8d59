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

/// Rewrites an HEVC CRA picture at the start of a period as a BLA picture (ISO/IEC 23008-2 §3.14, §7.4.2.2), and sets
/// broken_link of MPEG-2 (ISO/IEC 13818-2 §6.3.8).
///
/// In the middle of a stream a decoder continues picture order counting across a CRA picture, as if frames of another
/// period before it were its own. A BLA picture says that they are not. The two differ in nal_unit_type alone.
enum BrokenLink {
    private static let cleanRandomAccess: UInt8 = 21
    /// BLA_N_LP: its leading pictures are dropped.
    private static let withoutLeadingPictures: UInt8 = 18

    private static let groupStartCode: [UInt8] = [0, 0, 1, 0xB8]
    /// broken_link in the fourth byte after the start code of a group of pictures header.
    private static let brokenLink: UInt8 = 0x20

    /// - Parameter payload: NAL units with 4-byte length prefixes; of MPEG-2, with start codes.
    static func payload(of payload: ArraySlice<UInt8>, codec: VideoConfiguration.Codec) -> ArraySlice<UInt8> {
        var payload = payload
        guard codec != .mpeg2 else {
            if let group = payload.firstRange(of: groupStartCode), group.upperBound + 3 < payload.endIndex {
                payload[group.upperBound + 3] |= brokenLink
            }
            return payload
        }
        var start = payload.startIndex
        while payload.endIndex - start > 4 {
            let header = start + 4
            let length = payload[start..<header].reduce(0) { $0 << 8 | Int($1) }
            if payload[header] >> 1 & 0x3F == cleanRandomAccess {
                payload[header] = payload[header] & 0x81 | withoutLeadingPictures << 1
            }
            start = header + min(length, payload.endIndex - header)
        }
        return payload
    }
}

/// Unwraps the 33-bit video times of one rendition and infers missing ones.
struct VideoTimestampUnwrapper: Equatable, Sendable {
    /// Frame duration assumed until two frames are known: 25 frames per second.
    static let assumedFrameDuration = Ticks(3600)

    private(set) var last: Ticks?
    private(set) var frameDuration = VideoTimestampUnwrapper.assumedFrameDuration
    /// Longest time from decoding to presentation; a longer one is damage.
    private static let longestReordering = Ticks.seconds(10)

    /// Counts of access units without a time of their own, or with an impossible one.
    private(set) var counts = SpliceCounts()

    mutating func unwrap(_ packet: VideoPacket) -> TimedVideo {
        let expected = last.map { $0 + frameDuration } ?? .zero
        guard let wire = packet.dts ?? packet.pts else {
            counts[.inferredTimestamps] += 1
            last = expected
            return TimedVideo(packet: packet, dts: expected, pts: expected)
        }
        let dts = Ticks(wire: wire, near: expected)
        if let last, dts > last, dts - last <= .longestFrame { frameDuration = dts - last }
        last = dts
        let pts = Ticks(wire: packet.pts ?? wire, near: dts)
        guard pts - dts <= Self.longestReordering, dts - pts <= Self.longestReordering else {
            counts[.inferredTimestamps] += 1
            return TimedVideo(packet: packet, dts: dts, pts: dts)
        }
        return TimedVideo(packet: packet, dts: dts, pts: pts)
    }
}
