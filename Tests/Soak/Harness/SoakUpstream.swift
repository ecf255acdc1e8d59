import Fetch
import Playlist
import Support
import TestCipher
import TestSupport
import Tracker

/// An upstream that answers by the script. Session times must not go back.
struct SoakUpstream {
    static let url = "http://soak.example/master.m3u8"
    /// Duration of the playlist, milliseconds.
    static let window = 40_000
    /// Availability of a segment after its first listing, milliseconds.
    static let availability = 120_000

    let script: SoakScript
    /// Whether limits are exceeded every few minutes.
    let exceedsLimits: Bool
    /// Number of requests for each segment with a fault.
    private var attempts: [Int: Int] = [:]
    private(set) var requests = 0

    init(_ script: SoakScript, exceedsLimits: Bool = false) {
        self.script = script
        self.exceedsLimits = exceedsLimits
    }

    mutating func answer(_ request: FetchRequest, at now: Duration) -> (FetchOutcome, Duration) {
        requests += 1
        let time = now.milliseconds
        let fault = script.fault(at: time)
        if exceedsLimits, let refusal = SoakExcess.refusal(of: request, at: time) {
            return (refusal, .milliseconds(50))
        }
        let usual = Duration.milliseconds(30 + requests * 37 % 90)
        switch fault?.kind {
        case .unreachable: return (.failure(FetchError(.refused, url: request.url)), usual)
        case .silent: return (.failure(FetchError(.timedOut, url: request.url)), .seconds(8))
        case .rateLimited: return (tooManyRequests(request), usual)
        case .slow: return (outcome(of: request, at: time, fault), .milliseconds(1500 + requests * 517 % 4000))
        default:
            let outcome = outcome(of: request, at: time, fault)
            guard let number = segmentNumber(request), let late = script.segments[number].fault,
                late.kind == .segmentIsLate
            else { return (outcome, usual) }
            return (outcome, .milliseconds(late.value))
        }
    }

    private mutating func outcome(of request: FetchRequest, at time: Int, _ fault: SoakFault?) -> FetchOutcome {
        if request.purpose == .multivariantPlaylist { return text(master(at: time), request) }
        guard request.url.hasSuffix("?token=\(script.token(at: time))") else { return errorPage(403, request) }
        switch request.purpose {
        case .mediaPlaylist: return playlist(request, at: time, fault)
        case .key:
            if fault?.kind == .keyRefused { return errorPage(503, request) }
            return bytes(SegmentCipher.key(number(in: request.url, after: "key-") ?? 0), request)
        case .segment: return segment(request, at: time)
        case .map, .multivariantPlaylist: return errorPage(404, request)
        }
    }

    private func master(at time: Int) -> String {
        """
        #EXTM3U
        #EXT-X-STREAM-INF:BANDWIDTH=300000
        live/main.m3u8?token=\(script.token(at: time))

        """
    }

    private func tooManyRequests(_ request: FetchRequest) -> FetchOutcome {
        .success(
            FetchAnswer(
                status: 429, finalURL: request.url, headers: [.init(name: "Retry-After", value: "1")], body: []))
    }

    private func text(_ text: String, _ request: FetchRequest) -> FetchOutcome { bytes(Array(text.utf8), request) }

    private func bytes(_ body: [UInt8], _ request: FetchRequest, endsAtClose: Bool = false) -> FetchOutcome {
        .success(FetchAnswer(status: 200, finalURL: request.url, body: body, endsAtClose: endsAtClose))
    }

    private func errorPage(_ status: Int, _ request: FetchRequest) -> FetchOutcome {
        .success(FetchAnswer(status: status, finalURL: request.url, body: Array("<html>no</html>".utf8)))
    }

    private func number(in url: String, after prefix: String) -> Int? {
        url.ranges(of: prefix).last.flatMap { Int(url[$0.upperBound...].prefix { $0.isNumber }) }
    }
}

// MARK: - Playlists

extension SoakUpstream {
    private func playlist(_ request: FetchRequest, at time: Int, _ fault: SoakFault?) -> FetchOutcome {
        switch fault?.kind {
        case .stalePlaylist: return playlist(request, asOf: fault?.start ?? time, token: script.token(at: time))
        case .laggingPlaylist:
            return playlist(request, asOf: time - (fault?.value ?? 0), token: script.token(at: time))
        case .playlistRefused: return errorPage(fault?.value ?? 404, request)
        case .playlistIsHTML: return text("<html>no</html>", request)
        case .playlistTruncated:
            guard case .success(let whole) = playlist(request, asOf: time, token: script.token(at: time)) else {
                return errorPage(404, request)
            }
            return bytes(Array(whole.body.prefix(whole.body.count / 2)), request, endsAtClose: true)
        default: return playlist(request, asOf: time, token: script.token(at: time))
        }
    }

    private func playlist(_ request: FetchRequest, asOf time: Int, token: Int) -> FetchOutcome {
        let era = script.era(at: time)
        let edge = script.edge(at: time)
        if edge > era.firstSegment {
            return text(playlistText(era: era, edge, token, hasEnded: false, at: time), request)
        }
        // A new encoder without segments has no playlist yet. The playlist of the ended one is still available.
        guard era.followsEnd else { return errorPage(404, request) }
        return text(playlistText(era: script.era(before: era), edge, token, hasEnded: true, at: time), request)
    }

