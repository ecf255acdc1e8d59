import Demux
import Media
import Support

/// Queues video spans, in order, until their audio is known.
///
/// Muxed audio comes with the video, or after it and is then waited for. A companion rendition is read segment by
/// segment, only when a video span needs audio that was not read.
struct VideoSpanQueue: Sendable {
    /// A part of a period with its audio.
    struct MatchedPart: Equatable, Sendable {
        let part: PeriodPart
        /// Late audio of the period before, if a period begins here.
        var lateAudio: [TimedAudio] = []
        let audio: [TimedAudio]
        /// Configuration of the audio; nil if the part has none of its own.
        let configuration: AudioConfiguration?
    }

    private typealias Entry = (part: PeriodPart, span: AudioVideoMatcher.VideoSpan)

    /// Number of longest segments that video waits for a lagging companion, unless the channel's patience is longer.
    private static let companionLookahead: Int64 = 4
    /// Shortest part that cutting a part yields, approximately.
    private static let shortestPart = Ticks.milliseconds(200)
    /// Periods that begin in one segment because its audio changes. Audio of later changes is dropped.
    private static let longestSplit = 64

    private var matcher: AudioVideoMatcher
    private var companionQueue: CompanionQueue
    private var entries = Queue<Entry>()
    private(set) var waitingDuration = Ticks.zero
    private let isMuxed: Bool
    private let longestSegment: Ticks
    private let patience: Ticks
    /// Whether the newest segment with video declares an audio track.
    private var announcesAudio = false
    private var isEnded = false
    /// Counts of leading pictures dropped where the audio's configuration changes.
    private var ownCounts = SpliceCounts()
    /// The segment that was split last, and how often. Each time walks the rest of it.
    private var splits = (mediaSequence: UInt64(0), count: 0)

    /// - Parameters:
    ///   - patience: the time for which a segment of the companion is awaited that is missing.
    ///   - byteLimit: bytes of the audio that waits, here and in the matcher each.
    init(isMuxed: Bool, longestSegment: Ticks, patience: Ticks, byteLimit: Int) {
        self.isMuxed = isMuxed
        self.patience = patience
        self.longestSegment = longestSegment
        matcher = AudioVideoMatcher(isMuxed: isMuxed, longestSegment: longestSegment, byteLimit: byteLimit)
        companionQueue = CompanionQueue(byteLimit: byteLimit)
    }

    var isEmpty: Bool { entries.isEmpty }

    var firstSpan: AudioVideoMatcher.VideoSpan? { entries.first?.span }

    /// The time of the video that waits after the first part.
    var durationAfterFirst: Ticks { waitingDuration - (entries.first?.part.playingDuration ?? .zero) }

    var oldestHeldSegment: UInt64? { entries.first?.part.mediaSequence }

    /// Counts of audio frames, of leading pictures, and of metadata items of the companion, that were dropped.
    var counts: SpliceCounts { matcher.counts + companionQueue.counts + ownCounts }

    mutating func append(_ parts: [PeriodPart]) {
        for part in parts {
            entries.append((part, part.videoSpan))
            waitingDuration = waitingDuration + part.playingDuration
        }
    }

    mutating func appendMuxedAudio(
        _ segment: DemuxedSegment, boundary: SegmentBoundary, discontinuitySequence: UInt64
    ) {
        announcesAudio = segment.declaresAudio
        guard isMuxed else { return }
        matcher.append(
            segment.audio, after: boundary, discontinuitySequence: discontinuitySequence,
            videoStart: segment.video.first?.pts)
    }

    mutating func appendLeftover(_ packets: [AudioPacket]) {
        if isMuxed { matcher.append(packets, discontinuitySequence: nil) }
    }

    mutating func append(companion entry: CompanionQueue.Entry) { companionQueue.append(entry) }

    mutating func endVideo() { isEnded = true }

    /// Records that audio was written without video, so the next audio begins a span.
    mutating func skipAudioOnly() { matcher.beginSpan(after: .framesLost) }

    /// Returns the first part, or as much of it as one init section describes, once its audio is known.
    /// - Parameter isLast: whether no more audio can belong to the queued video.
    mutating func next(_ track: AudioConfiguration?, isLast: Bool = false) -> MatchedPart? {
        while let first = entries.first {
            if !isLast, !canMatch(first) {
                if readCompanion() { continue }
                guard exceedsCompanionLookahead || isEnded && isMuxed else { return nil }
            }
            if let matched = match(first, track: track) { return matched }
        }
        return nil
    }

