import Playlist
import TestSupport
import Tracker

/// Answers as the script says. It is asked with the session's time, which never goes back.
struct SoakUpstream {
    static let url = "http://soak.example/master.m3u8"
    /// Milliseconds that a list reaches back.
    static let window = 40_000
    /// A segment is there for so many milliseconds after it was listed first.
    static let kept = 120_000

    let script: SoakScript
    /// Tries of the segments that something is wrong with.
    private var tries: [Int: Int] = [:]
    private(set) var requests = 0

    init(_ script: SoakScript) { self.script = script }

    mutating func answer(_ request: FetchRequest, at now: Duration) -> (FetchOutcome, Duration) {
        requests += 1
        let time = now.milliseconds
        let fault = script.fault(at: time)
        let usual = Duration.milliseconds(30 + requests * 37 % 90)
        switch fault?.kind {
        case .unreachable: return (.failure(FetchError(.refused, url: request.url)), usual)
        case .silent: return (.failure(FetchError(.timedOut, url: request.url)), .seconds(8))
        case .metered: return (metered(request), usual)
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
        guard request.url.hasSuffix("?token=\(script.token(at: time))") else { return refused(403, request) }
        switch request.purpose {
        case .mediaPlaylist: return playlist(request, at: time, fault)
        case .key:
            if fault?.kind == .keyRefused { return refused(503, request) }
            return bytes(SegmentCipher.key(number(in: request.url, behind: "key-") ?? 0), request)
        case .segment: return segment(request, at: time)
        case .map, .multivariantPlaylist: return refused(404, request)
        }
    }

    private func master(at time: Int) -> String {
        """
        #EXTM3U
        #EXT-X-STREAM-INF:BANDWIDTH=300000
        live/main.m3u8?token=\(script.token(at: time))

        """
    }

    private func metered(_ request: FetchRequest) -> FetchOutcome {
        .success(
            FetchAnswer(
                status: 429, finalURL: request.url, headers: [.init(name: "Retry-After", value: "1")], body: []))
    }

    private func text(_ text: String, _ request: FetchRequest) -> FetchOutcome { bytes(Array(text.utf8), request) }

    private func bytes(_ body: [UInt8], _ request: FetchRequest, endsAtClose: Bool = false) -> FetchOutcome {
        .success(FetchAnswer(status: 200, finalURL: request.url, body: body, endsAtClose: endsAtClose))
    }

    private func refused(_ status: Int, _ request: FetchRequest) -> FetchOutcome {
        .success(FetchAnswer(status: status, finalURL: request.url, body: Array("<html>no</html>".utf8)))
    }

    private func number(in url: String, behind word: String) -> Int? {
        url.ranges(of: word).last.flatMap { Int(url[$0.upperBound...].prefix { $0.isNumber }) }
    }
}

// MARK: - Lists

extension SoakUpstream {
    private func playlist(_ request: FetchRequest, at time: Int, _ fault: SoakFault?) -> FetchOutcome {
        switch fault?.kind {
        case .stalePlaylist: return list(request, asOf: fault?.start ?? time, token: script.token(at: time))
        case .laggingPlaylist: return list(request, asOf: time - (fault?.value ?? 0), token: script.token(at: time))
        case .playlistRefused: return refused(fault?.value ?? 404, request)
        case .playlistIsHTML: return text("<html>no</html>", request)
        case .playlistTruncated:
            guard case .success(let whole) = list(request, asOf: time, token: script.token(at: time)) else {
                return refused(404, request)
            }
            return bytes(Array(whole.body.prefix(whole.body.count / 2)), request, endsAtClose: true)
        default: return list(request, asOf: time, token: script.token(at: time))
        }
    }

    private func list(_ request: FetchRequest, asOf time: Int, token: Int) -> FetchOutcome {
        let era = script.era(at: time)
        let edge = script.edge(at: time)
        if edge > era.floor { return text(list(era: era, edge, token, hasEnded: false), request) }
        // A new encoder without a segment has no list yet; that of one which ended is still there.
        guard era.isBehindEnd else { return refused(404, request) }
        return text(list(era: script.era(before: era), edge, token, hasEnded: true), request)
    }

