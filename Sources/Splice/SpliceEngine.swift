package import Demux
package import Media
package import Support
import Transcode

/// Turns decrypted segments into one continuous fMP4 stream: demuxes, splits into periods, matches audio, places on the
/// timeline, cuts and writes.
///
/// One value serves one channel. Its output depends only on its input and the order of that.
package struct SpliceEngine: Sendable {
    private var main: RenditionDemuxer
    /// The companion audio rendition; nil if the main rendition carries the audio.
    private var companion: RenditionDemuxer?
    /// Whether a main segment has decided that the companion is needed.
    private var isCompanionNeeded = false
    /// The main segment demuxed last; frames held at the end of the rendition belong to it.
    private var lastSegment: SegmentInput?
    private var hasVideo = false
    private var isEnded = false
    private var lost = Ticks.zero
    private var audioOnly = AudioOnlySegments()
    private var duplicateFilter = DuplicateFilter()
    private var splitter: PeriodSplitter
    private var videoQueue: VideoSpanQueue
    private var assembler: PeriodAssembler
    private let longestSegment: Ticks
    private let patience: Ticks
    /// Whether video that could be written waits for a track beside the leading one.
    package private(set) var awaitsTrack = false
    private var heldSegments: HeldSegments
    private let heldAudioBytes: Int
    private let audioTracks: AudioTrackChoice
    private let leadingTrack: AudioTrackIdentity?
    /// Metadata of segments whose video the splitter holds.
    private var heldMetadata: [TimedMetadata] = []
    /// Whether a segment that would be published without video is refused.
    private let requiresVideo: Bool
    private var ownCounts = SpliceCounts()

    package init(_ configuration: SpliceConfiguration) {
        let audioStage = AudioTranscodeStage(configuration.audio, uniform: configuration.position.audio)
        let isDropped = configuration.audio == .drop
        let hasCompanion = configuration.hasAudioRendition && !isDropped
        audioTracks = configuration.audioTracks
        leadingTrack = configuration.leadingTrack
        main = RenditionDemuxer(
            tracks: hasCompanion || isDropped ? .video : .both, audio: audioTracks, audioStage: audioStage)
        companion = hasCompanion ? RenditionDemuxer(tracks: .audio, audioStage: audioStage) : nil
        longestSegment = configuration.longestSegment
        patience = configuration.patience
        requiresVideo = configuration.requiresVideo
        splitter = PeriodSplitter(
            longestGap: longestSegment - Ticks.longestFrame, longestSegment: longestSegment)
        heldSegments = HeldSegments(byteLimit: configuration.heldBytes)
        heldAudioBytes = configuration.heldAudioBytes
        videoQueue = VideoSpanQueue(
            isMuxed: !hasCompanion, longestSegment: longestSegment, patience: patience, byteLimit: heldAudioBytes)
        assembler = PeriodAssembler(configuration)
        if let published = configuration.published { duplicateFilter.published = published }
    }

    /// Whether the main rendition ended and all of it was returned; later audio has no video.
    package var isFinished: Bool { isEnded && videoQueue.isEmpty }

    /// Whether video waits for its audio or for what follows.
    package var isHolding: Bool { !videoQueue.isEmpty || splitter.isHolding || assembler.cutter.isHolding }

    /// Whether video is dropped because decoding cannot begin with any frame received since the last period ended.
    package var awaitsRandomAccess: Bool {
        splitter.awaitsRandomAccess || (!hasVideo && main.counts.demux[.undecodableUnits] > 0)
    }

    /// Why a period was rejected, the last time that happened.
    package var refusal: MediaError? { assembler.lastRejection }

    /// Why transcoding failed, the last time it did; silence replaces the audio concerned.
    package var audioRefusal: MediaError? { (companion ?? main).audioStage.lastError }

    package var warnings: [SpliceWarning] {
        let counts = counts
        var warnings: [SpliceWarning] = []
        if !main.unsupportedVideo.isEmpty { warnings.append(.unsupportedVideo(main.unsupportedVideo)) }
        if !main.unsupportedAudio.isEmpty { warnings.append(.unsupportedAudio(main.unsupportedAudio)) }
        if counts[.assumedRandomAccessPoints] > 0 { warnings.append(.noRandomAccessPoint) }
        if counts.demux[.foreignParameterSets] > 0 { warnings.append(.foreignParameterSets) }
        if counts[.videoTimeouts] > 0 { warnings.append(.videoTimedOut) }
        if counts[.earlyReleases] > 0 { warnings.append(.mediaReleased) }
        return warnings
    }

    /// Returns the selected program of a transport stream; nil before the first segment, and for other containers.
    package func program(of rendition: InputRendition) -> ProgramSelection? {
        rendition == .main ? main.program : companion?.program
    }

    package var counts: SpliceCounts {
        var sum = ownCounts
        sum += main.counts
        if let companion { sum += companion.counts }
        sum += (companion ?? main).audioCounts
        sum += duplicateFilter.counts
        sum += audioOnly.counts
        sum += splitter.counts
        sum += videoQueue.counts
        sum += assembler.counts
        return sum
    }

    /// - Throws: if a segment cannot be demuxed; the next segment then follows a loss. `MediaError.Reason.canceled` if the
    ///   task was canceled; the engine is then of no further use.
    package mutating func handle(_ input: SpliceInput) throws(MediaError) -> [SplicedSegment] {
        var written: [SplicedSegment] = []
        switch input {
        case .segment(let segment):
            switch segment.rendition {
            case .main: written = try appendMain(segment)
            case .audio: try appendCompanion(segment)
            case .furtherAudio(let index): try assembler.further.append(segment, of: index)
            case .furtherVideo(let index): try assembler.ladder.append(segment, of: index)
            }
        case .lost(.main, let duration):
            main.breakContinuity()
            lost += duration
        case .lost(.audio, _): companion?.breakContinuity()
        case .lost(.furtherAudio(let index), _): assembler.further.breakContinuity(of: index)
        case .lost(.furtherVideo(let index), _): assembler.ladder.breakContinuity(of: index)
        case .ended(.main): written = try endMain()
        case .ended(.audio): try endCompanion()
        case .ended(.furtherAudio(let index)): try assembler.further.end(index)
        case .ended(.furtherVideo(let index)): try assembler.ladder.end(index)
        }
        written += try writeVideo()
        written += try releaseExcess()
        if isFinished {
            written += assembler.finishChannel(with: videoQueue.dequeueAudioTail())
            assembler.markers.finish()
        }
        let streams = main.program?.privateData ?? []
        for index in written.indices {
            written[index].privateDataStreams = streams
            written[index].audioTrack = leadingTrack ?? main.audioTrack
        }
        return written
    }

    /// Hands the timeline over to another source and returns all held segments. The next segment follows a loss.
    package mutating func pause() throws(MediaError) -> [SplicedSegment] {
        guard let lastSegment else { return [] }
        var written: [SplicedSegment] = []
        main.breakContinuity()
        let remaining = try main.finish()
        duplicateFilter.published.append(remaining)  // it is published too
        try assembler.further.finish(remaining.furtherAudio)
        for step in audioOnly.end(remaining, of: lastSegment) { written += try perform(step, of: lastSegment) }
        videoQueue.append(splitter.finish())
        return try written + writeVideo(isLast: true) + assembler.finish(with: videoQueue.dequeueLateAudio())
    }

    /// Takes the timeline over again: the next period begins at `position`.
    /// - Parameters:
    ///   - datedUntil: end of the dates that other sources published, in milliseconds since 1970.
    ///   - published: media that other sources published; nil if no other source did.
    ///   - repeatable: how much of it the next segments may repeat, counted back from its end.
    package mutating func resume(
        at position: TimelinePosition, datedUntil: Int64?, after published: PublishedMedia?, repeatable: Ticks = .zero
    ) {
        assembler.resume(at: position, datedUntil: datedUntil)
        if let published { duplicateFilter.resume(after: published, repeatable: repeatable) }
    }

    /// Sets whether the channel's audio is AAC: audio in another codec is then transcoded from here on. The engine assumes
    /// that of the first audio until then.
    package mutating func setChannelAAC(_ isAAC: Bool) {
        main.audioStage.isChannelAAC = isAAC
        companion?.audioStage.isChannelAAC = isAAC
    }

    package var furtherAudioCounts: [(track: AudioTrackIdentity, counts: Counts<FurtherAudioCount>)] {
        assembler.further.counts
    }

    package var furtherVideoCounts: [(track: VideoTrackIdentity, counts: Counts<FurtherVideoCount>)] {
        assembler.ladder.counts
    }

    /// Removes and returns the video of earlier segments in tracks that began after them.
    package mutating func dequeueLateVideo() -> [LateVideo] { assembler.ladder.dequeueLate() }

    package var published: PublishedMedia { duplicateFilter.published }

    /// Whether the main segment handled last begins with media that was already published. Its metadata was published
    /// too.
    package var beginsWithDuplicates: Bool { duplicateFilter.beginsWithDuplicates }

    /// Writes the video held, if too many bytes of earlier segments stay in memory for it.
    private mutating func releaseExcess() throws(MediaError) -> [SplicedSegment] {
        let oldest =
            assembler.cutter.oldestHeldSegment ?? videoQueue.oldestHeldSegment ?? splitter.oldestHeldSegment
        guard heldSegments.exceedLimit(holdingFrom: oldest) else { return [] }
        ownCounts[.earlyReleases] += 1
        videoQueue.append(splitter.release())
        defer { heldSegments.removeAll() }
        return try writeVideo(isLast: true) + assembler.release()
    }

    /// Returns how many main segments are missing before `segment`, in all. Numbers that restart tell nothing.
    private func missingSegments(before segment: SegmentInput) -> UInt64 {
        guard let lastSegment else { return 0 }
        let isLater = segment.mediaSequence > lastSegment.mediaSequence
        return lastSegment.missingBefore &+ (isLater ? segment.mediaSequence - lastSegment.mediaSequence - 1 : 0)
    }

    private mutating func appendMain(_ input: SegmentInput) throws(MediaError) -> [SplicedSegment] {
        var segment = input
        segment.lostBefore = lost
        segment.missingBefore = missingSegments(before: segment)
        if segment.isVariantTrial { try refuseForeignVideo(of: segment) }
        if companion != nil, !isCompanionNeeded { decideLayout(by: segment) }
        var demuxed = try main.demux(segment)
        lastSegment = segment.withoutBytes
        hasVideo = hasVideo || !demuxed.packets.video.isEmpty
        heldSegments.append(segment)
        let followsDuplicates = duplicateFilter.removedAll
        duplicateFilter.removeDuplicates(
            from: &demuxed,
            of: UpstreamSegment(mediaSequence: segment.mediaSequence, date: segment.programDateTime),
            repeatable: segment.repeatable)
        if followsDuplicates, demuxed.boundary == .plain, demuxed.packets.video.first?.randomAccess != nil {
            assembler.cutter.recordAlignedStart()
        }
        try assembler.further.append(demuxed, discontinuitySequence: segment.discontinuitySequence)
        var written: [SplicedSegment] = []
        for step in route(demuxed, of: segment) {
            try MediaError.checkCancellation()
            if requiresVideo, case .audioOnly = step {
                throw MediaError(
                    .noUsableVideo(streams: main.program?.streamNames ?? main.unsupportedVideo), section: "RFC 8216 §3")
            }
            written += try perform(step, of: segment)
        }
        return written
    }

    /// Refuses a segment whose video cannot be republished, before it changes anything here.
    private mutating func refuseForeignVideo(of segment: SegmentInput) throws(MediaError) {
        var probe = RenditionDemuxer(tracks: .both, audioStage: AudioTranscodeStage(.copy))
        // The rendition's own demuxer reports what cannot be read.
        guard let demuxed = try? probe.demux(segment), demuxed.packets.video.isEmpty, !probe.foreignVideo.isEmpty else {
            return
        }
        main.breakContinuity()
        throw MediaError(.noUsableVideo(streams: probe.foreignVideo), section: "RFC 8216 §3")
    }

    /// Whether no segment of the main rendition was spliced.
    package var isUnused: Bool { lastSegment == nil }

    /// Decides the layout. A main rendition that begins without video is an audio-only channel with its own audio; a
    /// companion carries audio for video.
    ///
    /// The segment is demuxed once more for this. If it were demuxed only once, with its audio, the audio of a main
    /// rendition beside a companion would no longer count as `Counts<DemuxCount>.otherPackets`. A segment that cannot be
    /// demuxed decides nothing; the rendition's own demuxer reports the error.
    private mutating func decideLayout(by segment: SegmentInput) {
        var probe = RenditionDemuxer(tracks: .both, audioStage: AudioTranscodeStage(.copy))
        guard let demuxed = try? probe.demux(segment) else { return }
        guard demuxed.packets.isAudioOnly else {
            isCompanionNeeded = true
            return
        }
        assembler.further.removeRenditions()
        main = RenditionDemuxer(tracks: .both, audio: audioTracks, audioStage: main.audioStage)
        companion = nil
        videoQueue = VideoSpanQueue(
            isMuxed: true, longestSegment: longestSegment, patience: patience, byteLimit: heldAudioBytes)
    }

    /// Beside a companion, a main segment without video is not audio only.
    private mutating func route(
        _ demuxed: RenditionDemuxer.Demuxed, of segment: SegmentInput
    ) -> [AudioOnlySegments.Step] {
        guard companion != nil else {
            let standing = splitter.verdict(on: demuxed.packets.audio, of: segment, boundary: demuxed.boundary)
            return audioOnly.handle(demuxed, of: segment, standing: standing)
        }
        return [.leftover(demuxed.flushed), .video(demuxed.packets, boundary: demuxed.boundary, beginsPeriod: false)]
    }

    private mutating func endMain() throws(MediaError) -> [SplicedSegment] {
        let remaining = try main.finish()
        try assembler.further.finish(remaining.furtherAudio)
        isEnded = true
        videoQueue.endVideo()
        guard let lastSegment else { return [] }
        var written: [SplicedSegment] = []
        for step in audioOnly.end(remaining, of: lastSegment) { written += try perform(step, of: lastSegment) }
        videoQueue.append(splitter.finish())
        return written
    }

    private mutating func perform(
        _ step: AudioOnlySegments.Step, of segment: SegmentInput
    ) throws(MediaError) -> [SplicedSegment] {
        switch step {
        case .leftover(let remaining):
            videoQueue.appendLeftover(remaining.audio)
            videoQueue.append(splitter.split(remaining.video, from: segment, boundary: .none))
        case .video(let packets, let boundary, let beginsPeriod):
            try appendVideo(packets, boundary: boundary, beginsPeriod: beginsPeriod, of: segment)
        case .audioOnly(let parts):
            videoQueue.append(splitter.finish())
            return try writeAudioOnly(parts)
        }
        return []
    }

    private mutating func appendVideo(
        _ packets: DemuxedSegment, boundary: SegmentBoundary, beginsPeriod: Bool,
        of segment: SegmentInput
    ) throws(MediaError) {
        videoQueue.appendMuxedAudio(packets, boundary: boundary, discontinuitySequence: segment.discontinuitySequence)
        var parts = splitter.split(
            packets.video, from: segment, boundary: beginsPeriod ? .loss : boundary,
            audio: companion == nil ? packets.audio : [],
            hasNoAudio: companion == nil && packets.declaresNoAudio)
        heldMetadata += packets.metadata
        if !parts.isEmpty || !splitter.isUndecided {
            ownCounts[.discardedTimedMetadata] += parts.attach(heldMetadata)
            heldMetadata = []
        }
        videoQueue.append(parts)
        // Frames before the first parameter sets count as video too.
        guard hasVideo || packets.counts[.undecodableUnits] > 0 else {
            throw MediaError(.noVideo, section: "RFC 8216 §3")
        }
    }

    private mutating func appendCompanion(_ segment: SegmentInput) throws(MediaError) {
        guard let demuxed = try companion?.demux(segment) else { return }
        videoQueue.append(companion: .segment(demuxed, discontinuitySequence: segment.discontinuitySequence))
    }

    private mutating func endCompanion() throws(MediaError) {
        guard let remaining = try companion?.finish() else { return }
        videoQueue.append(companion: .ended(remaining.audio))
    }

    /// - Parameter isLast: whether no more audio can belong to the queued video.
    private mutating func writeVideo(isLast: Bool = false) throws(MediaError) -> [SplicedSegment] {
        var written: [SplicedSegment] = []
        while true {
            awaitsTrack = !isLast && firstPartAwaitsTrack()
            guard !awaitsTrack, let matched = videoQueue.next(assembler.audio.configuration, isLast: isLast) else {
                return written
            }
            try MediaError.checkCancellation()
            written += assembler.append(matched)
        }
    }

    /// Whether the first part waits for an audio rendition beside the companion, until as much video has come after it as its
    /// publication may fall behind; or for another variant.
    private mutating func firstPartAwaitsTrack() -> Bool {
        guard let span = videoQueue.firstSpan else { return false }
        if videoQueue.durationAfterFirst <= patience, assembler.further.awaitsAudio(for: span) { return true }
        // A variant is awaited until the segment after the part has come. Several come at once at the beginning.
        let segments: Int64 = assembler.position.isInitial ? 4 : 2
        return videoQueue.waitingDuration <= Ticks(longestSegment.count * segments)
            && assembler.ladder.awaitsVideo(of: span)
    }

    private mutating func writeAudioOnly(_ parts: [AudioPeriodPart]) throws(MediaError) -> [SplicedSegment] {
        var written = try writeVideo(isLast: true)
        for part in parts { written += assembler.append(part, late: videoQueue.dequeueLateAudio()) }
        videoQueue.skipAudioOnly()
        return written
    }
}
