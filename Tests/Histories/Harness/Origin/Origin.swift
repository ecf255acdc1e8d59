import Fetch
import Support
import TestCipher

/// The server of a history's upstream. Times are milliseconds since the channel began, and must not go back.
struct Origin {
    static let host = "http://origin.example"

    let broadcast: Broadcast
    /// The date of time 0, milliseconds since 1970.
    static let epoch: Int64 = 1_772_323_200_000
    /// Segments in a file whose ranges are requested.
    private static let packSize = 3

    private var attempts: [Int: Int] = [:]
    /// Segments by which the playlist of a lagging language is behind.
    private var languageLag: Int { history.all(.laggingLanguage).first?.pick(1...3) ?? 0 }
    var log = OriginLog()
    var history: History { broadcast.history }

    init(_ broadcast: Broadcast) { self.broadcast = broadcast }

    static let backupHost = "http://backup.example/"
    static let backup = backupHost + "master.m3u8"

    var upstream: String {
        if history.has(.rawStream) { return Self.streamURL }
        if history.has(.dash) { return "\(Self.host)/live/main.mpd" }
        return history.has(.plainMaster) ? mediaURL(at: 0) : "\(Self.host)/master.m3u8"
    }

    /// Returns the answer of the origin itself to a request, and its latency in milliseconds.
    mutating func ownAnswer(_ request: FetchRequest, at time: Int) -> (FetchOutcome, Int) {
        log.requests += 1
        if request.url.hasPrefix(Self.backupHost) { return (backupAnswer(request, at: time), 60) }
        let isPlaylist = request.purpose == .mediaPlaylist || request.url == upstream
        if isPlaylist { log.playlistRequests.append(time) }
        var latency = 20 + log.requests * 37 % 90
        if history.has(.slowAnswers) { latency += history.segmentDuration * 4 / 10 }
        if active(.unreachable, at: time) != nil || active(.longOutage, at: time) != nil {
            return (.failure(FetchError(.refused, url: request.url)), latency)
        }
        if active(.silent, at: time) != nil { return (.failure(FetchError(.timedOut, url: request.url)), 8000) }
        if active(.rateLimited, at: time) != nil {
            let pause = FetchAnswer.Header(name: "Retry-After", value: "1")
            return (.success(FetchAnswer(status: 429, finalURL: request.url, headers: [pause], body: [])), latency)
        }
        if let event = active(.refusedStream, at: time) { return (refusal(event, request), latency) }
        if isPlaylist, let slow = active(.slowPlaylist, at: time) { latency += slow.pick(1000...3500) }
        if let outcome = self.time(request, at: time) { return (outcome, latency) }
        if Self.isSubtitles(request) {
            let isList = request.purpose == .mediaPlaylist
            return (
                isList ? subtitlePlaylist(request, at: time) : subtitleSegment(request, at: time, latency), latency
            )
        }
        if isMissing(request, at: time) { return (page(404, request), latency) }
        if let rendition = Self.rendition(of: request) {
            if request.purpose == .mediaPlaylist {
                return (audioPlaylist(rendition, request, at: time), latency)
            }
            if request.purpose == .map { return (initSection(request, rendition, at: time, latency), latency) }
            return (audioSegment(rendition, request, at: time, latency), latency)
        }
        switch request.purpose {
        case .multivariantPlaylist where request.url.hasSuffix("master.m3u8"):
            return (text(master(at: time), request), latency)
        case .multivariantPlaylist, .mediaPlaylist: return (playlist(request, at: time, latency), latency)
        case .key: return (key(request, at: time), latency)
        case .segment: return segment(request, at: time, latency)
        case .map: return (initSection(request, at: time, latency), latency)
        }
    }

    func active(_ thing: Thing, at time: Int) -> Event? {
        history.events.first { $0.thing == thing && $0.at <= time && time < $0.end }
    }

    private func token(at time: Int) -> Int { history.events.count { $0.thing == .tokenExpired && $0.at <= time } }

    private func mediaURL(at time: Int) -> String {
        "\(Self.host)/live/main.m3u8" + (history.has(.plainMaster) ? "" : "?token=\(token(at: time))")
    }

