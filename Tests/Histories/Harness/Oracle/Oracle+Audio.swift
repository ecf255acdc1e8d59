import PlaylistRules

// MARK: - Audio: where the source has it, and complete inside each showing

extension Oracle {
    mutating func judgeAudio() {
        let spans = spans
        let main = audio(of: record.segments) { $0.isVideo ? nil : $0 }
        judge(main, spans, history.renditions.contains(.companion) ? .companion : nil, isSecond: false)
        guard history.has(.secondLanguage) || history.has(.multiplexedLanguage) else { return }
        judgeLanguage(spans)
    }

    /// - Parameter rendition: where the audio comes from; nil: it is multiplexed.
    private mutating func judge(
        _ frames: [PublishedAudio], _ spans: [Span], _ rendition: AudioRendition?, isSecond: Bool
    ) {
        var index = 0
        for span in spans {
            while index < frames.count, frames[index].segment < span.segments.lowerBound { index += 1 }
            guard let format = format(of: span.content) else { continue }
            let length = 1024 * 90_000 / format.sampleRate
            let content = isSecond ? TransportMultiplex.secondContent(span.content) : span.content
            var heard: Set<Int> = []
            var position = index
            var before: Int?
            while position < frames.count, frames[position].segment < span.segments.upperBound {
                let frame = frames[position]
                position += 1
                defer { before = frame.identity?.frame }
                guard let identity = frame.identity, identity.content == content else { continue }
                let at = record.segments[frame.segment].at
                let due = span.clock + format.audioTime(identity.frame) + span.shift
                // The first frame of a period, and after silence, carries what is left of the audio before it.
                let isOnTime =
                    abs(frame.time - due) <= Limits.audioTolerance
                    || (heard.isEmpty || before != identity.frame - 1)
                        && abs(frame.time + frame.duration - due - length) <= Limits.audioTolerance
                if isOnTime {
                    heard.insert(identity.frame)
                    if frame.configuration != format.audioConfiguration {
                        return find(
                            .audio, at: at, "audio \(name(of: identity)) has another configuration's init section")
                    }
                } else if abs(frame.time - due) < 90_000 {
                    return find(.audio, at: at, "audio \(name(of: identity)) is \((frame.time - due) / 90) ms late")
                }
            }
            if let missing = missing(heard, span, format, rendition) {
                return find(
                    .audio, at: record.segments[span.segments.lowerBound].at,
                    "\(isSecond ? "language: " : "")\(missing.count) audio frames from \(name(of: FrameIdentity(content: span.content, frame: missing[0]))) on are missing, which came with segment \(missing.segment)"
                )
            }
        }
    }

    private struct Missing {
        let count: Int
        let first: Int
        let segment: Int
        subscript(_: Int) -> Int { first }
    }

    /// The frames of a span that were not heard though they came in time. At both ends frames may be trimmed.
    private func missing(
        _ heard: Set<Int>, _ span: Span, _ format: MediaFormat, _ rendition: AudioRendition?
    ) -> Missing? {
        let margin = 3 * 1024 * 90_000 / format.sampleRate
        let (first, last) = (source[span.places.lowerBound].segment, source[span.places.upperBound].segment)
        for number in first...last {
            let segment = broadcast.segments[number]
            guard !arrivals[number].isEmpty, cuts[number] == nil else { continue }
            if let rendition, !cameInTime(number, rendition, span) { continue }
            for part in segment.parts where part.content == span.content {
                let missing = part.audio.filter { frame in
                    let due = span.clock + format.audioTime(frame) + span.shift
                    return due >= span.start + margin && due <= span.end - margin && !heard.contains(frame)
                }
                if let first = missing.first { return Missing(count: missing.count, first: first, segment: number) }
            }
        }
        return nil
    }

    /// Whether the audio of a broadcast segment came before the segment was published.
    private func cameInTime(_ number: Int, _ rendition: AudioRendition, _ span: Span) -> Bool {
        let isSpan: (PublishedFrame) -> Bool = { frame in
            frame.source.map { source[$0].segment == number } ?? false
        }
        guard let published = published.first(where: isSpan) else { return false }
        let (at, life) = (record.segments[published.segment].at, record.lives[record.segments[published.segment].life])
        // The channel waits for a rendition as long as its patience.
        if at - broadcast.segments[number].end >= Limits.patience(history) - 500 { return false }
        return (log.audioAttempts[rendition] ?? []).contains {
            $0.segment == number && $0.isWhole && $0.answeredAt < at && $0.answeredAt >= life.start
        }
    }

    /// The second language has the numbers and discontinuities of the leading one, and its own audio.
    private mutating func judgeLanguage(_ spans: [Span]) {
        let byNumber = Dictionary(record.languages.map { ($0.number, $0) }) { first, _ in first }
        var aligned: [PublicationRecord.Segment] = []
        for segment in record.segments {
            guard let own = byNumber[segment.number] else {
                aligned.append(PublicationRecord.Segment.gap(like: segment))
                continue
            }
            aligned.append(own)
            if own.text.discontinuityNumber != segment.text.discontinuityNumber || own.text.date != segment.text.date {
                find(
                    .number, at: own.at,
                    "segment \(segment.number) of the language has another date or discontinuity number")
            }
            if let error = own.error { find(.bytes, at: own.at, "segment \(segment.number) of the language: \(error)") }
        }
        guard !record.languages.isEmpty else {
            if history.has(.multiplexedLanguage), !published.isEmpty {
                find(.audio, at: record.lastTime, "the second language is not listed")
            }
            return
        }
        judge(
            audio(of: aligned) { $0.isVideo ? nil : $0 }, spans, history.has(.secondLanguage) ? .second : nil,
            isSecond: true)
    }
}
