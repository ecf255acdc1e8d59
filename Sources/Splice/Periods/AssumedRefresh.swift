import Demux
import Media

/// Takes frames for a gradual refresh in a stream that announces no random access point.
///
/// Encoders with intra refresh may send an IDR picture once, and no recovery point SEI message ever. Decoders begin
/// anywhere in such a stream and show errors until the refresh has passed over the image. So if no random access point
/// came for `longestWait`, a period begins with any frame, and its segments with theirs, until the stream has one.
struct AssumedRefresh: Equatable, Sendable {
    /// Shortest wait for a random access point, in time presented; encoders with longer GOPs are rare.
    static let shortestWait = Ticks.seconds(10)

    private let longestWait: Ticks
    /// The stream that has no random access point; nil if none is known.
    private var configuration: VideoConfiguration?

    init(longestSegment: Ticks) { longestWait = max(Self.shortestWait, longestSegment + longestSegment) }

    /// Records that frames of a stream were dropped for `duration`, none of them a random access point.
    mutating func recordWait(_ duration: Ticks, for packet: VideoPacket) {
        if duration > longestWait { configuration = packet.configuration }
    }

    /// Marks `packet` as a gradual refresh, if the stream has no random access point and decoding has to begin here.
    /// - Parameter isNeeded: whether a period or an upstream segment begins here.
    mutating func apply(to packet: VideoPacket, isNeeded: Bool) -> VideoPacket {
        guard packet.randomAccess == nil, packet.configuration == configuration else {
            configuration = nil
            return packet
        }
        return isNeeded ? packet.asGradualRefresh : packet
    }
}

extension VideoPacket {
    /// The frame as one with which a refresh of unknown length begins, and which says so itself: decoders of H.264 show
    /// nothing before a random access point.
    fileprivate var asGradualRefresh: VideoPacket {
        let message = RandomAccessPoint.recoveryPointMessage(configuration.codec)
        let prefix = message.isEmpty ? [] : [0, 0, 0, UInt8(message.count)] + message
        var packet = self
        packet.randomAccess = .gradualRefresh(frames: RandomAccessPoint.assumedRefreshFrames)
        packet.payload = (prefix + payload)[...]
        packet.parameterSets = configuration.inBandParameterSets
        packet.captions = CaptionChannels()
        return packet
    }
}

extension RandomAccessPoint {
    /// Frames that a refresh of unknown length is assumed to take: 10 s at 25 frames per second.
    fileprivate static let assumedRefreshFrames = 250

    /// NAL unit with a recovery point SEI message: inexact, and at once, because a decoder need not wait to show an
    /// image with errors (ISO/IEC 14496-10 §D.1.8, ISO/IEC 23008-2 §D.2.8). Empty for MPEG-2, which has none.
    fileprivate static func recoveryPointMessage(_ codec: VideoConfiguration.Codec) -> [UInt8] {
        switch codec {
        case .h264: [0x06, 6, 1, 0x84, 0x80]
        case .hevc: [0x4E, 0x01, 6, 1, 0x90, 0x80]
        case .mpeg2: []
        }
    }
}