    private func master(at time: Int) -> String {
        let token = token(at: time)
        var text = "#EXTM3U\n"
        let audio = "#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID=\"a\",LANGUAGE="
        if !history.renditions.isEmpty {
            let uri = history.has(.companionAudio) ? ",URI=\"live/audio-0.m3u8?token=\(token)\"" : ""
            text += audio + "\"en\",NAME=\"English\",DEFAULT=YES,AUTOSELECT=YES\(uri)\n"
        }
        if history.has(.secondLanguage) {
            text +=
                audio + "\"de\",NAME=\"Deutsch\",DEFAULT=NO,AUTOSELECT=YES,URI=\"live/audio-1.m3u8?token=\(token)\"\n"
        }
        if history.has(.subtitles) {
            text += "#EXT-X-MEDIA:TYPE=SUBTITLES,GROUP-ID=\"s\",LANGUAGE=\"en\",NAME=\"English\",DEFAULT=YES,"
            text += "AUTOSELECT=YES,URI=\"live/subs.m3u8?token=\(token)\"\n"
        }
        let group =
            (history.renditions.isEmpty ? "" : ",CODECS=\"avc1.4d001e,mp4a.40.2\",AUDIO=\"a\"")
            + (history.has(.subtitles) ? ",SUBTITLES=\"s\"" : "")
        return text + variants(group, token, at: time)
    }

    // MARK: - Answers

    func bytes(_ body: [UInt8], _ request: FetchRequest, endsAtClose: Bool = false) -> FetchOutcome {
        .success(FetchAnswer(status: 200, finalURL: request.url, body: body, endsAtClose: endsAtClose))
    }

    func text(_ text: String, _ request: FetchRequest) -> FetchOutcome { bytes(Array(text.utf8), request) }

    func page(_ status: Int, _ request: FetchRequest) -> FetchOutcome {
        .success(FetchAnswer(status: status, finalURL: request.url, body: Array("<html>no</html>".utf8)))
    }

    func isExpired(_ request: FetchRequest, at time: Int) -> Bool {
        !history.has(.plainMaster) && !history.has(.dash) && request.purpose == .mediaPlaylist
            && !request.url.hasSuffix("?token=\(token(at: time))")
    }

    private func key(_ request: FetchRequest, at time: Int) -> FetchOutcome {
        if active(.keyRefused, at: time) != nil { return page(503, request) }
        return bytes(SegmentCipher.key(Self.number(in: request.url, after: "key-") ?? 0), request)
    }

    static func number(in url: String, after prefix: String) -> Int? {
        let (bytes, prefix) = (Array(url.utf8), Array(prefix.utf8))
        let starts = stride(from: bytes.count - prefix.count, through: 0, by: -1)
        guard let start = starts.first(where: { bytes[$0] == prefix[0] && bytes[$0...].starts(with: prefix) }) else {
            return nil
        }
        let digits = bytes[(start + prefix.count)...].prefix { 0x30...0x39 ~= $0 }
        return digits.isEmpty ? nil : digits.reduce(0) { $0 * 10 + Int($1 - 0x30) }
    }
}

// MARK: - Playlists

extension Origin {
    private mutating func playlist(_ request: FetchRequest, at time: Int, _ latency: Int) -> FetchOutcome {
        if isExpired(request, at: time) { return page(403, request) }
        if let event = active(.refusedPlaylist, at: time) { return page([404, 500, 503][event.pick(0...2)], request) }
        if active(.pagePlaylist, at: time) != nil { return text("<html>no</html>", request) }
        var asOf = time
        if let event = active(.stalePlaylist, at: time) { asOf = event.at }
        if let event = active(.laggingPlaylist, at: time) { asOf = time - event.pick(3...8) * 1000 }
        guard let (text, listed, hasEnded, era) = playlist(asOf: asOf, at: time, Self.variant(of: request)) else {
            return page(404, request)
        }
        if active(.cutPlaylist, at: time) != nil {
            return bytes(Array(text.utf8.prefix(text.utf8.count / 2)), request, endsAtClose: true)
        }
        log.reloads.append(OriginLog.Reload(at: time + latency, listed: listed, hasEnded: hasEnded, era: era))
        return history.has(.dash) ? manifest(text, request, at: time) : self.text(text, request)
    }

    private func playlist(asOf time: Int, at now: Int, _ variant: Int) -> (String, Range<Int>, Bool, Int)? {
        let number = broadcast.era(at: now)
        let era = broadcast.eras[number]
        let edge = broadcast.edge(at: time + history.lead)
        let hasEnded = broadcast.endsAt.map { $0 <= time } ?? false
        if edge > era.firstSegment {
            let listed = max(era.firstSegment, edge - history.window)..<edge
            return (text(of: listed, number, hasEnded: hasEnded, at: time, variant), listed, hasEnded, number)
        }
        // A new encoder without segments has no playlist yet. The playlist of one that ended stays.
        guard era.followsEnd, number > 0 else { return nil }
        let before = broadcast.eras[number - 1].firstSegment
        guard before < edge else { return nil }
        let listed = max(before, edge - history.window)..<edge
        return (text(of: listed, number - 1, hasEnded: true, at: time, variant), listed, true, number - 1)
    }