    mutating func dequeueLateAudio() -> [TimedAudio] { matcher.dequeueLateAudio(before: nil) }

    /// Returns the audio that goes on after the last part, for `longestSegment` at most, late audio first. Nothing follows:
    /// other audio is discarded.
    mutating func dequeueAudioTail() -> [TimedAudio] {
        let late = matcher.dequeueLateAudio(before: nil)
        companionQueue.discardAll()
        return late + matcher.dequeueTail(upTo: longestSegment)
    }

    /// - Returns: nil if all of the part begins a period of another configuration.
    private mutating func match(_ first: Entry, track: AudioConfiguration?) -> MatchedPart? {
        var (part, span) = (first.part, first.span)
        StepCounter.add(part.units.count)
        waitingDuration = waitingDuration - part.playingDuration
        let late = span.beginsPeriod ? matcher.dequeueLateAudio(before: span) : []
        if part.signal == .audioConfiguration, let track { matcher.discardSpans(codedAs: track) }
        if let rest = split(&part, span, track) {
            ownCounts[.leadingPictures] += rest.leadingPictures
            entries.replaceFirst(with: (rest.part, rest.part.videoSpan))
            waitingDuration = waitingDuration + rest.part.playingDuration
            if part.units.isEmpty { return nil }
            span = part.videoSpan
        } else {
            _ = entries.popFirst()
        }
        defer { matcher.finish(span) }
        let configuration = matcher.configuration(for: span)
        guard span.beginsPeriod || configuration == track else {
            return MatchedPart(part: part, audio: [], configuration: configuration)
        }
        let audio = matcher.dequeueAudio(for: span)
        part.metadata += matcher.dequeueMetadata()
        return MatchedPart(part: part, lateAudio: late, audio: audio, configuration: configuration)
    }

    /// Splits off what begins a period because the audio's configuration changes.
    private mutating func split(
        _ part: inout PeriodPart, _ span: AudioVideoMatcher.VideoSpan, _ track: AudioConfiguration?
    ) -> (part: PeriodPart, leadingPictures: Int)? {
        if splits.mediaSequence != part.mediaSequence { splits = (part.mediaSequence, 0) }
        guard splits.count < Self.longestSplit,
            let change = matcher.configurationChange(in: span, from: track), let rest = part.split(at: change)
        else { return nil }
        splits.count += 1
        return rest
    }

    private mutating func readCompanion() -> Bool {
        guard let entry = companionQueue.popFirst() else { return false }
        matcher.append(entry)
        return true
    }

    private func canMatch(_ entry: Entry) -> Bool {
        guard isMuxed else { return matcher.canMatch(entry.span) }
        guard waitingDuration <= AudioVideoMatcher.longestInterleave else { return true }
        return !matcher.isLate(for: entry.span, due: audioDue(for: entry)) && !awaitsFirstAudio(entry)
    }

    /// Time up to which muxed audio must have been received. Audio missing then comes with the next segment and is
    /// written with it. A period needs audio at its start, and so does each segment of a part that has to be cut.
    private func audioDue(for entry: Entry) -> Ticks {
        let span = entry.span
        let half = Ticks((span.end - span.start).count / 2)
        let beginning = span.beginsPeriod ? min(half, Ticks.longestFrame) : .zero
        let earliestCut = entry.part.playingDuration > longestSegment ? span.end - Self.shortestPart : span.start
        return max(span.start + beginning, earliestCut)
    }

    /// Whether the first audio of a period may come in a later segment. The queue waits while the program declares
    /// audio and no period follows, at most `longestInterleave`.
    private func awaitsFirstAudio(_ entry: Entry) -> Bool {
        guard announcesAudio, matcher.hasNoAudio(for: entry.span) else { return false }
        return entries.elements.dropFirst().allSatisfy { !$0.span.beginsPeriod }
    }

    /// Whether video has waited too long for a lagging companion and continues without it. Only then does the order of
    /// arrival matter.
    private var exceedsCompanionLookahead: Bool {
        waitingDuration > Ticks(longestSegment.count * Self.companionLookahead) && durationAfterFirst > patience
    }
}
