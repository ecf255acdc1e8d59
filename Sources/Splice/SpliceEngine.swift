/// Clear segments in, one continuous fMP4 out: demux, find the runs, find each run's sound, place it on the timeline, cut
/// and write. One value per channel; what it gives depends only on what it was handed, in which order.
package struct SpliceEngine: Sendable {
    private var main: RenditionSource
    private var companion: RenditionSource?
    private var alone = SoundAlone()
    private var repeated = RepeatedMedia()
    private var finder: RunFinder
    private var pictures: PictureQueue
    private var assembler: RunAssembler
    private let longestSegment: Ticks
    /// It is known whether the main rendition has pictures, for which a companion would be the sound.
    private var knowsMain = false
    private var isMainEnded = false
    private var hasPictures = false
    /// Timed metadata of segments without a picture.
    private var metadataDiscarded = 0
    /// What ended renditions still hold is of the segment that was taken last.
    private var lastSegment: SegmentInput?

    package init(_ configuration: Configuration) {
        let sound = SoundStage(configuration.audio, uniform: configuration.position.sound)
        let isDropped = configuration.audio == .drop
        let hasCompanion = configuration.hasAudioRendition && !isDropped
        main = RenditionSource(tracks: hasCompanion || isDropped ? .video : .both, sound: sound)
        companion = hasCompanion ? RenditionSource(tracks: .audio, sound: sound) : nil
        longestSegment = configuration.longestSegment
        finder = RunFinder(longestGap: longestSegment - VideoClock.longestFrame)
        pictures = PictureQueue(isMuxed: !hasCompanion, longestSegment: longestSegment)
        assembler = RunAssembler(configuration)
        if let published = configuration.published { repeated.resume(after: published) }
    }

    /// The main rendition ended and all of it was given; sound that is still to come has no picture.
    package var isFinished: Bool { isMainEnded && pictures.isEmpty }

    /// Pictures wait for their sound, or for what comes next.
    package var isHolding: Bool { !pictures.isEmpty || finder.isHolding || assembler.isHolding }

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
        counts.holes = finder.holes.count + alone.holes.count
        counts.ticksInHoles = Int((finder.holes.missing + alone.holes.missing).count)
        counts.audioDiscarded = pictures.discarded
        counts.audioDamaged = pictures.merger.damaged + alone.damaged
        counts.audioUntimed = pictures.merger.untimed
        counts.stillPictures = alone.stillPictures
        counts.metadataDiscarded += metadataDiscarded + alone.metadataDiscarded + pictures.metadataDiscarded
        counts.picturesRepeated = repeated.pictures
        counts.audioRepeated = repeated.frames
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
        case .ended(.main): written = try endMain()
        case .ended(.audio): endCompanion()
        }
        written += writePictures()
        if isFinished {
            written += assembler.finish(with: pictures.takeLate())
            assembler.marks.finish()
        }
        return written
    }

    /// The output's time is somebody else's from now on: gives all that is held. What comes next lies behind a seam.
    package mutating func pause() throws(SpliceError) -> [SplicedSegment] {
        guard let lastSegment else { return [] }
        var written: [SplicedSegment] = []
        let left = main.pause()
        repeated.pause(with: left)
        for step in alone.end(left, of: lastSegment) { written += try perform(step, of: lastSegment) }
        pictures.append(finder.finish())
        return written + writePictures(isLast: true) + assembler.finish(with: pictures.takeLate())
    }

    /// The output's time is this engine's again, from `position` on: the next run begins there.
    /// - Parameters:
    ///   - datedUntil: where the dates of what others published end, milliseconds since 1970.
    ///   - published: by the engine that was left, or by this one before it was. What comes of it again is left out.
    package mutating func resume(at position: TimelinePosition, datedUntil: Int64?, after published: PublishedMedia?) {
        assembler.resume(at: position, datedUntil: datedUntil)
        if let published { repeated.resume(after: published) }
    }

    /// What was taken lately.
    package var published: PublishedMedia { repeated.published }

    /// The main segment taken last begins with what was published before: so was what its playlist says of it.
    package var beganBefore: Bool { repeated.beganBefore }

    private mutating func takeMain(_ segment: SegmentInput) throws(SpliceError) -> [SplicedSegment] {
        if companion != nil, !knowsMain { look(at: segment) }
        var demuxed = try main.demux(segment)
        if !demuxed.packets.video.isEmpty { hasPictures = true }
        repeated.leaveOut(of: &demuxed)
        lastSegment = segment
        var written: [SplicedSegment] = []
        for step in steps(demuxed, of: segment) { written += try perform(step, of: segment) }
        return written
    }

    /// A main rendition that begins without a picture is a channel of sound alone, and its own sound is the one: a
    /// companion is sound for pictures.
    private mutating func look(at segment: SegmentInput) {
        var both = RenditionSource(tracks: .both, sound: SoundStage(.copy))
        do throws(SpliceError) {
            let isSoundAlone = try both.demux(segment).packets.isSoundAlone
            knowsMain = true
            guard isSoundAlone else { return }
        } catch {
            return  // The demuxer that is asked next says why.
        }
        main = RenditionSource(tracks: .both, sound: main.sound)
        companion = nil
        pictures = PictureQueue(isMuxed: true, longestSegment: longestSegment)
    }

    /// Beside a companion, a main segment without a picture is not one of sound alone.
    private mutating func steps(_ demuxed: RenditionSource.Demuxed, of segment: SegmentInput) -> [SoundAlone.Step] {
        guard companion != nil else { return alone.handle(demuxed, of: segment) }
        return [.left(demuxed.left), .pictures(demuxed.packets, border: demuxed.border, isBack: false)]
    }

    private mutating func endMain() throws(SpliceError) -> [SplicedSegment] {
        let left = main.finish()
        isMainEnded = true
        pictures.endPictures()
        guard let lastSegment else { return [] }
        var written: [SplicedSegment] = []
        for step in alone.end(left, of: lastSegment) { written += try perform(step, of: lastSegment) }
        pictures.append(finder.finish())
        return written
    }

    private mutating func perform(
        _ step: SoundAlone.Step, of segment: SegmentInput
    ) throws(SpliceError) -> [SplicedSegment] {
        switch step {
        case .left(let left):
            pictures.appendLeft(left.audio)
            pictures.append(finder.pieces(of: left.video, from: segment, border: .none))
        case .pictures(let packets, let border, let isBack):
            try takePictures(packets, border: border, isBack: isBack, of: segment)
        case .sound(let pieces):
            pictures.append(finder.finish())
            return writeSound(pieces)
        }
        return []
    }

    private mutating func takePictures(
        _ packets: DemuxedSegment, border: ProgramSwitchDetector.Border, isBack: Bool, of segment: SegmentInput
    ) throws(SpliceError) {
        pictures.appendMuxed(packets, border: border, discontinuitySequence: segment.discontinuitySequence)
        var pieces = finder.pieces(of: packets.video, from: segment, border: isBack ? .seam : border)
        metadataDiscarded += pieces.add(packets.metadata)
        if companion == nil, packets.promisesNoSound {
            for index in pieces.indices where pieces[index].mediaSequence == segment.mediaSequence {
                pieces[index].hasNoSound = true
            }
        }
        pictures.append(pieces)
        // Pictures in front of the first parameter sets are pictures, too.
        guard hasPictures || packets.counts.undecodable > 0 else {
            throw SpliceError(.noPicture, section: "RFC 8216 §3")
        }
    }

    private mutating func takeCompanion(_ segment: SegmentInput) throws(SpliceError) {
        guard let demuxed = try companion?.demux(segment) else { return }
        pictures.append(companion: .segment(demuxed, discontinuitySequence: segment.discontinuitySequence))
    }

    private mutating func endCompanion() {
        guard let left = companion?.finish() else { return }
        pictures.append(companion: .ended(left.audio))
    }

    /// - Parameter isLast: what waits is not to be joined by any more sound.
    private mutating func writePictures(isLast: Bool = false) -> [SplicedSegment] {
        var written: [SplicedSegment] = []
        while let sounded = pictures.next(assembler.audioConfiguration, isLast: isLast) {
            written += assembler.append(sounded)
        }
        return written
    }

    private mutating func writeSound(_ pieces: [SoundPiece]) -> [SplicedSegment] {
        var written = writePictures(isLast: true)
        for piece in pieces { written += assembler.append(piece, late: pictures.takeLate()) }
        pictures.passSound()
        return written
    }
}