    private func text(
        of listed: Range<Int>, _ number: Int, hasEnded: Bool, at time: Int, _ variant: Int = 0,
        _ rendition: AudioRendition? = nil
    ) -> String {
        if history.has(.dash) { return manifest(of: listed, number, hasEnded: hasEnded, at: time) }
        let era = broadcast.eras[number]
        let first = broadcast.segments[listed.lowerBound]
        let base = first.tagCount - (isTagged(first, era, at: time) ? 1 : 0)
        var text = "#EXTM3U\n#EXT-X-VERSION:6\n#EXT-X-TARGETDURATION:\(history.targetDuration)\n"
        text += "#EXT-X-MEDIA-SEQUENCE:\(listed.lowerBound + era.numberOffset)\n"
        text += "#EXT-X-DISCONTINUITY-SEQUENCE:\(max(0, base))\n"
        if active(.excessLines, at: time) != nil { text += Self.excess }
        var (key, initSection): (Int?, String?)
        for index in listed {
            let segment = broadcast.segments[index]
            if isTagged(segment, era, at: time), index > listed.lowerBound || base >= 0 {
                text += "#EXT-X-DISCONTINUITY\n"
            }
            if segment.initSection != initSection, let tag = mapTag(segment, era, rendition) {
                // It is clear, whatever its segments are.
                if key != nil, rendition == nil { text += "#EXT-X-KEY:METHOD=NONE\n" }
                text += tag
                (key, initSection) = (nil, segment.initSection)
            }
            if let number = segment.key, rendition == nil {
                let vector = SegmentCipher.vector(index).map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }
                text += "#EXT-X-KEY:METHOD=AES-128,URI=\"key-\(number).bin\",IV=0x\(vector.joined())\n"
            } else if key != nil, rendition == nil {
                text += "#EXT-X-KEY:METHOD=NONE\n"
            }
            key = segment.key
            if segment.fault?.thing == .gapSegment, rendition == nil { text += "#EXT-X-GAP\n" }
            if rendition == nil { text += segment.cues.map { $0 + "\n" }.joined() }
            if history.isDated { text += "#EXT-X-PROGRAM-DATE-TIME:\(Self.date(segment.start))\n" }
            text += rendition.map { audioEntry(segment, era, $0) } ?? entry(segment, era, at: time, variant)
        }
        return text + (hasEnded ? "#EXT-X-ENDLIST\n" : "")
    }

    func isTagged(_ segment: Broadcast.Segment, _ era: Broadcast.Era, at time: Int) -> Bool {
        segment.isTagged && segment.taggedFrom <= time && segment.index > era.firstSegment
    }

    private func entry(
        _ segment: Broadcast.Segment, _ era: Broadcast.Era, at time: Int, _ variant: Int
    ) -> String {
        let rest = "\(segment.duration % 1000 + 1000)".dropFirst()
        var text = "#EXTINF:\(segment.duration / 1000).\(rest),\n"
        let suffix = history.has(.fragmented) ? "m4s" : "ts"
        var name = "\(era.name)-seg-\(segment.index).\(suffix)"
        if history.has(.byteRanges) {
            let range = packed(segment.index, variant)
            text += "#EXT-X-BYTERANGE:\(range.count)@\(range.lowerBound)\n"
            name = "\(era.name)-pack-\(segment.index / Self.packSize).\(suffix)"
        }
        return text + name + (history.has(.signedURLs) ? "?signature=\(time)" : "") + "\n"
    }

    /// The bytes of a segment in the file that it is a range of.
    private func packed(_ index: Int, _ variant: Int) -> Range<Int> {
        let first = index / Self.packSize * Self.packSize
        let start = (first..<index).reduce(0) { $0 + size(of: $1, variant) }
        return start..<start + size(of: index, variant)
    }

    private func size(of index: Int, _ variant: Int) -> Int {
        let segment = broadcast.segments[index]
        let size = segment.bodies[variant].count
        return segment.key == nil ? size : (size / 16 + 1) * 16
    }

    /// What exceeds the limits of a playlist and changes nothing of its media: comments, a line that is too long, variables, and
    /// a tag with too many attributes.
    private static let excess: String = {
        let comments = (0..<300).map { "# comment \($0)\n" }
        let ranges = (0..<1200).map { "#EXT-X-DATERANGE:ID=\"excess \($0)\",X-A=\"\($0)\"\n" }
        let variables = (0..<300).map { "#EXT-X-DEFINE:NAME=\"v\($0)\",VALUE=\"1\"\n" }
        let attributes = (0..<300).map { "A\($0)=1" }.joined(separator: ",")
        return (comments + variables + ranges).joined() + "#" + String(repeating: "c", count: 70_000) + "\n"
            + "#EXT-X-DATERANGE:ID=\"attributes\",\(attributes)\n"
    }()

    /// A date in milliseconds since the channel began, as EXT-X-PROGRAM-DATE-TIME.
    static func date(_ time: Int) -> String {
        ProgramDateTime(millisecondsSince1970: epoch + Int64(time)).text
    }
}

