import PlaylistRules

struct PublishedFrame {
    let identity: FrameIdentity
    /// Ticks of 90 kHz on the published timeline.
    let time: Int
    /// Index in the record.
    let segment: Int
    /// The place of the broadcast frame that it is; nil: it is none in its order.
    var source: Int?
}

struct PublishedAudio {
    let identity: FrameIdentity?
    /// Index in the record.
    let segment: Int
    /// Ticks of 90 kHz on the published timeline.
    let time: Int
    let duration: Int
    let configuration: [UInt8]
}

/// Consecutive published frames of one content on one clock, in one period.
struct Span {
    let content: Int
    /// Published minus source time, ticks.
    let shift: Int
    let start: Int
    var end: Int
    /// Source time of the content's frame 0.
    let clock: Int
    /// Indices in the record.
    var segments: Range<Int>
    var places: ClosedRange<Int>
    /// Whether a discontinuity is tagged between it and the span before.
    let beginsPeriod: Bool

    /// When an audio frame of the content is due on the published timeline.
    func time(ofAudio frame: Int, _ format: MediaFormat) -> Int { clock + format.audioTime(frame) + shift }
}

// MARK: - What was broadcast and published, in the terms of the rules

extension Oracle {
    /// Lists the frames of the broadcast, and when its segments arrived.
    mutating func prepare() {
        arrivals = Array(repeating: [], count: broadcast.segments.count)
        // Without a length nobody knows that a body is cut. If it never comes whole to the same process, it is taken as it is,
        // whatever other variants have.
        let whole = log.attempts.filter(\.isWhole)
        cuts = Set(
            log.attempts.lazy.filter { [record] cut in
                cut.outcome == .cut
                    && !whole.contains { other in
                        other.segment == cut.segment && other.variant == cut.variant
                            && !record.lives.contains { cut.answeredAt < $0.start && $0.start <= other.answeredAt }
                    }
            }.map(\.segment))
        for attempt in log.attempts where attempt.isWhole || cuts.contains(attempt.segment) {
            let at = attempt.isWhole ? completion(of: attempt) : attempt.outcome == .cut ? attempt.answeredAt : nil
            if let at { arrivals[attempt.segment].append(at) }
        }
        ownArrivals = arrivals
        // Damage reaches into the segments beside it: frames end with the next one, and audio overlaps.
        for segment in broadcast.segments where segment.fault?.thing == .damagedSegment {
            cuts.formUnion(max(0, segment.index - 1)...segment.index + 1)
        }
        for attempt in log.backupAttempts {
            if let at = completion(of: attempt) { arrivals[attempt.segment].append(at) }
        }
        (source, places) = broadcast.frames()
        formats = Dictionary(source.map { ($0.identity.content, $0.format) }) { first, _ in first }
        cameAt = source.map { arrivals[$0.segment].min() }
        prepareStream()
    }

    func neverCame(_ segment: Int) -> Bool { arrivals[segment].isEmpty }
    func came(_ segment: Int, by time: Int) -> Bool { arrivals[segment].contains { $0 <= time } }
    /// Whether the frame at a place came.
    func hasCome(_ place: Int, by time: Int) -> Bool { cameAt[place].map { $0 <= time } ?? false }
    func name(of place: Int) -> String { "\(source[place].identity) in segment \(source[place].segment)" }

    /// Source time of the frame 0 of the content at a place.
    func clock(at place: Int) -> Int {
        source[place].clock - source[place].identity.frame * source[place].format.frameDuration
    }

    var spans: [Span] {
        var spans: [Span] = []
        var segment = 0
        for frame in published {
            guard let place = frame.source else { continue }
            let isNewPeriod =
                segment < frame.segment
                && record.segments[segment + 1...frame.segment].contains(where: \.text.isDiscontinuous)
            segment = frame.segment
            let shift = frame.time - source[place].clock
            let duration = formats[frame.identity.content]?.frameDuration ?? 3600
            if let last = spans.last, last.content == frame.identity.content, abs(last.shift - shift) < 3,
                abs(last.end - frame.time) < 3, !isNewPeriod
            {
                spans[spans.count - 1].end = frame.time + duration
                spans[spans.count - 1].segments = last.segments.lowerBound..<frame.segment + 1
                spans[spans.count - 1].places = last.places.lowerBound...place
            } else {
                spans.append(
                    Span(
                        content: frame.identity.content, shift: shift, start: frame.time, end: frame.time + duration,
                        clock: clock(at: place),
                        segments: frame.segment..<frame.segment + 1, places: place...place, beginsPeriod: isNewPeriod))
            }
        }
        return spans
    }

    /// The frames of the audio track of `segments`.
    func audio(of segments: [PublicationRecord.Segment]) -> [PublishedAudio] {
        segments.enumerated().flatMap { number, segment -> [PublishedAudio] in
            guard let media = segment.media, let track = segment.initialization?.tracks.first(where: { !$0.isVideo })
            else { return [] }
            return media.samples(of: track.number).map { sample in
                PublishedAudio(
                    identity: sample.identity, segment: number, time: Self.ticks(sample.presentation, track.timescale),
                    duration: Self.ticks(sample.duration, track.timescale),
                    configuration: track.configuration.first ?? [])
            }
        }
    }

    /// Converts a time to ticks of 90 kHz, rounded.
    static func ticks(_ time: Int, _ timescale: Int) -> Int {
        let (seconds, rest) = time.quotientAndRemainder(dividingBy: timescale)
        return seconds * 90_000 + (rest * 90_000 + timescale / 2) / timescale
    }
}