    private func playlistText(era: SoakScript.Era, _ edge: Int, _ token: Int, hasEnded: Bool, at time: Int) -> String {
        var first = edge
        while first > era.firstSegment, script.segments[edge - 1].end - script.segments[first - 1].start <= Self.window
        {
            first -= 1
        }
        let tagCount = first > 0 ? script.segments[first - 1].tagCount : 0
        let before = era.firstSegment > 0 ? script.segments[era.firstSegment - 1].tagCount : 0
        var text = "#EXTM3U\n#EXT-X-VERSION:6\n#EXT-X-TARGETDURATION:\(targetDuration(first..<edge))\n"
        text +=
            "#EXT-X-MEDIA-SEQUENCE:\(first + era.numberOffset)\n#EXT-X-DISCONTINUITY-SEQUENCE:\(tagCount - before)\n"
        let isExcessive = exceedsLimits && SoakExcess.isReached(at: time)
        if isExcessive { text += SoakExcess.head }
        var key: Int?
        for number in first..<edge { text += entry(number, era, token, &key) }
        if isExcessive { text += SoakExcess.end }
        return text + (hasEnded ? "#EXT-X-ENDLIST\n" : "")
    }

    /// Returns TARGETDURATION, which is raised while a segment from the time of that fault is listed.
    private func targetDuration(_ numbers: Range<Int>) -> Int {
        let isRaised = numbers.contains { script.fault(at: script.segments[$0].end)?.kind == .targetDurationRaised }
        return SoakScript.targetDuration + (isRaised ? 3 : 0)
    }

    private func entry(_ number: Int, _ era: SoakScript.Era, _ token: Int, _ key: inout Int?) -> String {
        let segment = script.segments[number]
        var text = segment.isTagged && number > era.firstSegment ? "#EXT-X-DISCONTINUITY\n" : ""
        if let now = segment.key {
            // Each segment has an explicit IV, so that changed media sequence numbers have no effect.
            text += "#EXT-X-KEY:METHOD=AES-128,URI=\"key-\(now).bin?token=\(token)\",IV=0x\(vector(number))\n"
        } else if key != nil {
            text += "#EXT-X-KEY:METHOD=NONE\n"
        }
        key = segment.key
        if segment.fault?.kind == .gap { text += "#EXT-X-GAP\n" }
        if script.isDated {
            let date = script.epoch.advanced(by: .milliseconds(segment.start))
            text += "#EXT-X-PROGRAM-DATE-TIME:\(date.text)\n"
        }
        let rest = "\(segment.duration % 1000 + 1000)".dropFirst()
        return text + segment.tags
            + "#EXTINF:\(segment.duration / 1000).\(rest),\n\(era.name)-seg-\(number).ts?token=\(token)\n"
    }

    private func vector(_ number: Int) -> String {
        SegmentCipher.vector(number).map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
    }
}

// MARK: - Segments

extension SoakUpstream {
    private func segmentNumber(_ request: FetchRequest) -> Int? {
        guard request.purpose == .segment else { return nil }
        return number(in: request.url, after: "-seg-").flatMap { script.segments.indices.contains($0) ? $0 : nil }
    }

    private mutating func segment(_ request: FetchRequest, at time: Int) -> FetchOutcome {
        guard let number = segmentNumber(request) else { return errorPage(404, request) }
        let segment = script.segments[number]
        guard segment.end <= time, time < segment.end + Self.availability else { return errorPage(404, request) }
        var body = script.body(of: number)
        if let fault = segment.fault {
            attempts[number, default: 0] += 1
            if let failed = failed(fault, &body, attempts[number] ?? 1, request) { return failed }
        }
        guard let key = segment.key else { return bytes(body, request) }
        let sent = SegmentCipher.encrypt(body, key: SegmentCipher.key(key), vector: SegmentCipher.vector(number))
        return bytes(sent, request)
    }

    /// Returns the response to a request for a segment with a fault; nil to send `body`, which may be damaged.
    private func failed(
        _ fault: SoakFault, _ body: inout [UInt8], _ attempt: Int, _ request: FetchRequest
    ) -> FetchOutcome? {
        switch fault.kind {
        case .segmentRefused: return attempt <= fault.value ? errorPage(404, request) : nil
        case .segmentIsGone: return errorPage(404, request)
        case .segmentIsHTML: return text("<html>no</html>", request)
        case .segmentTruncated:
            return attempt <= fault.value
                ? bytes(Array(body.prefix(body.count / 3 + 77)), request, endsAtClose: true) : nil
        case .segmentBreaksOff:
            return attempt <= fault.value ? .failure(FetchError(.shortBody, url: request.url)) : nil
        case .segmentIsDamaged:
            Self.damage(&body, seed: UInt64(fault.value))
            return nil
        default: return nil
        }
    }

    /// Removes packets and changes bytes.
    private static func damage(_ body: inout [UInt8], seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        for _ in 0..<Int.random(in: 1...40, using: &random) {
            body[Int.random(in: body.indices, using: &random)] = UInt8.random(in: 0...255, using: &random)
        }
        let packets = body.count / 188
        let lost = Int.random(in: 0...6, using: &random)
        let first = Int.random(in: 0..<max(1, packets - lost), using: &random)
        body.removeSubrange(first * 188..<(first + lost) * 188)
    }
}

extension Duration {
    /// Rounded down.
    var milliseconds: Int { Int(components.seconds) * 1000 + Int(components.attoseconds / 1_000_000_000_000_000) }
}
