import PlaylistRules

// MARK: - Audio: where the source has it, and complete inside each showing

extension Oracle {
    mutating func judgeAudio() {
        let spans = spans
        let rendition = history.renditions.first { $0 == .companion }
        judge(audio(of: record.segments), spans, rendition, isSecond: false)
        guard history.has(.secondLanguage) || history.has(.multiplexedLanguage) else { return }
        guard !record.languages.isEmpty else {
            if history.has(.multiplexedLanguage), !published.isEmpty {
                find(.audio, at: record.lastTime, "the second language is not listed")
            }
            return
        }
        judge(audio(of: alignedLanguage()), spans, history.has(.secondLanguage) ? .second : nil, isSecond: true)
    }

    /// The segments of the second language that have the numbers of the leading one, whose discontinuities and dates they
    /// have too.
    private mutating func alignedLanguage() -> [PublicationRecord.Segment] {
        let byNumber = Dictionary(record.languages.map { ($0.number, $0) }) { first, _ in first }
        return record.segments.map { segment in
            guard let own = byNumber[segment.number] else { return .gap(like: segment) }
            let isAligned = own.text.discontinuityNumber == segment.text.discontinuityNumber
            if !isAligned || own.text.date != segment.text.date {
                find(.number, in: own, "of the language has another date or discontinuity number")
            }
            if let error = own.error { find(.bytes, in: own, "of the language: \(error)") }
            return own
        }
    }

    /// Each frame has its time, and all that came in time are there.
    /// - Parameter rendition: where the audio comes from; nil: it is multiplexed.
    private mutating func judge(
        _ frames: [PublishedAudio], _ spans: [Span], _ rendition: AudioRendition?, isSecond: Bool
    ) {
        var index = 0
        for span in spans {
            while index < frames.count, frames[index].segment < span.segments.lowerBound { index += 1 }
            guard let format = formats[span.content] else { continue }
            let tolerance = Limits.audioTolerance(format)
            let content = isSecond ? TransportMultiplex.secondContent(span.content) : span.content
            var heard: Set<Int> = []
            var before: Int?
            for frame in frames[index...].prefix(while: { $0.segment < span.segments.upperBound }) {
                defer { before = frame.identity?.frame }
                guard let identity = frame.identity, identity.content == content else { continue }
                let at = record.segments[frame.segment].at
                if limits.isDamaged(at: at) {
                    heard.insert(identity.frame)
                    continue
                }
                let late = frame.time - span.time(ofAudio: identity.frame, format)
                // The first frame of a period, and after silence, carries what is left of the audio before it.
                let lateEnd = late + frame.duration - format.audioFrameDuration
                let mayCarry = heard.isEmpty || before != identity.frame - 1
                if abs(late) <= tolerance || mayCarry && abs(lateEnd) <= tolerance {
                    heard.insert(identity.frame)
                    guard frame.configuration != format.audioConfiguration else { continue }
                    return find(.audio, at: at, "audio \(identity) has another configuration's init section")
                }
                if abs(late) < 90_000 { return find(.audio, at: at, "audio \(identity) is \(late / 90) ms late") }
            }
            guard let missing = missing(heard, of: content, span, format, rendition) else { continue }
            let first = FrameIdentity(content: span.content, frame: missing.frames[0])
            return find(
                .audio, at: record.segments[span.segments.lowerBound].at,
                "\(isSecond ? "language: " : "")\(missing.frames.count) audio frames from \(first) on are missing, "
                    + "which came with segment \(missing.segment)")
        }
    }

    /// The frames of a span that were not heard though they came in time. At both ends frames may be trimmed.
    private func missing(
        _ heard: Set<Int>, of content: Int, _ span: Span, _ format: MediaFormat, _ rendition: AudioRendition?
    ) -> (frames: [Int], segment: Int)? {
        // After a gap, a stream begins with whole PES packets.
        let margin = (reception == nil ? 3 : 8) * format.audioFrameDuration
        let inside = span.start + margin..<max(span.start + margin, span.end - margin + 1)
        for number in source[span.places.lowerBound].segment...source[span.places.upperBound].segment
        where !neverCame(number) && !cuts.contains(number) {
            if let rendition, !cameInTime(number, rendition) { continue }
            let frames = broadcast.segments[number].parts.filter { $0.content == span.content }.flatMap(\.audio)
            let missing = frames.filter {
                !heard.contains($0) && inside.contains(span.time(ofAudio: $0, format))
                    && reception?.audio.contains(.init(content: content, frame: $0, segment: number)) != false
            }
            if !missing.isEmpty { return (missing, number) }
        }
        return nil
    }

    /// Whether the audio of a broadcast segment came before the segment was published.
    private func cameInTime(_ number: Int, _ rendition: AudioRendition) -> Bool {
        guard let published = firstPublished[number].map({ record.segments[$0.segment] }) else { return false }
        // The channel waits for a rendition as long as its patience.
        return published.at - broadcast.segments[number].end < limits.patience - 500
            && (log.audioAttempts[rendition] ?? []).contains {
                $0.segment == number && $0.isWhole && $0.answeredAt < published.at
                    && $0.answeredAt >= record.lives[published.life].start
            }
    }
}
