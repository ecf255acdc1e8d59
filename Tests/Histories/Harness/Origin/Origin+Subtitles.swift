import Fetch

// MARK: - A WebVTT rendition

extension Origin {
    static func isSubtitles(_ request: FetchRequest) -> Bool { request.url.contains("/live/subs") }

    /// Segments by which the rendition is behind the video.
    private var subtitleLag: Int { history.all(.subtitles).first?.pick(0...1, 1) ?? 0 }

    func subtitlePlaylist(_ request: FetchRequest, at time: Int) -> FetchOutcome {
        if isExpired(request, at: time) { return page(403, request) }
        var asOf = time - subtitleLag * history.segmentDuration
        if let event = active(.stalePlaylist, at: time) { asOf = min(asOf, event.at) }
        let era = broadcast.eras[broadcast.era(at: asOf)]
        let edge = broadcast.edge(at: asOf)
        let listed = max(era.firstSegment, edge - history.window)..<max(era.firstSegment, edge)
        guard let first = listed.first.map({ broadcast.segments[$0] }) else { return page(404, request) }
        let base = first.tagCount - (isTagged(first, era, at: time) ? 1 : 0)
        var text = "#EXTM3U\n#EXT-X-VERSION:6\n#EXT-X-TARGETDURATION:\(history.targetDuration)\n"
        text += "#EXT-X-MEDIA-SEQUENCE:\(listed.lowerBound + era.numberOffset)\n"
        text += "#EXT-X-DISCONTINUITY-SEQUENCE:\(max(0, base))\n"
        for segment in broadcast.segments[listed] {
            if isTagged(segment, era, at: time), segment.index > listed.lowerBound || base >= 0 {
                text += "#EXT-X-DISCONTINUITY\n"
            }
            if history.isDated { text += "#EXT-X-PROGRAM-DATE-TIME:\(Self.date(segment.start))\n" }
            let rest = "\(segment.duration % 1000 + 1000)".dropFirst()
            text += "#EXTINF:\(segment.duration / 1000).\(rest),\nsubs-\(era.name)-seg-\(segment.index).vtt\n"
        }
        return self.text(text + (broadcast.endsAt.map { $0 <= asOf } ?? false ? "#EXT-X-ENDLIST\n" : ""), request)
    }

    mutating func subtitleSegment(_ request: FetchRequest, at time: Int, _ latency: Int) -> FetchOutcome {
        guard let index = Self.number(in: request.url, after: "-seg-"), broadcast.segments.indices.contains(index)
        else { return page(404, request) }
        let segment = broadcast.segments[index]
        let isGone = history.all(.lostSubtitleSegment).contains { $0.at > segment.start && $0.at <= segment.end }
        let isThere = segment.end <= time && !isGone && time < segment.end + 60_000
        log.subtitleAttempts.append(
            OriginLog.Attempt(
                segment: index, askedAt: time, answeredAt: time + latency, outcome: isThere ? .whole : .failed))
        return isThere ? text(segment.subtitles(history), request) : page(404, request)
    }
}

extension Broadcast.Segment {
    /// A frame at which a cue begins, and its place in the parts.
    struct Cue {
        let identity: FrameIdentity
        let part: Int
        /// Frames for which it is presented.
        let count: Int
    }

    /// The cues of a segment: one for each part.
    var cuesOfSubtitles: [Cue] {
        parts.indices.map { index in
            let frames = parts[index].frames
            let first = frames.lowerBound + min(3, frames.count - 1)
            return Cue(
                identity: FrameIdentity(content: parts[index].content, frame: first), part: index,
                count: max(1, min(frames.upperBound - first, 20)))
        }
    }

    /// A WebVTT file whose times count from the beginning of the content, or from that of the segment.
    func subtitles(_ history: History) -> String {
        guard let part = parts.first, let event = history.all(.subtitles).first else { return "WEBVTT\n" }
        let format = part.format
        let clock =
            history.has(.fragmented)
            ? FragmentMultiplex(style: history.fragmentStyle).origin(of: part, 90_000) : part.clock
        // Times before the map are not written.
        let base = event.pick(0...1) == 0 ? part.frames.lowerBound : 0
        let map = (clock + base * format.frameDuration) & (1 << 33 - 1)
        var text = "WEBVTT\nX-TIMESTAMP-MAP=MPEGTS:\(map),LOCAL:00:00:00.000\n"
        for cue in cuesOfSubtitles where cue.part == 0 {
            let start = (cue.identity.frame - base) * format.frameDuration / 90
            let end = (cue.identity.frame + cue.count - base) * format.frameDuration / 90
            text +=
                "\n\(Self.text(start)) --> \(Self.text(end))\n\(String(decoding: cue.identity.digits, as: UTF8.self))\n"
        }
        return text
    }

    private static func text(_ milliseconds: Int) -> String {
        func padded(_ number: Int, _ width: Int) -> String {
            String("\(number)".reversed().padding(to: width).reversed())
        }
        let seconds = milliseconds / 1000
        let hours = padded(seconds / 3600, 2)
        return "\(hours):\(padded(seconds / 60 % 60, 2)):\(padded(seconds % 60, 2)).\(padded(milliseconds % 1000, 3))"
    }
}

extension ReversedCollection<String> {
    fileprivate func padding(to width: Int) -> String {
        String(self) + String(repeating: "0", count: Swift.max(0, width - count))
    }
}
