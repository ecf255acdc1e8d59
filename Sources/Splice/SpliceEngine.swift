package import Demux
package import Media
import Mux
import Transcode

/// Clear segments in, one continuous fMP4 out: demux, find the runs, find each run's sound, place it on the timeline, cut
/// and write. One value per channel; what it gives depends only on what it was handed, in which order.
package struct SpliceEngine: Sendable {
    private var main: RenditionDemuxer
    private var companion: RenditionDemuxer?
    private var audioOnly = AudioOnlySegments()
    private var duplicateFilter = DuplicateFilter()
    private var splitter: PeriodSplitter
    private var videoQueue: VideoSpanQueue
    private var assembler: PeriodAssembler
    private let longestSegment: Ticks
    /// It is known whether the main rendition has pictures, for which a companion would be the sound.
    private var hasProbedMain = false
    private var isMainEnded = false
    private var hasVideo = false
    /// Timed metadata of segments without a picture.
    private var metadataDiscarded = 0
    /// What ended renditions still hold is of the segment that was taken last.
    private var lastSegment: SegmentInput?

    package init(_ configuration: Configuration) {
        let sound = AudioTranscodeStage(configuration.audio, uniform: configuration.position.audio)
        let isDropped = configuration.audio == .drop
        let hasCompanion = configuration.hasAudioRendition && !isDropped
        main = RenditionDemuxer(tracks: hasCompanion || isDropped ? .video : .both, sound: sound)
        companion = hasCompanion ? RenditionDemuxer(tracks: .audio, sound: sound) : nil
        longestSegment = configuration.maxSegmentDuration
        splitter = PeriodSplitter(longestGap: longestSegment - VideoTimestampUnwrapper.longestFrame)
        videoQueue = VideoSpanQueue(isMuxed: !hasCompanion, longestSegment: longestSegment)
        assembler = PeriodAssembler(configuration)
        if let published = configuration.published { duplicateFilter.resume(after: published) }
    }

    /// The main rendition ended and all of it was given; sound that is still to come has no picture.
    package var isFinished: Bool { isMainEnded && videoQueue.isEmpty }

    /// Pictures wait for their sound, or for what comes next.
    package var isHolding: Bool { !videoQueue.isEmpty || splitter.isHolding || assembler.isHolding }

    /// Why a run was left out, the last time that happened.
    package var refusal: MediaError? { assembler.lastRefusal }

    /// Why the libraries that encode sound again refused, the last time they did; what they refused is silence.
    package var audioRefusal: MediaError? { (companion ?? main).audioStage.lastError }

    /// The programme of a transport stream that a rendition is taken from; nil before the first, and for other
    /// containers.
    package func program(of rendition: InputRendition) -> ProgramSelection? {
        rendition == .main ? main.programme : companion?.programme
    }

    /// Everything that was left out or put in so far.
    package var counts: SpliceCounts {
        var counts = assembler.counts
        counts.framesBeforeSync = splitter.framesBeforeSync
        counts.leadingPictures = splitter.leadingPictures
        counts.inferredTimestamps = splitter.timestampsFilled
        counts.timestampGaps = splitter.gaps.count + audioOnly.gaps.count
        counts.timestampGapTicks = Int((splitter.gaps.missing + audioOnly.gaps.missing).count)
        counts.audioDiscarded = videoQueue.discarded
        counts.audioDamaged = videoQueue.matcher.damaged + audioOnly.damaged
        counts.audioUntimed = videoQueue.matcher.untimed
        counts.stillFrames = audioOnly.stillFrames
        counts.metadataDiscarded += metadataDiscarded + audioOnly.metadataDiscarded + videoQueue.metadataDiscarded
        counts.duplicateFrames = duplicateFilter.videoFrames
        counts.duplicateAudioFrames = duplicateFilter.audioFrames
        counts.demux = main.counts
        let sound = (companion ?? main).audioStage.counts
        counts.audioTranscoded = sound.transcoded
        counts.audioUndecodable = sound.undecodable
        if let companion { counts.demux += companion.counts }
        return counts
    }

    /// - Throws: when a segment cannot be taken apart; the channel goes on behind a seam with the next one.
    package mutating func handle(_ input: SpliceInput) throws(MediaError) -> [SplicedSegment] {
        var written: [SplicedSegment] = []
        switch input {
        case .segment(let segment) where segment.rendition == .main: written = try appendMain(segment)
        case .segment(let segment): try appendCompanion(segment)
        case .lost(.main): main.breakContinuity()
        case .lost(.audio): companion?.breakContinuity()
        case .ended(.main): written = try endMain()
        case .ended(.audio): endCompanion()
        }
        written += writeVideo()
        if isFinished {
            written += assembler.finish(with: videoQueue.dequeueLateAudio())
            assembler.markers.finish()
        }
        return written
    }

    /// The output's time is somebody else's from now on: gives all that is held. What comes next lies behind a seam.
    package mutating func pause() throws(MediaError) -> [SplicedSegment] {
        guard let lastSegment else { return [] }
        var written: [SplicedSegment] = []
        let left = main.pause()
        duplicateFilter.appendLeftover(left)
        for step in audioOnly.end(left, of: lastSegment) { written += try perform(step, of: lastSegment) }
        videoQueue.append(splitter.finish())
        return written + writeVideo(isLast: true) + assembler.finish(with: videoQueue.dequeueLateAudio())
    }

    /// The output's time is this engine's again, from `position` on: the next run begins there.
    /// - Parameters:
    ///   - datedUntil: where the dates of what others published end, milliseconds since 1970.
    ///   - published: by the engine that was left, or by this one before it was. What comes of it again is left out.
    package mutating func resume(at position: TimelinePosition, datedUntil: Int64?, after published: PublishedMedia?) {
        assembler.resume(at: position, datedUntil: datedUntil)
        if let published { duplicateFilter.resume(after: published) }
    }

    /// What was taken lately.
    package var published: PublishedMedia { duplicateFilter.published }

    /// The main segment taken last begins with what was published before: so was what its playlist says of it.
    package var beganBefore: Bool { duplicateFilter.beginsWithDuplicates }

    private mutating func appendMain(_ segment: SegmentInput) throws(MediaError) -> [SplicedSegment] {
        if companion != nil, !hasProbedMain { probeMain(segment) }
        var demuxed = try main.demux(segment)
        if !demuxed.packets.video.isEmpty { hasVideo = true }
        duplicateFilter.removeDuplicates(from: &demuxed)
        lastSegment = segment
        var written: [SplicedSegment] = []
        for step in route(demuxed, of: segment) { written += try perform(step, of: segment) }
        return written
    }

    /// A main rendition that begins without a picture is a channel of sound alone, and its own sound is the one: a
    /// companion is sound for pictures.
    private mutating func probeMain(_ segment: SegmentInput) {
        var both = RenditionDemuxer(tracks: .both, sound: AudioTranscodeStage(.copy))
        do throws(MediaError) {
            let isSoundAlone = try both.demux(segment).packets.isAudioOnly
            hasProbedMain = true
            guard isSoundAlone else { return }
        } catch {
            return  // The demuxer that is asked next says why.
        }
        main = RenditionDemuxer(tracks: .both, sound: main.audioStage)
        companion = nil
        videoQueue = VideoSpanQueue(isMuxed: true, longestSegment: longestSegment)
    }

    /// Beside a companion, a main segment without a picture is not one of sound alone.
    private mutating func route(_ demuxed: RenditionDemuxer.Demuxed, of segment: SegmentInput) -> [AudioOnlySegments
        .Step]
    {
        guard companion != nil else { return audioOnly.handle(demuxed, of: segment) }
        return [.leftover(demuxed.flushed), .video(demuxed.packets, border: demuxed.boundary, isBack: false)]
    }

    private mutating func endMain() throws(MediaError) -> [SplicedSegment] {
        let left = main.finish()
        isMainEnded = true
        videoQueue.endVideo()
        guard let lastSegment else { return [] }
        var written: [SplicedSegment] = []
        for step in audioOnly.end(left, of: lastSegment) { written += try perform(step, of: lastSegment) }
        videoQueue.append(splitter.finish())
        return written
    }

    private mutating func perform(
        _ step: AudioOnlySegments.Step, of segment: SegmentInput
    ) throws(MediaError) -> [SplicedSegment] {
        switch step {
        case .leftover(let left):
            videoQueue.appendLeftover(left.audio)
            videoQueue.append(splitter.split(left.video, from: segment, boundary: .none))
        case .video(let packets, let border, let isBack):
            try appendVideo(packets, boundary: border, beginsPeriod: isBack, of: segment)
        case .audioOnly(let pieces):
            videoQueue.append(splitter.finish())
            return writeAudioOnly(pieces)
        }
        return []
    }

    private mutating func appendVideo(
        _ packets: DemuxedSegment, boundary: DiscontinuityDetector.Boundary, beginsPeriod: Bool,
        of segment: SegmentInput
    ) throws(MediaError) {
        videoQueue.appendMuxedAudio(packets, boundary: boundary, discontinuitySequence: segment.discontinuitySequence)
        var pieces = splitter.split(packets.video, from: segment, boundary: beginsPeriod ? .loss : boundary)
        metadataDiscarded += pieces.attach(packets.metadata)
        if companion == nil, packets.declaresNoAudio {
            for index in pieces.indices where pieces[index].mediaSequence == segment.mediaSequence {
                pieces[index].hasNoSound = true
            }
        }
        videoQueue.append(pieces)
        // Pictures in front of the first parameter sets are pictures, too.
        guard hasVideo || packets.counts.undecodable > 0 else {
            throw MediaError(.noVideo, section: "RFC 8216 §3")
        }
    }

    private mutating func appendCompanion(_ segment: SegmentInput) throws(MediaError) {
        guard let demuxed = try companion?.demux(segment) else { return }
        videoQueue.append(companion: .segment(demuxed, discontinuitySequence: segment.discontinuitySequence))
    }

    private mutating func endCompanion() {
        guard let left = companion?.finish() else { return }
        videoQueue.append(companion: .ended(left.audio))
    }

    /// - Parameter isLast: what waits is not to be joined by any more sound.
    private mutating func writeVideo(isLast: Bool = false) -> [SplicedSegment] {
        var written: [SplicedSegment] = []
        while let sounded = videoQueue.next(assembler.audioConfiguration, isLast: isLast) {
            written += assembler.append(sounded)
        }
        return written
    }

    private mutating func writeAudioOnly(_ pieces: [AudioPeriodPart]) -> [SplicedSegment] {
        var written = writeVideo(isLast: true)
        for piece in pieces { written += assembler.append(piece, late: videoQueue.dequeueLateAudio()) }
        videoQueue.skipAudioOnly()
        return written
    }
}
