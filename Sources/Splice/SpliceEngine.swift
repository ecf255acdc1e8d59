/// Clear segments in, one continuous fMP4 out: demux, find the runs, find each run's sound, place it on the timeline, cut
/// and write. One value per channel; what it gives depends only on what it was handed, in which order.
package struct SpliceEngine: Sendable {
    package struct Configuration: Sendable {
        /// The sound is in a rendition of its own: what the main rendition carries is ignored.
        package var hasAudioRendition: Bool
        /// What becomes of the sound.
        package var audio: AudioPolicy
        /// Silence stands where the source has no sound.
        package var fillsSilence: Bool
        /// No segment is longer if a sync sample permits it.
        package var longestSegment: Ticks
        /// Where an earlier process of this channel stopped.
        package var position: TimelinePosition
        /// Wall time of the first picture, milliseconds since 1970, for an upstream without PROGRAM-DATE-TIME.
        package var wallClock: Int64
        /// Where the dates of what an earlier process published end, milliseconds since 1970: none goes back before it.
        package var datedUntil: Int64?

        package init(
            hasAudioRendition: Bool, audio: AudioPolicy = .copy, fillsSilence: Bool = true, longestSegment: Ticks,
            position: TimelinePosition = .beginning, wallClock: Int64, datedUntil: Int64? = nil
        ) {
            self.audio = audio
            self.fillsSilence = fillsSilence
            self.datedUntil = datedUntil
            self.hasAudioRendition = hasAudioRendition
            self.longestSegment = longestSegment
            self.position = position
            self.wallClock = wallClock
        }
    }

    private var main: RenditionSource
    private var companion: RenditionSource?
    private var finder = RunFinder()
    private var merger: RenditionMerger
    private var inbox = CompanionInbox()
    /// Pieces whose sound has not all arrived.
    private var waiting: [RunPiece] = []
    private var assembler: RunAssembler
    private var isMainEnded = false
    private var hasPictures = false
    /// The main rendition's newest segment lists a track of sound.
    private var announcesSound = false
    /// How the main rendition's newest segment is published.
    private var content = Content.pictures
    private var soundFinder = SoundRunFinder()
    private var still = StillPicture()
    private var stillPictures = 0
    /// Timed metadata of segments without a picture, and of companions.
    private var metadataDiscarded = 0
    /// What ended renditions still hold is of the segment that was taken last.
    private var lastSegment: SegmentInput?
    private let longestSegment: Ticks

    private enum Content: Equatable, Sendable {
        case pictures
        /// Sound beside the last key frame: the channel has pictures, and its upstream sends none.
        case still
        /// Sound alone.
        case sound
    }

    /// Longest segments of picture that are held for a companion that lags.
    private static let lookAhead: Int64 = 4

    package init(_ configuration: Configuration) {
        longestSegment = configuration.longestSegment
        let sound = SoundStage(configuration.audio, uniform: configuration.position.sound)
        let isDropped = configuration.audio == .drop
        let hasCompanion = configuration.hasAudioRendition && !isDropped
        main = RenditionSource(tracks: hasCompanion || isDropped ? .video : .both, sound: sound)
        companion = hasCompanion ? RenditionSource(tracks: .audio, sound: sound) : nil
        merger = RenditionMerger(isMuxed: !hasCompanion)
        assembler = RunAssembler(configuration)
    }

    /// The main rendition ended and all of it was given; sound that is still to come has no picture.
    package var isFinished: Bool { isMainEnded && waiting.isEmpty }

    /// Why a run was left out, the last time that happened.
    package var refusal: SpliceError? { assembler.refusal }

    /// Why the libraries that encode sound again refused, the last time they did; what they refused is silence.
    package var soundRefusal: SpliceError? { (companion ?? main).sound.refusal }

    /// The programme of a transport stream that a rendition is taken from; nil before the first, and for other
    /// containers.
    package func programme(of rendition: SourceRendition) -> ProgramSelection? {
        rendition == .main ? main.programme : companion?.programme
    }

    /// Everything that was left out or put in so far.
    package var counts: SpliceCounts {
        var counts = assembler.counts
        counts.picturesBeforeSync = finder.picturesBeforeSync
        counts.leadingPictures = finder.leadingPictures
        counts.timesFilled = finder.timesFilled
        counts.audioDiscarded = merger.discarded + inbox.discarded
        counts.audioDamaged = merger.damaged + soundFinder.damaged
        counts.audioUntimed = merger.untimed
        counts.stillPictures = stillPictures
        counts.metadataDiscarded += metadataDiscarded
        counts.demux = main.counts
        let sound = (companion ?? main).sound.counts
        counts.audioBridged = sound.bridged
        counts.audioUndecodable = sound.undecodable
        if let companion { counts.demux += companion.counts }
        return counts
    }

    /// - Throws: when a segment cannot be taken apart; the channel goes on behind a seam with the next one.
    package mutating func handle(_ input: SpliceInput) throws(SpliceError) -> [SplicedSegment] {
        var written: [SplicedSegment] = []
        switch input {
        case .segment(let segment) where segment.rendition == .main: written = try takeMain(segment)
        case .segment(let segment): try takeCompanion(segment)
        case .lost(.main): main.breakOff()
        case .lost(.audio): companion?.breakOff()
        case .ended(.main): written = endMain()
        case .ended(.audio): inbox.append(.ended(companion?.finish().audio ?? []))
        }
        written += writeReady()
        if isFinished { written += assembler.finish() }
        return written
    }

    private mutating func takeMain(_ segment: SegmentInput) throws(SpliceError) -> [SplicedSegment] {
        let demuxed = try main.demux(segment)
        lastSegment = segment
        guard isSoundAlone(demuxed.packets) else { return try takePictures(demuxed, of: segment) }
        guard still.isShowable else { return takeSound(demuxed, of: segment) }
        takeSoundWithStill(demuxed, of: segment)
        return []
    }

    /// Decided by what the programme tables or the init section say, so that nobody waits for a picture that does not
    /// come; and once there was sound alone, by the first picture, so that none that is only announced interrupts it.
    private func isSoundAlone(_ packets: DemuxedSegment) -> Bool {
        guard companion == nil, packets.video.isEmpty else { return false }
        return content != .pictures || (!packets.announcesVideo && !packets.audio.isEmpty)
    }

    private mutating func takePictures(
        _ demuxed: RenditionSource.Demuxed, of segment: SegmentInput
    ) throws(SpliceError) -> [SplicedSegment] {
        let written = content == .sound ? appendSound(demuxed.left.audio, of: segment, border: .none) : []
        let isBack = content != .pictures
        if content == .sound { merger.breakClock(.loss) }
        content = .pictures
        if !demuxed.packets.video.isEmpty { hasPictures = true }
        announcesSound = demuxed.packets.announcesAudio
        if companion == nil { queueSound(demuxed, discontinuitySequence: segment.discontinuitySequence) }
        waiting += finder.pieces(of: demuxed.left.video, from: segment, border: .none)
        var pieces = finder.pieces(of: demuxed.packets.video, from: segment, border: isBack ? .seam : demuxed.border)
        metadataDiscarded += pieces.add(demuxed.packets.metadata)
        if companion == nil, demuxed.packets.audio.isEmpty, demuxed.packets.programme != nil, !announcesSound {
            for index in pieces.indices { pieces[index].hasNoSound = true }
        }
        waiting += pieces
        still.note(demuxed.packets.video)
        // Pictures in front of the first parameter sets are pictures, too.
        guard hasPictures || demuxed.packets.counts.undecodable > 0 else {
            throw SpliceError(.noPicture, section: "RFC 8216 §3")
        }
        return written
    }

    private mutating func endMain() -> [SplicedSegment] {
        let left = main.finish()
        isMainEnded = true
        guard let lastSegment else { return [] }
        if content == .sound { return appendSound(left.audio, of: lastSegment, border: .none) }
        if companion == nil { merger.append(left.audio, discontinuitySequence: nil) }
        waiting += finder.pieces(of: left.video, from: lastSegment, border: .none)
        return []
    }

    /// A segment of sound alone on a channel that never had a picture, or has had none for long.
    private mutating func takeSound(
        _ demuxed: RenditionSource.Demuxed, of segment: SegmentInput
    ) -> [SplicedSegment] {
        if content == .sound {
            return appendSound(demuxed.left.audio, of: segment, border: .none)
                + appendSound(
                    demuxed.packets.audio, of: segment, border: demuxed.border, metadata: demuxed.packets.metadata)
        }
        merger.append(demuxed.left.audio, discontinuitySequence: segment.discontinuitySequence)
        waiting += finder.pieces(of: demuxed.left.video, from: segment, border: .none)
        var written: [SplicedSegment] = []
        while !waiting.isEmpty { written += write(waiting.removeFirst()) }
        content = .sound
        return written
            + appendSound(demuxed.packets.audio, of: segment, border: .seam, metadata: demuxed.packets.metadata)
    }

    private mutating func appendSound(
        _ packets: [AudioPacket], of segment: SegmentInput, border: ProgramSwitchDetector.Border,
        metadata: [TimedMetadata] = []
    ) -> [SplicedSegment] {
        var pieces = soundFinder.pieces(of: packets, from: segment, border: border)
        metadataDiscarded += pieces.add(metadata)
        var written: [SplicedSegment] = []
        for piece in pieces { written += assembler.append(piece) }
        return written
    }

    /// A segment of sound alone on a channel of pictures: the last key frame is shown with it.
    private mutating func takeSoundWithStill(_ demuxed: RenditionSource.Demuxed, of segment: SegmentInput) {
        waiting += finder.pieces(of: demuxed.left.video, from: segment, border: .none)
        var border = content == .still ? demuxed.border : .seam
        // The merger leaves damaged frames out, and counts them.
        let intact = demuxed.packets.audio.filter { !$0.isDamaged }
        let sound = soundFinder.pieces(of: intact, from: segment, border: demuxed.border)
        queueSound(demuxed, discontinuitySequence: segment.discontinuitySequence)
        var pieces: [RunPiece] = []
        for piece in sound {
            let pictures = still.pictures(beside: piece)
            stillPictures += pictures.count
            pieces += finder.pieces(of: pictures, from: segment, border: border)
            border = .none
        }
        metadataDiscarded += pieces.add(demuxed.packets.metadata)
        waiting += pieces
        content = .still
    }

    private mutating func takeCompanion(_ segment: SegmentInput) throws(SpliceError) {
        guard let demuxed = try companion?.demux(segment) else { return }
        metadataDiscarded += demuxed.packets.metadata.count
        inbox.append(.segment(demuxed, discontinuitySequence: segment.discontinuitySequence))
    }

    private mutating func queueSound(_ demuxed: RenditionSource.Demuxed, discontinuitySequence: UInt64) {
        merger.append(demuxed.left.audio, discontinuitySequence: discontinuitySequence)
        if demuxed.border != .plain { merger.breakClock(demuxed.border == .seam ? .loss : .announced) }
        merger.append(demuxed.packets.audio, discontinuitySequence: discontinuitySequence)
    }

    private mutating func writeReady() -> [SplicedSegment] {
        var written: [SplicedSegment] = []
        while let piece = waiting.first {
            if !hasSound(for: piece) {
                if readCompanion() { continue }
                guard waitsTooLong || isMainEnded && companion == nil else { break }
            }
            waiting.removeFirst()
            written += write(piece)
        }
        return written
    }

    private func hasSound(for piece: RunPiece) -> Bool {
        guard companion == nil else { return merger.covers(piece.window) }
        guard !piece.hasNoSound, waitingTime <= RenditionMerger.longestInterleave else { return true }
        return !merger.isLate(for: piece.window, due: soundDue(for: piece)) && !awaitsFirstSound(piece)
    }

    /// Up to where muxed sound must have come; what lacks then comes with the next segment, and is written with it. A
    /// run begins with sound, and so does each part of a piece that has to be cut.
    private func soundDue(for piece: RunPiece) -> Ticks {
        let window = piece.window
        let half = Ticks((window.end - window.start).count / 2)
        let beginning = piece.signal == nil ? Ticks.zero : min(half, VideoClock.longestFrame)
        let parts = piece.playingTime > longestSegment ? window.end - Self.shortestPart : window.start
        return max(window.start + beginning, parts)
    }

    /// The sound that a run begins with may come in a later segment than its picture. It is waited for while its
    /// programme lists it and nothing follows the run, but no longer than muxed sound comes late.
    private func awaitsFirstSound(_ piece: RunPiece) -> Bool {
        guard announcesSound, merger.hasNothing(for: piece.window) else { return false }
        return waiting.dropFirst().allSatisfy { $0.signal == nil }
    }

    /// A part into which a piece is cut is hardly shorter.
    private static let shortestPart = Ticks.milliseconds(200)

    private var waitingTime: Ticks { waiting.reduce(.zero) { $0 + $1.playingTime } }

    /// - Returns: whether anything was there to be read.
    private mutating func readCompanion() -> Bool {
        switch inbox.next() {
        case .segment(let demuxed, let number)?: queueSound(demuxed, discontinuitySequence: number)
        case .ended(let left)?:
            merger.append(left, discontinuitySequence: nil)
            merger.end()
        case nil: return false
        }
        return true
    }

    /// A companion that lags is waited for, but not for ever: its picture goes on without it. Only then does it matter
    /// when something came.
    private var waitsTooLong: Bool {
        waitingTime > Ticks(longestSegment.count * Self.lookAhead)
    }

    private mutating func write(_ piece: RunPiece) -> [SplicedSegment] {
        var piece = piece
        if piece.signal == .audioConfiguration, let old = assembler.audioConfiguration { merger.abandon(old) }
        if let change = changeOfSound(in: piece), let rest = piece.split(at: change) {
            waiting.insert(rest, at: 0)
            if piece.units.isEmpty { return [] }
        }
        let window = piece.window
        let found = piece.hasNoSound ? nil : merger.configuration(for: window)
        let isOfThisRun = piece.signal != nil || found == assembler.audioConfiguration
        let sound = isOfThisRun && !piece.hasNoSound ? merger.take(window) : []
        merger.pass(window)
        return assembler.append(piece, sound: sound, configuration: found)
    }

    /// Presentation time in `piece` at which sound begins that its run's init section does not describe.
    private func changeOfSound(in piece: RunPiece) -> Ticks? {
        if piece.hasNoSound { return nil }
        let window = piece.window
        if piece.signal == nil, let found = merger.configuration(for: window), found != assembler.audioConfiguration {
            return window.start
        }
        return merger.configurationChange(in: window)
    }
}
