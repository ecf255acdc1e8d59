import PlaylistRules

// MARK: - What was broadcast and published, in the terms of the rules

extension Oracle {
    /// Lists the frames of the broadcast, and when its segments arrived.
    mutating func prepare() {
        arrivals = Array(repeating: [], count: broadcast.segments.count)
        for attempt in log.attempts where attempt.isWhole {
            if let at = completion(of: attempt) { arrivals[attempt.segment].append(at) }
        }
        // Without a length nobody knows that a body is cut. If it is each time, or the last one, it is taken as it is.
        for attempt in log.attempts where attempt.outcome == .cut {
            cuts[attempt.segment, default: []].append(attempt.answeredAt)
            arrivals[attempt.segment].append(attempt.answeredAt)
        }
        ownArrivals = arrivals
        for attempt in log.backupAttempts {
            if let at = completion(of: attempt) { arrivals[attempt.segment].append(at) }
        }
        for segment in broadcast.segments {
            var at = Double(segment.start)
            for (number, part) in segment.parts.enumerated() {
                let duration = part.format.frameDuration
                for frame in part.frames {
                    source.append(
                        SourceFrame(
                            identity: FrameIdentity(content: part.content, frame: frame), segment: segment.index,
                            part: number, at: at, clock: part.clock + frame * duration))
                    at += Double(duration) / 90
                }
            }
        }
    }

    func format(of content: Int) -> MediaFormat? {
        for segment in broadcast.segments {
            if let part = segment.parts.first(where: { $0.content == content }) { return part.format }
        }
        return nil
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
        /// Indices in `source`.
        var places: ClosedRange<Int>
    }

    struct PublishedAudio {
        let identity: FrameIdentity?
        let segment: Int
        let time: Int
        let duration: Int
        let configuration: [UInt8]
    }

    var spans: [Span] {
        var spans: [Span] = []
        var segment = -1
        for frame in published {
            guard let place = frame.source else { continue }
            let shift = frame.time - source[place].clock
            let duration = format(of: frame.identity.content)?.frameDuration ?? 3600
            let isNewPeriod = frame.segment != segment && record.segments[frame.segment].text.isDiscontinuous
            segment = frame.segment
            if let last = spans.last, last.content == frame.identity.content, abs(last.shift - shift) < 4,
                abs(last.end - frame.time) < 4, !isNewPeriod, place > last.places.upperBound
            {
                spans[spans.count - 1].end = frame.time + duration
                spans[spans.count - 1].segments = last.segments.lowerBound..<frame.segment + 1
                spans[spans.count - 1].places = last.places.lowerBound...place
            } else {
                spans.append(
                    Span(
                        content: frame.identity.content, shift: shift, start: frame.time, end: frame.time + duration,
                        clock: source[place].clock - frame.identity.frame * duration,
                        segments: frame.segment..<frame.segment + 1, places: place...place))
            }
        }
        return spans
    }

    /// The frames of one audio track.
    /// - Parameter choose: nil for a track that is another one.
    func audio(
        of segments: [PublicationRecord.Segment], _ choose: (PublishedInit.Track) -> PublishedInit.Track?
    ) -> [PublishedAudio] {
        var frames: [PublishedAudio] = []
        for (number, segment) in segments.enumerated() {
            guard let media = segment.media, let track = segment.initialization?.tracks.compactMap(choose).first else {
                continue
            }
            for sample in media.tracks.filter({ $0.number == track.number }).flatMap(\.samples) {
                frames.append(
                    PublishedAudio(
                        identity: sample.identity, segment: number,
                        time: Self.ticks(sample.presentation, track.timescale),
                        duration: Self.ticks(sample.duration, track.timescale),
                        configuration: track.configuration.first ?? []))
            }
        }
        return frames
    }

    /// Converts a time to ticks of 90 kHz, rounded.
    static func ticks(_ time: Int, _ timescale: Int) -> Int {
        let (seconds, rest) = time.quotientAndRemainder(dividingBy: timescale)
        return seconds * 90_000 + (rest * 90_000 + timescale / 2) / timescale
    }
}
