import Demux
import Media
import Mux
import Transcode

/// Pictures in order, each waiting until it is known what its sound is.
///
/// Muxed sound comes with the picture and is waited for where it is sent after it; a companion rendition is read segment
/// by segment, only when a picture asks for sound that was not read.
struct VideoSpanQueue: Sendable {
    /// A piece of picture with its sound.
    struct MatchedPart: Equatable, Sendable {
        let part: PeriodPart
        /// Of the run before, where one begins here: what came too late for it.
        var lateAudio: [TimedAudio] = []
        let audio: [TimedAudio]
        /// Of the sound; nil when there is none of its own.
        let configuration: AudioConfiguration?
    }

    private struct Entry: Equatable, Sendable {
        let part: PeriodPart
        let window: AudioVideoMatcher.VideoSpan

        init(_ piece: PeriodPart) {
            self.part = piece
            window = piece.videoSpan
        }
    }

    /// Longest segments of picture that are held for a companion that lags.
    private static let companionLookahead: Int64 = 4
    /// A part into which a piece is cut is hardly shorter.
    private static let shortestPart = Ticks.milliseconds(200)

    private(set) var matcher: AudioVideoMatcher
    private var companionQueue = CompanionQueue()
    private var entries: [Entry] = []
    private let isMuxed: Bool
    private let longestSegment: Ticks
    /// The newest segment of pictures lists a track of sound in it.
    private var announcesAudio = false
    private var isEnded = false

    /// - Parameter isMuxed: the sound comes with the pictures.
    init(isMuxed: Bool, longestSegment: Ticks) {
        self.isMuxed = isMuxed
        self.longestSegment = longestSegment
        matcher = AudioVideoMatcher(isMuxed: isMuxed)
    }

    var isEmpty: Bool { entries.isEmpty }

    /// Frames that fitted no picture.
    var discarded: Int { matcher.discarded + companionQueue.discarded }

    /// What stood beside companions, and fitted no picture.
    var metadataDiscarded: Int { matcher.metadataDiscarded + companionQueue.metadataDiscarded }

    mutating func append(_ pieces: [PeriodPart]) { entries += pieces.map(Entry.init) }

    /// The sound of one segment of pictures.
    mutating func appendMuxedAudio(
        _ segment: DemuxedSegment, boundary: DiscontinuityDetector.Boundary, discontinuitySequence: UInt64
    ) {
        announcesAudio = segment.declaresAudio
        guard isMuxed else { return }
        append(segment.audio, border: boundary, discontinuitySequence: discontinuitySequence)
    }

    /// Sound that segments of pictures had left open.
    mutating func appendLeftover(_ sound: [AudioPacket]) {
        if isMuxed { matcher.append(sound, discontinuitySequence: nil) }
    }

    mutating func append(companion entry: CompanionQueue.Entry) { companionQueue.append(entry) }

    /// No picture follows.
    mutating func endVideo() { isEnded = true }

    /// Sound was written without a picture: what comes next begins anew.
    mutating func skipAudioOnly() { matcher.beginSpan(after: .framesLost) }

    /// The first piece, or as much of it as one init section describes, once its sound is known.
    /// - Parameters:
    ///   - track: what the sound of the current run is written as.
    ///   - isLast: no sound that could belong to a picture follows.
    mutating func next(_ track: AudioConfiguration?, isLast: Bool = false) -> MatchedPart? {
        while let first = entries.first {
            if !isLast, !canMatch(first) {
                if readCompanion() { continue }
                guard exceedsCompanionLookahead || isEnded && isMuxed else { return nil }
            }
            if let sounded = match(first, track: track) { return sounded }
        }
        return nil
    }

    /// What came too late for the last piece; to be asked for when none follows.
    mutating func dequeueLateAudio() -> [TimedAudio] { matcher.dequeueLateAudio(before: nil) }

    /// - Returns: nil when all of it begins a run of another configuration.
    private mutating func match(_ first: Entry, track: AudioConfiguration?) -> MatchedPart? {
        var (piece, window) = (first.part, first.window)
        entries.removeFirst()
        let late = window.beginsRun ? matcher.dequeueLateAudio(before: window) : []
        if piece.signal == .audioConfiguration, let track { matcher.discardSpans(codedAs: track) }
        if let change = matcher.configurationChange(in: window, from: track), let rest = piece.split(at: change) {
            entries.insert(Entry(rest), at: 0)
            if piece.units.isEmpty { return nil }
            window = piece.videoSpan
        }
        defer { matcher.finish(window) }
        let configuration = matcher.configuration(for: window)
        guard window.beginsRun || configuration == track else {
            return MatchedPart(part: piece, audio: [], configuration: configuration)
        }
        let sound = matcher.dequeueAudio(for: window)
        piece.metadata += matcher.dequeueMetadata()
        return MatchedPart(part: piece, lateAudio: late, audio: sound, configuration: configuration)
    }

    /// - Parameter metadata: beside the sound; what stands beside muxed sound goes with its picture.
    private mutating func append(
        _ sound: [AudioPacket], border: DiscontinuityDetector.Boundary, discontinuitySequence: UInt64,
        metadata: [TimedMetadata] = []
    ) {
        if border != .plain { matcher.beginSpan(after: border == .loss ? .framesLost : .signaled) }
        matcher.append(sound, discontinuitySequence: discontinuitySequence, metadata: metadata)
    }

    /// - Returns: whether anything was there to be read.
    private mutating func readCompanion() -> Bool {
        switch companionQueue.popFirst() {
        case .segment(let demuxed, let number)?:
            matcher.append(demuxed.flushed.audio, discontinuitySequence: nil)
            append(
                demuxed.packets.audio, border: demuxed.boundary, discontinuitySequence: number,
                metadata: demuxed.packets.metadata)
        case .ended(let left)?:
            matcher.append(left, discontinuitySequence: nil)
            matcher.end()
        case nil: return false
        }
        return true
    }

    private func canMatch(_ entry: Entry) -> Bool {
        guard isMuxed else { return matcher.canMatch(entry.window) }
        guard waitingDuration <= AudioVideoMatcher.longestInterleave else { return true }
        return !matcher.isLate(for: entry.window, due: audioDue(for: entry)) && !awaitsFirstAudio(entry)
    }

    /// Up to where muxed sound must have come; what lacks then comes with the next segment, and is written with it. A
    /// run begins with sound, and so does each part of a piece that has to be cut.
    private func audioDue(for entry: Entry) -> Ticks {
        let window = entry.window
        let half = Ticks((window.end - window.start).count / 2)
        let beginning = window.beginsRun ? min(half, VideoTimestampUnwrapper.longestFrame) : .zero
        let parts = entry.part.playingDuration > longestSegment ? window.end - Self.shortestPart : window.start
        return max(window.start + beginning, parts)
    }

    /// The sound that a run begins with may come in a later segment than its picture. It is waited for while its
    /// programme lists it and nothing follows the run, but no longer than muxed sound comes late.
    private func awaitsFirstAudio(_ entry: Entry) -> Bool {
        guard announcesAudio, matcher.hasNoAudio(for: entry.window) else { return false }
        return entries.dropFirst().allSatisfy { !$0.window.beginsRun }
    }

    /// A companion that lags is waited for, but not for ever: its picture goes on without it. Only then does it matter
    /// when something came.
    private var exceedsCompanionLookahead: Bool {
        waitingDuration > Ticks(longestSegment.count * Self.companionLookahead)
    }

    private var waitingDuration: Ticks { entries.reduce(.zero) { $0 + $1.part.playingDuration } }
}