// MARK: - The backup

extension Origin {
    /// Another packager of the same program, with numbers and names of its own and without faults.
    private mutating func backupAnswer(_ request: FetchRequest, at time: Int) -> FetchOutcome {
        switch request.purpose {
        case .multivariantPlaylist: return text("#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=300000\nmain.m3u8\n", request)
        case .mediaPlaylist:
            let edge = broadcast.edge(at: time)
            var text = "#EXTM3U\n#EXT-X-TARGETDURATION:\(history.targetDuration)\n"
            let first = max(0, edge - history.window)
            text += "#EXT-X-MEDIA-SEQUENCE:\(first + 7000)\n"
            var initSection: String?
            for segment in broadcast.segments[first..<edge] {
                if segment.isTagged, segment.index > first { text += "#EXT-X-DISCONTINUITY\n" }
                if segment.initSection != initSection { text += mapTag(segment, broadcast.eras[0], nil) ?? "" }
                initSection = segment.initSection
                if history.isDated { text += "#EXT-X-PROGRAM-DATE-TIME:\(Self.date(segment.start))\n" }
                let rest = "\(segment.duration % 1000 + 1000)".dropFirst()
                text += "#EXTINF:\(segment.duration / 1000).\(rest),\nbackup-seg-\(segment.index).ts\n"
            }
            return self.text(text, request)
        case .segment:
            guard let index = Self.number(in: request.url, after: "-seg-"), broadcast.segments.indices.contains(index),
                broadcast.segments[index].end <= time
            else { return page(404, request) }
            log.backupAttempts.append(
                OriginLog.Attempt(segment: index, askedAt: time, answeredAt: time + 60, outcome: .whole))
            return bytes(broadcast.segments[index].body, request)
        case .map: return initSection(request, at: time, 60)
        case .key: return page(404, request)
        }
    }
}

// MARK: - Audio renditions

extension Origin {
    static func rendition(of request: FetchRequest) -> AudioRendition? {
        number(in: request.url, after: "live/audio-").flatMap { AudioRendition(rawValue: $0) }
    }

    private func audioEntry(_ segment: Broadcast.Segment, _ era: Broadcast.Era, _ rendition: AudioRendition) -> String {
        let rest = "\(segment.duration % 1000 + 1000)".dropFirst()
        return
            "#EXTINF:\(segment.duration / 1000).\(rest),\naudio-\(rendition.rawValue)-\(era.name)-seg-\(segment.index).ts\n"
    }

    private func audioPlaylist(_ rendition: AudioRendition, _ request: FetchRequest, at time: Int) -> FetchOutcome {
        if isExpired(request, at: time) { return page(403, request) }
        var asOf = time
        if let event = active(.stalePlaylist, at: time) { asOf = event.at }
        if rendition == .second {
            if let event = history.all(.languageComes).first, time < event.at { return page(404, request) }
            asOf -= languageLag * history.segmentDuration
        }
        let number = broadcast.era(at: asOf)
        let era = broadcast.eras[number]
        var edge = broadcast.edge(at: asOf)
        var hasEnded = broadcast.endsAt.map { $0 <= asOf } ?? false
        if rendition == .second, let event = history.all(.languageEnds).first, asOf > event.at {
            (edge, hasEnded) = (min(edge, broadcast.edge(at: event.at)), true)
        }
        let listed = max(era.firstSegment, edge - history.window)..<max(era.firstSegment, edge)
        guard !listed.isEmpty else { return page(404, request) }
        return text(text(of: listed, number, hasEnded: hasEnded, at: time, 0, rendition), request)
    }

