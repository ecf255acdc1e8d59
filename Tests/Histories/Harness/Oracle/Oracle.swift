import PlaylistRules

/// What a perfect relay would have published of a history, by the promises of README.md, docs/timeline.md and
/// docs/failover.md.
///
/// It knows what was broadcast, what the origin answered, and what was published; it knows nothing of how liverelay works.
struct Oracle {
    let broadcast: Broadcast
    let log: OriginLog
    let record: PublicationRecord
    let limits: Limits
    /// Broadcast frames in order of presentation. A place is an index of it.
    var source: [SourceFrame] = []
    /// The places of each segment's frames.
    var places: [Range<Int>] = []
    /// The format of each content.
    var formats: [Int: MediaFormat] = [:]
    /// When each broadcast segment came whole; empty: never.
    var arrivals: [[Int]] = []
    /// As `arrivals`, without those from the backup.
    var ownArrivals: [[Int]] = []
    /// What came of a stream; nil: the upstream has playlists.
    var reception: StreamReception?
    /// When the frame at each place came first; nil: never.
    var cameAt: [Int?] = []
    /// The segments whose beginning came as if it were all, and which never came whole; those that are damaged, and those
    /// beside them.
    var cuts: Set<Int> = []
    /// The published frames in order. `judgeOrder` finds the broadcast frame that each is.
    var published: [PublishedFrame] = []
    /// The source times that were listed as gaps for which media is not published.
    var lateTimes: [Range<Double>] = []
    /// The first published frame of each broadcast segment.
    var firstPublished: [Int: PublishedFrame] = [:]
    private var findings: [Finding] = []

    var history: History { broadcast.history }

    init(broadcast: Broadcast, log: OriginLog, record: PublicationRecord) {
        (self.broadcast, self.log, self.record, limits) = (broadcast, log, record, Limits(broadcast))
        prepare()
    }

    consuming func judge() -> Judgement {
        judgePlaylists()
        judgeSegments()
        judgeOrder()
        lateTimes = madeLateTimes()
        judgeMissingFrames()
        judgeLostSegments()
        judgeConnections()
        judgePeriods()
        judgeAudio()
        judgeSubtitles()
        judgeDates()
        judgeMarkers()
        judgeSplices()
        judgeGrowth()
        judgeLatency()
        judgeEnd()
        judgeCounts()
        judgeArchive()
        judgeResources()
        return Judgement(findings: findings, segments: record.segments.count, frames: published.count)
    }

    mutating func find(_ rule: Finding.Rule, at time: Int, _ text: String) {
        if findings.count < 20 { findings.append(Finding(rule: rule, at: time, text: text)) }
    }

    mutating func find(_ rule: Finding.Rule, in segment: PublicationRecord.Segment, _ text: String) {
        find(rule, at: segment.at, "segment \(segment.number) \(text)")
    }
}

// MARK: - Playlists and the bytes of segments

extension Oracle {
    /// Each version obeys the rules, alone and against the version before it, over kills too.
    mutating func judgePlaylists() {
        var oracle = PlaylistOracle()
        for (index, version) in record.versions.enumerated() {
            for rule in oracle.append(version.playlist)
            where !limits.excuses(rule) && !(rule.hasPrefix("5/") && mayRaiseTarget(index)) {
                find(.playlist, at: version.at, rule)
            }
        }
    }

    /// Whether a version may have a longer target duration than the one before it: a manifest says no longest duration, so that
    /// a restarted process may list longer segments than those before, and the larger value holds (decision 9).
    private func mayRaiseTarget(_ index: Int) -> Bool {
        let (before, version) = (record.versions[index - 1], record.versions[index])
        return history.has(.dash) && version.life > 0
            && version.playlist.targetDuration > before.playlist.targetDuration
            && !record.segments.contains { $0.life == version.life && $0.at < version.at && !$0.text.isGap }
    }

    /// Numbers, decode times, durations and init sections of each segment.
    mutating func judgeSegments() {
        var ends: [Int: Int] = [:]
        var drift = 0.0
        var before: PublicationRecord.Segment?
        for (index, segment) in record.segments.enumerated() {
            if let before {
                let discontinuities = before.text.discontinuityNumber + (segment.text.isDiscontinuous ? 1 : 0)
                if segment.number != before.number + 1 || segment.text.discontinuityNumber != discontinuities {
                    find(.number, in: segment, "follows \(before.number), or has a wrong discontinuity number")
                }
            }
            before = segment
            if let error = segment.error { find(.bytes, in: segment, error) }
            guard let media = segment.media else {
                ends = [:]
                continue
            }
            for track in media.tracks {
                if let end = ends[track.number], track.decodeTime != end {
                    find(.clock, in: segment, "decodes track \(track.number) at \(track.decodeTime), not at \(end)")
                }
                ends[track.number] = track.decodeTime + track.duration
            }
            guard let video = segment.video else {
                find(.initialization, in: segment, "has no video")
                continue
            }
            let samples = media.samples(of: video.number)
            let seconds = Double(samples.reduce(0) { $0 + $1.duration }) / Double(video.timescale)
            drift += Double(segment.text.duration).map { $0 - seconds } ?? 0
            if abs(drift) > 0.034 {
                find(.duration, in: segment, "has an EXTINF that departs by \(Int(drift * 1000)) ms")
                drift = 0
            }
            judgeVideo(of: segment, samples, video)
            for sample in samples.sorted(by: { $0.presentation < $1.presentation }) {
                guard let identity = sample.identity else {
                    if limits.isDamaged(at: segment.at) { continue }
                    find(.frame, in: segment, "has a frame without identity")
                    continue
                }
                let time = Self.ticks(sample.presentation, video.timescale)
                published.append(PublishedFrame(identity: identity, time: time, segment: index))
            }
        }
    }

    /// A segment begins with a sync sample, and its init section describes its video.
    private mutating func judgeVideo(
        of segment: PublicationRecord.Segment, _ samples: [PublishedMedia.Sample], _ video: PublishedInit.Track
    ) {
        if samples.first?.isSync != true, !limits.excuses("31:") {
            find(.bytes, in: segment, "does not begin with a sync sample")
        }
        if limits.isDamaged(at: segment.at) { return }
        guard let original = samples.first?.identity.flatMap({ formats[$0.content] }) else { return }
        let sizes = (0..<history.variantCount).map { original.resized(for: $0) }
        let format = sizes.first { $0.width * 16 == video.width } ?? original
        let expected = [CodedVideo.sequenceParameterSet(format), CodedVideo.pictureParameterSet()]
        let isRepeated = samples.allSatisfy { !$0.isSync || $0.parameterSets.allSatisfy(expected.contains) }
        if video.configuration != expected || !isRepeated {
            find(.initialization, in: segment, "has the init section of another video")
        }
        if video.width != format.width * 16 || video.height != format.height * 16 {
            find(.initialization, in: segment, "is \(video.width)x\(video.height)")
        }
    }
}
