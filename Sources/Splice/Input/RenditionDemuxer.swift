import Demux
import Media
import Support
import Transcode

/// Demuxes the segments of one rendition: selects the demuxer, tracks missing segments, and transcodes the audio.
struct RenditionDemuxer: Sendable {
    let tracks: TrackSelection
    private let choice: AudioTrackChoice
    private var demuxer: (any SegmentDemuxer)?
    private var container: SegmentContainer?
    /// Whether the next segment does not continue the one before.
    private var isContinuityBroken = false
    /// Counts of the demuxers; those of the audio stage are apart.
    private(set) var counts = SpliceCounts()
    var audioStage: AudioTranscodeStage
    private(set) var program: ProgramSelection?
    /// The identity of the leading audio; nil if the container does not say.
    private(set) var audioTrack: AudioTrackIdentity?
    /// Video tracks of fragmented MP4 without one that can be republished, by their sample entries.
    private(set) var unsupportedVideo: [String] = []
    /// Audio tracks of fragmented MP4 that cannot be republished, by their sample entries.
    private(set) var unsupportedAudio: [String] = []

    /// - Parameter choice: the audio tracks that are followed beside the leading one.
    init(tracks: TrackSelection, audio choice: AudioTrackChoice = .leading, audioStage: AudioTranscodeStage) {
        self.tracks = tracks
        self.choice = choice
        self.audioStage = audioStage
    }

    var audioCounts: SpliceCounts {
        var counts = SpliceCounts()
        counts[.transcodedAudioFrames] = audioStage.counts.transcoded
        counts[.undecodableAudioFrames] = audioStage.counts.undecodable
        return counts
    }

    mutating func breakContinuity() { isContinuityBroken = true }

    /// The names of the video codecs that cannot be republished, if the segment demuxed last has no other video.
    var foreignVideo: [String] {
        guard let program, program.video == nil else { return unsupportedVideo }
        return program.unsupportedVideo
    }

    struct Demuxed {
        /// Frames that earlier segments had not completed, if this segment does not continue them.
        var flushed: DemuxedSegment
        var boundary: SegmentBoundary
        var packets: DemuxedSegment
        /// Whether `packets` may continue where `flushed` ended.
        var isContinuous = false
        /// Date of the first of `packets` in milliseconds since 1970; nil if the upstream gave none.
        var date: Int64?
    }

    /// - Throws: if the segment cannot be demuxed; the next segment then follows a loss.
    mutating func demux(_ segment: SegmentInput) throws(MediaError) -> Demuxed {
        let boundary: SegmentBoundary =
            isContinuityBroken || segment.isAfterDiscontinuity ? .loss : segment.isDiscontinuous ? .tagged : .plain
        isContinuityBroken = true
        let located = try LocatedMedia.find(
            in: segment.bytes, initialization: segment.initialization, isRange: !segment.ranges.isEmpty)
        guard let located else {
            throw MediaError(
                .unknownContainer(firstBytes: Array(segment.bytes.prefix(16))), section: "RFC 8216 §3")
        }
        let detected = located.container
        let held = detected != container ? try demuxer?.finish() : boundary != .plain ? try demuxer?.reset() : nil
        var flushed = counted(held)
        let previous = container
        // The demuxer is moved out while it is fed: a second owner would make it copy its buffers.
        var demuxer = detachDemuxer(for: detected)
        defer { self.demuxer = demuxer }
        if let initialization = segment.initialization {
            let section = try LocatedMedia.find(in: initialization)
            try demuxer.initialize(with: section?.media(of: initialization) ?? initialization)
        }
        var packets = try demuxer.feed(located.media(of: segment.bytes), of: segment.ranges)
        try located.appendPrefix(of: segment.bytes, to: &packets)
        counts.demux += packets.counts
        if packets.isScrambled { throw MediaError(.scrambled, section: "ISO/IEC 13818-1 2.4.3.3") }
        let isContinuous = boundary == .plain && detected == previous
        try audioStage.process(flushed: &flushed.audio, &packets.audio, isContinuous: isContinuous)
        program = packets.program
        audioTrack = packets.audioTrack ?? audioTrack
        (unsupportedVideo, unsupportedAudio) = (packets.unsupportedVideo, packets.unsupportedAudio)
        isContinuityBroken = false
        return Demuxed(
            flushed: flushed, boundary: boundary, packets: packets, isContinuous: isContinuous,
            date: segment.programDateTime)
    }

    mutating func finish() throws(MediaError) -> DemuxedSegment {
        var flushed = counted(try demuxer?.finish())
        flushed.audio = try audioStage.finish(flushed.audio)
        return flushed
    }

    private mutating func counted(_ flushed: DemuxedSegment?) -> DemuxedSegment {
        guard let flushed else { return DemuxedSegment() }
        counts.demux += flushed.counts
        return flushed
    }

    /// Returns the current demuxer if the container did not change, otherwise a new one.
    private mutating func detachDemuxer(for detected: SegmentContainer) -> any SegmentDemuxer {
        defer {
            demuxer = nil
            container = detected
        }
        if detected == container, let demuxer { return demuxer }
        switch detected {
        case .transportStream: return TransportDemuxer(tracks: tracks, audio: choice)
        case .packedAudio: return PackedAudioDemuxer(requiresTimestamp: tracks == .audio)
        case .fragmentedMP4: return FragmentedMP4Demuxer(tracks: tracks, audio: choice)
        }
    }
}
