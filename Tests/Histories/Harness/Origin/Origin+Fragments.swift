import Fetch

// MARK: - Init sections

extension Origin {
    /// What is written before a segment whose init section is another one than that of the segment before.
    func mapTag(_ segment: Broadcast.Segment, _ era: Broadcast.Era, _ rendition: AudioRendition?) -> String? {
        segment.initSection.map { name in
            "#EXT-X-MAP:URI=\"\(rendition.map { "audio-\($0.rawValue)-" } ?? "")\(era.name)-init-\(name).mp4\"\n"
        }
    }

    mutating func initSection(
        _ request: FetchRequest, _ rendition: AudioRendition? = nil, at time: Int, _ latency: Int
    ) -> FetchOutcome {
        guard let mark = request.url.ranges(of: "-init-").last else { return page(404, request) }
        let name = String(request.url[mark.upperBound...].prefix { $0 != "." })
        let era = request.url[..<mark.lowerBound].split { "/-".contains($0) }.last.flatMap { Int($0) } ?? 0
        guard let section = broadcast.initSections[name], !section.isGone else { return page(404, request) }
        if let event = active(.refusedMap, at: time) { return page([403, 404, 500, 503][event.pick(0...3)], request) }
        if rendition == nil { log.initSections.append(.init(name: name, era: era, at: time + latency)) }
        let body = section.bodies[min(Self.variant(of: request), section.bodies.count - 1)]
        return bytes(rendition.map { section.audioBodies[$0] ?? [] } ?? body, request)
    }
}

// MARK: - The oracle's view

extension OriginLog {
    /// An init section that was sent.
    struct InitSection {
        let name: String
        /// The name of the era.
        let era: Int
        let at: Int
    }
}

extension Oracle {
    /// When a process had a segment and its init section; nil if it never had that.
    func completion(of attempt: OriginLog.Attempt) -> Int? {
        guard let name = broadcast.segments[attempt.segment].initSection,
            let life = record.lives.first(where: { $0.start <= attempt.answeredAt && attempt.answeredAt <= $0.end })
        else { return attempt.answeredAt }
        // Of two requests for it, of two variants, the later one may be answered first.
        let section = log.initSections.lazy.filter {
            $0.name == name && $0.era == attempt.era ?? $0.era && $0.at >= life.start && $0.at <= life.end
        }
        return section.map(\.at).min().map { max($0, attempt.answeredAt) }
    }

    /// Whether the init section of a segment is never there.
    func isUnusable(_ segment: Broadcast.Segment) -> Bool {
        segment.initSection.flatMap { broadcast.initSections[$0]?.isGone } ?? false
    }
}
