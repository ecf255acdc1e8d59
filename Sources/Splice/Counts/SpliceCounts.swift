package import Demux

/// Counts of everything dropped or inserted. Each part of the engine counts its own; `+` makes the channel's sum.
package struct SpliceCounts: Encodable, Equatable, Sendable {
    package var periods = 0
    /// Frames between a signal and the random access point after it at which a period begins.
    package var framesBeforeSync = 0
    /// Leading pictures of an open GOP dropped at the start of a period.
    package var leadingPictures = 0
    /// Video and audio frames that the upstream sent again after they were published.
    package var duplicateFrames = 0
    package var duplicateAudioFrames = 0
    /// Key frames repeated beside audio that came without video, or because a frame stands for longer than its segment.
    package var stillFrames = 0
    /// Times that video did not come back, and the channel went on with audio alone.
    package var videoTimeouts = 0
    /// Periods that begin with a frame that none announces as a random access point (`AssumedRefresh`).
    var assumedRefreshes = 0
    /// Times that video was written before its audio or the end of its GOP had come, because too much of it was held.
    var releases = 0
    /// Samples whose times the sanitizer changed.
    package var timestampsSanitized = 0
    /// Video frames without a timestamp of their own.
    package var inferredTimestamps = 0
    /// Gaps in the upstream's timestamps that nothing signaled (`TimestampGaps`), and their total in ticks.
    package var timestampGaps = 0
    package var timestampGapTicks = 0
    /// Periods whose reorder delay exceeds the constant composition offset.
    package var periodsBeyondCompositionDelay = 0
    /// Output segments that begin without a random access point: a GOP is longer than TARGETDURATION, or an upstream no
    /// longer begins its segments with one.
    package var segmentsWithoutSync = 0
    /// Output segments that begin at a random access point that is no sync sample: with leading pictures that refer to
    /// the segment before, or with a gradual refresh.
    package var openSegments = 0
    /// Frames of periods whose parameter sets could not be described.
    package var unsupportedFrames = 0
    /// Audio frames that were transcoded, and those that could not be decoded.
    package var audioTranscoded = 0
    package var audioUndecodable = 0
    /// Audio frames that overlapped, ended after their video, or matched no video.
    package var audioOverlapping = 0
    package var audioTrimmed = 0
    package var audioDiscarded = 0
    /// Audio frames with lost or damaged bytes; a decoder would turn them into noise.
    package var audioDamaged = 0
    /// Audio frames before the first timestamp of their stream.
    package var audioUntimed = 0
    /// Silent frames written where the source had no audio.
    package var audioSilence = 0
    /// Audio gaps and overlaps corrected inside periods.
    var audioDriftCorrections = 0
    /// Upstream dates more than a second ahead of the media or behind it, inside a period.
    package var datesRejected = 0
    package var messagesWritten = 0
    /// Event messages that the upstream sent more than once.
    package var duplicateMessages = 0
    /// Timed metadata that matched no frame, or whose time did not come.
    package var metadataDiscarded = 0
    package var demux = DemuxCounts()

    package init() {}

    /// The published names. Counts of dates and of timed metadata are published with the ad markers, and
    /// `timestampGapTicks` in seconds, by the channel's status.
    private enum CodingKeys: String, CodingKey {
        case periods, framesBeforeSync, leadingPictures, duplicateFrames, duplicateAudioFrames, stillFrames,
            videoTimeouts
        case assumedRefreshes = "assumedRandomAccessPoints"
        case timestampsSanitized = "adjustedTimestamps"
        case releases = "earlyReleases"
        case inferredTimestamps, timestampGaps, periodsBeyondCompositionDelay, segmentsWithoutSync, openSegments,
            unsupportedFrames
        case audioTranscoded = "transcodedAudioFrames"
        case audioUndecodable = "undecodableAudioFrames"
        case audioOverlapping = "overlappingAudioFrames"
        case audioTrimmed = "trimmedAudioFrames"
        case audioDiscarded = "unmatchedAudioFrames"
        case audioDamaged = "damagedAudioFrames"
        case audioUntimed = "untimedAudioFrames"
        case audioSilence = "silentAudioFrames"
        case audioDriftCorrections = "audioGapsAndOverlaps"
        case demux
    }

    /// Sums the counts of several parts, or of several sources of one channel. Each segment
    /// asks for it several times, so it does without key paths.
    package static func + (left: SpliceCounts, right: SpliceCounts) -> SpliceCounts {
        var sum = left
        sum.periods += right.periods
        sum.framesBeforeSync += right.framesBeforeSync
        sum.leadingPictures += right.leadingPictures
        sum.duplicateFrames += right.duplicateFrames
        sum.duplicateAudioFrames += right.duplicateAudioFrames
        sum.stillFrames += right.stillFrames
        sum.videoTimeouts += right.videoTimeouts
        sum.assumedRefreshes += right.assumedRefreshes
        sum.releases += right.releases
        sum.timestampsSanitized += right.timestampsSanitized
        sum.inferredTimestamps += right.inferredTimestamps
        sum.timestampGaps += right.timestampGaps
        sum.timestampGapTicks += right.timestampGapTicks
        sum.periodsBeyondCompositionDelay += right.periodsBeyondCompositionDelay
        sum.segmentsWithoutSync += right.segmentsWithoutSync
        sum.openSegments += right.openSegments
        sum.unsupportedFrames += right.unsupportedFrames
        sum.audioTranscoded += right.audioTranscoded
        sum.audioUndecodable += right.audioUndecodable
        sum.audioOverlapping += right.audioOverlapping
        sum.audioTrimmed += right.audioTrimmed
        sum.audioDiscarded += right.audioDiscarded
        sum.audioDamaged += right.audioDamaged
        sum.audioUntimed += right.audioUntimed
        sum.audioSilence += right.audioSilence
        sum.audioDriftCorrections += right.audioDriftCorrections
        sum.datesRejected += right.datesRejected
        sum.messagesWritten += right.messagesWritten
        sum.duplicateMessages += right.duplicateMessages
        sum.metadataDiscarded += right.metadataDiscarded
        sum.demux += right.demux
        return sum
    }
}

/// A fault of an upstream that is published all the same, of which an operator is told once.
package enum SpliceWarning: Hashable, Sendable {
    /// Audio tracks of fragmented MP4 in codecs that cannot be republished, by their sample entries.
    case unsupportedAudio([String])
    /// No random access point came, so a period begins with a frame that none is announced for.
    case noRandomAccessPoint
    /// No video has come for `StillFrame.longest`, so the channel goes on with its audio alone.
    case videoTimedOut
    /// Video was written before all that belongs to it had come, because too much of it was held.
    case mediaReleased
}
