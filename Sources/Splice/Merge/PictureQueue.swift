/// Pictures in order, each waiting until it is known what its sound is.
///
/// Muxed sound comes with the picture and is waited for where it is sent after it; a companion rendition is read segment
/// by segment, only when a picture asks for sound that was not read.
struct PictureQueue: Sendable {
    /// A piece of picture with its sound.
    struct Sounded: Equatable, Sendable {
        let piece: RunPiece
        /// Of the run before, where one begins here: what came too late for it.
        var late: [TimedAudio] = []
        let sound: [TimedAudio]
        /// Of the sound; nil when there is none of its own.
        let configuration: AudioConfiguration?
    }

    private struct Entry: Equatable, Sendable {
        let piece: RunPiece
        let window: RenditionMerger.Window

        init(_ piece: RunPiece) {
            self.piece = piece
            window = piece.window
        }
    }

    /// Longest segments of picture that are held for a companion that lags.
    private static let lookAhead: Int64 = 4
    /// A part into which a piece is cut is hardly shorter.
    private static let shortestPart = Ticks.milliseconds(200)

    private(set) var merger: RenditionMerger
    private var inbox = CompanionInbox()
    private var entries: [Entry] = []
    private let isMuxed: Bool
    private let longestSegment: Ticks
    /// The newest segment of pictures lists a track of sound in it.
    private var announcesSound = false
    private var isEnded = false

    /// - Parameter isMuxed: the sound comes with the pictures.
    init(isMuxed: Bool, longestSegment: Ticks) {
        self.isMuxed = isMuxed
        self.longestSegment = longestSegment
        merger = RenditionMerger(isMuxed: isMuxed)
    }

    var isEmpty: Bool { entries.isEmpty }

    /// Frames that fitted no picture.
    var discarded: Int { merger.discarded + inbox.discarded }

    /// What stood beside companions, and fitted no picture.
    var metadataDiscarded: Int { merger.metadataDiscarded + inbox.metadataDiscarded }

    mutating func append(_ pieces: [RunPiece]) { entries += pieces.map(Entry.init) }

    /// The sound of one segment of pictures.
    mutating func appendMuxed(
        _ segment: DemuxedSegment, border: ProgramSwitchDetector.Border, discontinuitySequence: UInt64
    ) {
        announcesSound = segment.announcesAudio
        guard isMuxed else { return }
        append(segment.audio, border: border, discontinuitySequence: discontinuitySequence)
    }

    /// Sound that segments of pictures had left open.
    mutating func appendLeft(_ sound: [AudioPacket]) {
        if isMuxed { merger.append(sound, discontinuitySequence: nil) }
    }

    mutating func append(companion entry: CompanionInbox.Entry) { inbox.append(entry) }

    /// No picture follows.
    mutating func endPictures() { isEnded = true }

    /// Sound was written without a picture: what comes next begins anew.
    mutating func passSound() { merger.breakClock(.loss) }

    /// The first piece, or as much of it as one init section describes, once its sound is known.
    /// - Parameters:
    ///   - track: what the sound of the current run is written as.
    ///   - isLast: no sound that could belong to a picture follows.
    mutating func next(_ track: AudioConfiguration?, isLast: Bool = false) -> Sounded? {
        while let first = entries.first {
            if !isLast, !isDecided(first) {
                if readCompanion() { continue }
                guard waitsTooLong || isEnded && isMuxed else { return nil }
            }
            if let sounded = take(first, track) { return sounded }
        }
        return nil
    }

    /// What came too late for the last piece; to be asked for when none follows.
    mutating func takeLate() -> [TimedAudio] { merger.takeLate(before: nil) }

    /// - Returns: nil when all of it begins a run of another configuration.
    private mutating func take(_ first: Entry, _ track: AudioConfiguration?) -> Sounded? {
        var (piece, window) = (first.piece, first.window)
        entries.removeFirst()
        let late = window.beginsRun ? merger.takeLate(before: window) : []
        if piece.signal == .audioConfiguration, let track { merger.abandon(track) }
        if let change = merger.change(in: window, from: track), let rest = piece.split(at: change) {
            entries.insert(Entry(rest), at: 0)
            if piece.units.isEmpty { return nil }
            window = piece.window
        }
        defer { merger.pass(window) }
        let configuration = merger.configuration(for: window)
        guard window.beginsRun || configuration == track else {
            return Sounded(piece: piece, sound: [], configuration: configuration)
        }
        let sound = merger.take(window)
        piece.metadata += merger.takeMetadata()
        return Sounded(piece: piece, late: late, sound: sound, configuration: configuration)
    }

    /// - Parameter metadata: beside the sound; what stands beside muxed sound goes with its picture.
    private mutating func append(
        _ sound: [AudioPacket], border: ProgramSwitchDetector.Border, discontinuitySequence: UInt64,
        metadata: [TimedMetadata] = []
    ) {
        if border != .plain { merger.breakClock(border == .seam ? .loss : .announced) }
        merger.append(sound, discontinuitySequence: discontinuitySequence, metadata: metadata)
    }

    /// - Returns: whether anything was there to be read.
    private mutating func readCompanion() -> Bool {
        switch inbox.next() {
        case .segment(let demuxed, let number)?:
            merger.append(demuxed.left.audio, discontinuitySequence: nil)
            append(
                demuxed.packets.audio, border: demuxed.border, discontinuitySequence: number,
                metadata: demuxed.packets.metadata)
        case .ended(let left)?:
            merger.append(left, discontinuitySequence: nil)
            merger.end()
        case nil: return false
        }
        return true
    }

    private func isDecided(_ entry: Entry) -> Bool {
        guard isMuxed else { return merger.covers(entry.window) }
        guard waitingTime <= RenditionMerger.longestInterleave else { return true }
        return !merger.isLate(for: entry.window, due: soundDue(for: entry)) && !awaitsFirstSound(entry)
    }

    /// Up to where muxed sound must have come; what lacks then comes with the next segment, and is written with it. A
    /// run begins with sound, and so does each part of a piece that has to be cut.
    private func soundDue(for entry: Entry) -> Ticks {
        let window = entry.window
        let half = Ticks((window.end - window.start).count / 2)
        let beginning = window.beginsRun ? min(half, VideoClock.longestFrame) : .zero
        let parts = entry.piece.playingTime > longestSegment ? window.end - Self.shortestPart : window.start
        return max(window.start + beginning, parts)
    }

    /// The sound that a run begins with may come in a later segment than its picture. It is waited for while its
    /// programme lists it and nothing follows the run, but no longer than muxed sound comes late.
    private func awaitsFirstSound(_ entry: Entry) -> Bool {
        guard announcesSound, merger.hasNothing(for: entry.window) else { return false }
        return entries.dropFirst().allSatisfy { !$0.window.beginsRun }
    }

    /// A companion that lags is waited for, but not for ever: its picture goes on without it. Only then does it matter
    /// when something came.
    private var waitsTooLong: Bool { waitingTime > Ticks(longestSegment.count * Self.lookAhead) }

    private var waitingTime: Ticks { entries.reduce(.zero) { $0 + $1.piece.playingTime } }
}