    private func list(era: SoakScript.Era, _ edge: Int, _ token: Int, hasEnded: Bool) -> String {
        var first = edge
        while first > era.floor, script.segments[edge - 1].end - script.segments[first - 1].start <= Self.window {
            first -= 1
        }
        let tagged = first > 0 ? script.segments[first - 1].tagged : 0
        let before = era.floor > 0 ? script.segments[era.floor - 1].tagged : 0
        var text = "#EXTM3U\n#EXT-X-VERSION:6\n#EXT-X-TARGETDURATION:\(targetDuration(first..<edge))\n"
        text += "#EXT-X-MEDIA-SEQUENCE:\(first + era.shift)\n#EXT-X-DISCONTINUITY-SEQUENCE:\(tagged - before)\n"
        var key: Int?
        for number in first..<edge { text += entry(number, era, token, &key) }
        return text + (hasEnded ? "#EXT-X-ENDLIST\n" : "")
    }

    /// Raised while a segment is listed that was made then.
    private func targetDuration(_ numbers: Range<Int>) -> Int {
        let isRaised = numbers.contains { script.fault(at: script.segments[$0].end)?.kind == .targetDurationRaised }
        return SoakScript.targetDuration + (isRaised ? 3 : 0)
    }

    private func entry(_ number: Int, _ era: SoakScript.Era, _ token: Int, _ key: inout Int?) -> String {
        let segment = script.segments[number]
        var text = segment.isTagged && number > era.floor ? "#EXT-X-DISCONTINUITY\n" : ""
        if let now = segment.key {
            // Each has its own vector, so that numbers which change are nobody's business.
            text += "#EXT-X-KEY:METHOD=AES-128,URI=\"key-\(now).bin?token=\(token)\",IV=0x\(vector(number))\n"
        } else if key != nil {
            text += "#EXT-X-KEY:METHOD=NONE\n"
        }
        key = segment.key
        if segment.fault?.kind == .gap { text += "#EXT-X-GAP\n" }
        if script.isDated {
            let date = SoakScript.epoch.advanced(by: .milliseconds(segment.start))
            text += "#EXT-X-PROGRAM-DATE-TIME:\(date.text)\n"
        }
        let rest = "\(segment.duration % 1000 + 1000)".dropFirst()
        return text + segment.marks
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
        return number(in: request.url, behind: "-seg-").flatMap { script.segments.indices.contains($0) ? $0 : nil }
    }

    private mutating func segment(_ request: FetchRequest, at time: Int) -> FetchOutcome {
        guard let number = segmentNumber(request) else { return refused(404, request) }
        let segment = script.segments[number]
        guard segment.end <= time, time < segment.end + Self.kept else { return refused(404, request) }
        var body = script.body(of: number)
        if let fault = segment.fault {
            tries[number, default: 0] += 1
            if let failed = failed(fault, &body, tries[number] ?? 1, request) { return failed }
        }
        guard let key = segment.key else { return bytes(body, request) }
        let sent = SegmentCipher.encrypt(body, key: SegmentCipher.key(key), vector: SegmentCipher.vector(number))
        return bytes(sent, request)
    }

    /// What comes instead of the segment; nil: it, perhaps changed.
    private func failed(
        _ fault: SoakFault, _ body: inout [UInt8], _ tries: Int, _ request: FetchRequest
    ) -> FetchOutcome? {
        switch fault.kind {
        case .segmentRefused: return tries <= fault.value ? refused(404, request) : nil
        case .segmentIsGone: return refused(404, request)
        case .segmentIsHTML: return text("<html>no</html>", request)
        case .segmentTruncated:
            return tries <= fault.value
                ? bytes(Array(body.prefix(body.count / 3 + 77)), request, endsAtClose: true) : nil
        case .segmentBreaksOff:
            return tries <= fault.value ? .failure(FetchError(.shortBody, url: request.url)) : nil
        case .segmentIsDamaged:
            Self.damage(&body, seed: UInt64(fault.value))
            return nil
        default: return nil
        }
    }

    /// Packets lost, and bytes changed.
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
