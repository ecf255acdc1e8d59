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
        if rendition == nil {
            log.initSections.append(
                .init(name: name, era: era, variant: Self.variant(of: request), at: time + latency))
        }
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
        let variant: Int
        let at: Int
    }
}

extension Oracle {
    /// When a process had a segment and its init section; nil if it never had that.
    func completion(of attempt: OriginLog.Attempt) -> Int? {
        let segment = broadcast.segments[attempt.segment]
        guard let name = segment.initSection,
            let life = record.lives.first(where: { $0.start <= attempt.answeredAt && attempt.answeredAt <= $0.end })
        else { return attempt.answeredAt }
        // The packager may name it anew after the segment came, and list that still.
        let section = log.initSections.lazy.filter { section in
            section.name == name && section.variant == attempt.variant && section.at >= life.start
                && section.at <= life.end
                && (section.era == attempt.era ?? section.era
                    || log.reloads.contains {
                        broadcast.eras[$0.era].name == section.era && $0.listed.contains(segment.index)
                    })
        }
        return section.map(\.at).min().map { max($0, attempt.answeredAt) }
    }

    /// Whether the init section of a segment is never there.
    func isUnusable(_ segment: Broadcast.Segment) -> Bool {
        segment.initSection.flatMap { broadcast.initSections[$0]?.isGone } ?? false
    }
}
