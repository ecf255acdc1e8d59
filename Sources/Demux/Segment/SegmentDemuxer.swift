package import Media
package import Support

/// A demuxer: clear segments in, packets out. One value per rendition.
///
/// It may hold back an incomplete frame at the end of a segment and emit it first with the next segment. In a canceled
/// task each function throws `MediaError.Reason.canceled`; the demuxer is then of no further use.
package protocol SegmentDemuxer: Sendable {
    /// Sets the clear Media Initialization Section of the next segment (RFC 8216 §4.3.2.5); called with each segment.
    /// Packed audio has none, and ignores it.
    mutating func initialize(with section: [UInt8]) throws(MediaError)
    mutating func feed(_ segment: [UInt8]) throws(MediaError) -> DemuxedSegment
    /// - Parameters:
    ///   - segment: the bytes of `ranges`, one after the other.
    ///   - ranges: where the bytes are in their file, in increasing order; none if that is not known.
    mutating func feed(_ segment: [UInt8], of ranges: [Range<UInt64>]) throws(MediaError) -> DemuxedSegment
    /// Ends the held frames at a signaled discontinuity or a lost segment: a complete frame is emitted, an incomplete
    /// one is counted.
    mutating func reset() throws(MediaError) -> DemuxedSegment
    mutating func finish() throws(MediaError) -> DemuxedSegment
}

extension SegmentDemuxer {
    package mutating func initialize(with section: [UInt8]) throws(MediaError) {}
    package mutating func feed(
        _ segment: [UInt8], of ranges: [Range<UInt64>]
    ) throws(MediaError) -> DemuxedSegment { try feed(segment) }
    package mutating func reset() -> DemuxedSegment { DemuxedSegment() }
    package mutating func finish() -> DemuxedSegment { DemuxedSegment() }
}

/// The output of one demuxed segment: the packets of each track in stream order.
package struct DemuxedSegment: Equatable, Sendable {
    package var video: [VideoPacket] = []
    package var audio: [AudioPacket] = []
    /// The audio beside `audio`, each track once.
    package var furtherAudio: [FurtherAudio] = []
    /// Whether the latest program tables or the init section list a video track, even if it has no frame here.
    var declaresVideo = false
    package var declaresAudio = false
    package var metadata: [TimedMetadata] = []
    private var privateDataPackets = 0
    package var counts = Counts<DemuxCount>()
    /// Whether conditional access scrambles the video, or the only audio, so that it has no frame here.
    package var isScrambled = false
    /// The program followed at the end of the segment; nil if the container has no programs.
    package var program: ProgramSelection?
    /// The identity of the leading audio; nil if the container does not say.
    package var audioTrack: AudioTrackIdentity?
    /// Sample entries of the video tracks, if none of them can be republished; of fragmented MP4 alone.
    package var unsupportedVideo: [String] = []
    /// Sample entries of the audio tracks that cannot be republished; of fragmented MP4 alone.
    package var unsupportedAudio: [String] = []

    package init() {}

    package mutating func append(_ packets: [AudioPacket], of track: AudioTrackIdentity) {
        if let index = furtherAudio.firstIndex(where: { $0.track == track }) {
            furtherAudio[index].packets += packets
        } else {
            furtherAudio.append(FurtherAudio(track: track, packets: packets))
        }
    }

    mutating func append(_ item: TimedMetadata) {
        let isPrivateData = if case .privateData = item.content { true } else { false }
        let hasRoom =
            isPrivateData
            ? privateDataPackets < DemuxLimits.privateDataPackets
            : metadata.count - privateDataPackets < DemuxLimits.messages
        guard hasRoom else {
            counts[.excessEventMessages] += 1
            return
        }
        metadata.append(item)
        if isPrivateData { privateDataPackets += 1 }
    }

    /// Whether there is no audio and the program lists none; false if the container has no programs.
    package var declaresNoAudio: Bool { audio.isEmpty && !declaresAudio && program != nil }

    package var isAudioOnly: Bool { !declaresVideo && video.isEmpty && !audio.isEmpty }
}

/// The packets of an audio track beside the leading one.
package struct FurtherAudio: Equatable, Sendable {
    package let track: AudioTrackIdentity
    package var packets: [AudioPacket]
}

/// Input that a demuxer could not use. `/status.json` shows each count, summed over the channel.
package enum DemuxCount: Int, CountKey {
    case bytesOutOfSync
    /// Transport packets with transport_error_indicator, a bad adaptation field or a continuity gap before them.
    case transportErrors
    case duplicatePackets
    case scrambledPackets
    /// Video PES packets that do not end where their PES_packet_length says.
    case wrongPacketLengths
    /// PSI sections with a wrong CRC_32, and changed ones beyond those that are applied in a segment.
    case badSections
    /// Access units and audio frames before their parameter sets, or without beginning and end.
    case undecodableUnits
    /// Access units of fragmented MP4 with an SPS that their init section does not have, though it has one: it is that of an
    /// earlier run of the packager.
    case foreignParameterSets
    /// Access units and audio frames that were incomplete at a discontinuity.
    case abandonedUnits
    /// Packets and fragments of tracks that are not followed: subtitles, data, other languages and programs, and
    /// unlisted PIDs.
    case otherPackets
    case incompleteSamples
    /// Boxes that end after their segment, or with contradictory fields.
    case badBoxes
    /// Messages, splice information sections and ID3 tags that are too large or too many.
    case excessEventMessages
}