    private mutating func audioSegment(
        _ rendition: AudioRendition, _ request: FetchRequest, at time: Int, _ latency: Int
    ) -> FetchOutcome {
        guard let index = segmentIndex(request, rendition) else { return page(404, request) }
        let segment = broadcast.segments[index]
        let isThere =
            segment.end - history.lead <= time && !segment.goneAudio.contains(rendition.rawValue)
            && time < (leavingTime(index) == .max ? .max : leavingTime(index) + history.availability)
        log.audioAttempts[rendition, default: []].append(
            OriginLog.Attempt(
                segment: index, askedAt: time, answeredAt: time + latency, outcome: isThere ? .whole : .failed))
        return isThere ? bytes(segment.audioBodies[rendition] ?? [], request) : page(404, request)
    }
}

// MARK: - Segments

extension Origin {
    func segmentIndex(_ request: FetchRequest, _ rendition: AudioRendition? = nil) -> Int? {
        if history.has(.dash) { return templateIndex(request, rendition) }
        let index: Int?
        if history.has(.byteRanges), rendition == nil {
            guard let pack = Self.number(in: request.url, after: "-pack-"), let range = request.byteRange else {
                return nil
            }
            index = (pack * Self.packSize..<(pack + 1) * Self.packSize).first {
                broadcast.segments.indices.contains($0)
                    && UInt64(packed($0, Self.variant(of: request)).lowerBound) == range.offset
            }
        } else {
            index = Self.number(in: request.url, after: "-seg-")
        }
        return index.flatMap { broadcast.segments.indices.contains($0) ? $0 : nil }
    }

    private mutating func segment(_ request: FetchRequest, at time: Int, _ latency: Int) -> (FetchOutcome, Int) {
        guard let index = segmentIndex(request) else { return (page(404, request), latency) }
        let segment = broadcast.segments[index]
        var latency = latency
        attempts[index, default: 0] += 1
        var outcome = page(404, request)
        var result = OriginLog.Outcome.failed
        let leaves = broadcast.edge(at: time) - history.window > index ? leavingTime(index) : Int.max
        if segment.end - history.lead <= time, leaves == Int.max || time < leaves + history.availability {
            (outcome, result) = available(segment, request, attempts[index] ?? 1, &latency)
        }
        let era = request.url.split(separator: "/").last?.prefix { $0.isNumber }
        log.attempts.append(
            OriginLog.Attempt(
                segment: index, askedAt: time, answeredAt: time + latency, outcome: result,
                era: era.flatMap { Int($0) }, variant: Self.variant(of: request)))
        return (outcome, latency)
    }

    /// When a segment leaves the playlist.
    private func leavingTime(_ index: Int) -> Int {
        let next = index + history.window
        return next < broadcast.segments.count ? broadcast.segments[next].end : .max
    }

    private func available(
        _ segment: Broadcast.Segment, _ request: FetchRequest, _ attempt: Int, _ latency: inout Int
    ) -> (FetchOutcome, OriginLog.Outcome) {
        let variant = Self.variant(of: request)
        var (body, isCut) = (segment.bodies[variant], false)
        if let fault = segment.fault {
            let isOver = attempt > fault.pick(1...3)
            switch fault.thing {
            case .refusedSegment where !isOver:
                return (page([403, 404, 500, 503][fault.pick(0...3, 1)], request), .failed)
            case .goneSegment: return (page(404, request), .failed)
            case .pageSegment: return (text("<html>no</html>", request), .failed)
            case .pageOnce where !isOver: return (text("<html>wait</html>", request), .failed)
            case .cutSegment where !isOver: isCut = true
            case .damagedSegment: fault.damage(&body)
            case .brokenSegment where !isOver: return (.failure(FetchError(.shortBody, url: request.url)), .failed)
            case .lateSegment where attempt == 1: latency += fault.pick(1000...6000)
            default: break
            }
        }
        if let key = segment.key {
            body = SegmentCipher.encrypt(
                body, key: SegmentCipher.key(key), vector: SegmentCipher.vector(segment.index))
        }
        var (status, headers) = (200, [FetchAnswer.Header]())
        if history.has(.byteRanges) {
            let range = packed(segment.index, variant)
            let field = "bytes \(range.lowerBound)-\(range.upperBound - 1)/*"
            (status, headers) = (206, [FetchAnswer.Header(name: "Content-Range", value: field)])
        }
        if isCut { body = Array(body.prefix(body.count / 3 + 77)) }
        let answer = FetchAnswer(
            status: status, finalURL: request.url, headers: headers, body: body, endsAtClose: isCut)
        return (.success(answer), isCut ? .cut : .whole)
    }
}
