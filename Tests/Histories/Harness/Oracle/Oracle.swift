import PlaylistRules

/// What is wrong with the publication of a history.
struct Finding: Hashable, CustomStringConvertible {
    enum Rule: String, CaseIterable {
        case playlist, number, bytes, clock, duration, initialization, frame, order, lost, missing, audio, subtitle,
            date
        case standstill, latency, discontinuity, marker, end, count, crash
    }

    let rule: Rule
    /// Milliseconds since the channel began.
    let at: Int
    let text: String

    var description: String { "\(Double(at) / 1000) s, \(rule.rawValue): \(text)" }
}

struct Judgement {
    var findings: [Finding] = []
    var segments = 0
    var frames = 0
}

/// What a perfect relay would have published of a history, by the promises of README.md, docs/timeline.md and
/// docs/failover.md.
///
/// It knows what was broadcast, what the origin answered, and what was published; it knows nothing of how liverelay works.
struct Oracle {
    let broadcast: Broadcast
    let log: OriginLog
    let record: PublicationRecord
    var judgement = Judgement()
    /// Broadcast frames in order of presentation.
    var source: [SourceFrame] = []
    /// The published frames, in order, with the broadcast frame that each is; nil: it is none in its place.
    var published: [PublishedFrame] = []
    /// When each broadcast segment came whole; empty: never.
    var arrivals: [[Int]] = []
    /// As `arrivals`, without those from the backup.
    var ownArrivals: [[Int]] = []
    /// When the beginning of a segment came, as if it were all.
    var cuts: [Int: [Int]] = [:]

    var history: History { broadcast.history }

    struct SourceFrame {
        let identity: FrameIdentity
        let segment: Int
        let part: Int
        /// Milliseconds since the channel began at which the frame is presented.
        let at: Double
        /// Its time on the source's clock, ticks.
        let clock: Int
    }

    struct PublishedFrame {
        let identity: FrameIdentity
        /// Ticks of 90 kHz on the published timeline.
        let time: Int
        /// Index in the record.
        let segment: Int
        /// Index in `source`.
        var source: Int?
    }

    init(broadcast: Broadcast, log: OriginLog, record: PublicationRecord) {
        (self.broadcast, self.log, self.record) = (broadcast, log, record)
    }

    mutating func find(_ rule: Finding.Rule, at time: Int, _ text: String) {
        guard judgement.findings.count < 20 else { return }
        judgement.findings.append(Finding(rule: rule, at: time, text: text))
    }

    consuming func judge() -> Judgement {
        var oracle = self
        oracle.prepare()
        oracle.judgePlaylists()
        oracle.judgeSegments()
        oracle.judgeOrder()
        oracle.judgeMissingFrames()
        oracle.judgeLostSegments()
        oracle.judgePeriods()
        oracle.judgeAudio()
        oracle.judgeSubtitles()
        oracle.judgeDates()
        oracle.judgeMarkers()
        oracle.judgeProgress()
        oracle.judgeEnd()
        oracle.judgeCounts()
        oracle.judgement.segments = oracle.record.segments.count
        oracle.judgement.frames = oracle.published.count
        return oracle.judgement
    }
}

// MARK: - Playlists and numbers

extension Oracle {
    /// Each version obeys the rules, alone and against the version before it, over kills too.
    mutating func judgePlaylists() {
        var before: PublicationRecord.Version?
        for version in record.versions {
            var broken = brokenRules(in: version.playlist)
            if let before { broken += brokenRules(from: before.playlist, to: version.playlist) }
            for rule in broken where !Limits.isExcused(rule, broadcast) { find(.playlist, at: version.at, rule) }
            before = version
        }
    }

    /// Numbers, decode times, durations and init sections of each segment.
    mutating func judgeSegments() {
        var ends: [Int: Int] = [:]
        var drift = 0.0
        var before: PublicationRecord.Segment?
        for (index, segment) in record.segments.enumerated() {
            if let before {
                if segment.number != before.number + 1 {
                    find(.number, at: segment.at, "segment \(segment.number) follows \(before.number)")
                }
                let step = segment.text.isDiscontinuous ? 1 : 0
                if Int(segment.text.discontinuityNumber) != Int(before.text.discontinuityNumber) + step {
                    find(.number, at: segment.at, "segment \(segment.number) has a wrong discontinuity number")
                }
            }
            before = segment
            if let error = segment.error { find(.bytes, at: segment.at, "segment \(segment.number): \(error)") }
            guard let media = segment.media, let initialization = segment.initialization else {
                ends = [:]
                continue
            }
            for track in media.tracks {
                if let end = ends[track.number], track.decodeTime != end {
                    find(
                        .clock, at: segment.at,
                        "segment \(segment.number), track \(track.number) decodes at \(track.decodeTime), not at \(end)"
                    )
                }
                ends[track.number] = track.decodeTime + track.duration
            }
            judgeVideo(of: segment, media, initialization, index, &drift)
        }
    }

    private mutating func judgeVideo(
        of segment: PublicationRecord.Segment, _ media: PublishedMedia, _ initialization: PublishedInit, _ index: Int,
        _ drift: inout Double
    ) {
        guard let known = initialization.tracks.first(where: \.isVideo) else {
            return find(.initialization, at: segment.at, "segment \(segment.number) has no video")
        }
        let samples = media.tracks.filter { $0.number == known.number }.flatMap(\.samples)
        let ticks = samples.reduce(0) { $0 + $1.duration }
        drift += Double(segment.text.duration).map { $0 - Double(ticks) / Double(known.timescale) } ?? 0
        if abs(drift) > 0.034 {
            find(.duration, at: segment.at, "EXTINF of segment \(segment.number) departs by \(Int(drift * 1000)) ms")
            drift = 0
        }
        if samples.first?.isSync != true, !Limits.isExcused("31:", broadcast) {
            find(.bytes, at: segment.at, "segment \(segment.number) does not begin with a sync sample")
        }
        for sample in samples.sorted(by: { $0.presentation < $1.presentation }) {
            guard let identity = sample.identity else {
                find(.frame, at: segment.at, "segment \(segment.number) has a frame without identity")
                continue
            }
            published.append(
                PublishedFrame(
                    identity: identity, time: Self.ticks(sample.presentation, known.timescale), segment: index,
                    source: nil))
        }
        guard let identity = samples.first?.identity, let original = format(of: identity.content) else { return }
        let sizes = (0..<history.variantCount).map { original.resized(for: $0) }
        let format = sizes.first { $0.width * 16 == known.width } ?? original
        let expected = [CodedVideo.sequenceParameterSet(format), CodedVideo.pictureParameterSet()]
        let repeated = Set(samples.filter(\.isSync).flatMap(\.parameterSets))
        if known.configuration != expected || !repeated.isSubset(of: expected) {
            find(.initialization, at: segment.at, "the init section of segment \(segment.number) is another video's")
        }
        if known.width != format.width * 16 || known.height != format.height * 16 {
            find(.initialization, at: segment.at, "segment \(segment.number) is \(known.width)x\(known.height)")
        }
    }
}
