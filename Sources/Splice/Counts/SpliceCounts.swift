package import Demux
package import Support

/// Drops, insertions and changes of the splice.
package enum SpliceCount: Int, CountKey {
    case periods
    /// Frames between a signal and the random access point after it at which a period begins.
    case framesBeforeSync
    /// Leading pictures of an open GOP dropped at the start of a period.
    case leadingPictures
    /// Video and audio frames that the upstream sent again after they were published.
    case duplicateFrames
    case duplicateAudioFrames
    /// Key frames repeated beside audio that came without video, or because a frame stands for longer than its segment.
    case stillFrames
    /// Times that video did not come back, and the channel went on with audio alone.
    case videoTimeouts
    /// Periods that begin with a frame that none announces as a random access point (`AssumedRefresh`).
    case assumedRandomAccessPoints
    /// Times that video was written before its audio or the end of its GOP had come, because too much of it was held.
    case earlyReleases
    case adjustedTimestamps
    case inferredTimestamps
    /// Gaps in the upstream's timestamps that nothing signaled (`TimestampGaps`), and their total in ticks.
    case timestampGaps
    case timestampGapTicks
    /// Periods whose reorder delay exceeds the constant composition offset.
    case periodsBeyondCompositionDelay
    /// Output segments that begin without a random access point: a GOP is longer than TARGETDURATION, or an upstream no
    /// longer begins its segments with one.
    case segmentsWithoutSync
    /// Output segments that begin at a random access point that is no sync sample: with leading pictures that refer to
    /// the segment before, or with a gradual refresh.
    case openSegments
    /// Frames of periods whose parameter sets could not be described.
    case unsupportedFrames
    /// Audio frames that were transcoded, and those that could not be decoded.
    case transcodedAudioFrames
    case undecodableAudioFrames
    /// Audio frames that overlapped, ended after their video, or matched no video.
    case overlappingAudioFrames
    case trimmedAudioFrames
    case unmatchedAudioFrames
    /// Audio frames with lost or damaged bytes; a decoder would turn them into noise.
    case damagedAudioFrames
    case untimedAudioFrames
    case silentAudioFrames
    case audioGapsAndOverlaps
    /// Upstream dates more than a second ahead of the media or behind it, inside a period.
    case ignoredProgramDateTimes
    case eventMessages
    case duplicateEventMessages
    /// Timed metadata that matched no frame, or whose time did not come.
    case discardedTimedMetadata
    case privateDataPackets

    /// Counts of dates and of timed metadata, which are published with the ad markers.
    package static let ofMetadata: Set = [
        eventMessages, duplicateEventMessages, discardedTimedMetadata, ignoredProgramDateTimes, privateDataPackets,
    ]
}

/// Counts of everything dropped or inserted. Each part of the engine counts its own; `+` makes the channel's sum.
package struct SpliceCounts: Encodable, Equatable, Sendable {
    private enum CodingKeys: String, CodingKey { case demux }

    private var own = Counts<SpliceCount>()
    package var demux = Counts<DemuxCount>()

    package init() {}

    package subscript(count: SpliceCount) -> Int {
        get { own[count] }
        set { own[count] = newValue }
    }

    package static func += (sum: inout SpliceCounts, other: SpliceCounts) {
        sum.own += other.own
        sum.demux += other.demux
    }

    package static func + (left: SpliceCounts, right: SpliceCounts) -> SpliceCounts {
        var sum = left
        sum += right
        return sum
    }

    /// `timestampGapTicks` are published in seconds, by the channel's status.
    package func encode(to encoder: any Encoder) throws {
        try own.encode(
            SpliceCount.allCases.filter { $0 != .timestampGapTicks && !SpliceCount.ofMetadata.contains($0) },
            to: encoder)
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(demux, forKey: .demux)
    }

    package func encodeMetadata(to encoder: any Encoder) throws {
        try own.encode(SpliceCount.ofMetadata, to: encoder)
    }
}

/// A fault of an upstream that is published all the same, of which an operator is told once.
package enum SpliceWarning: Hashable, Sendable {
    /// All video tracks of fragmented MP4 are in codecs that cannot be republished, by their sample entries.
    case unsupportedVideo([String])
    /// Audio tracks of fragmented MP4 in codecs that cannot be republished, by their sample entries.
    case unsupportedAudio([String])
    /// No random access point came, so a period begins with a frame that none is announced for.
    case noRandomAccessPoint
    /// The video has other parameter sets than its init section.
    case foreignParameterSets
    /// No video has come for `StillFrame.longest`, so the channel goes on with its audio alone.
    case videoTimedOut
    /// Video was written before all that belongs to it had come, because too much of it was held.
    case mediaReleased
}
