import Decrypt
import Playlist
import Support

/// The answers for segments, keys, sections and lists of assets.
extension ChannelChecker {
    /// Segments that wait for a key or a section at most.
    private static let mostWaiting = 64

    mutating func handle(_ answer: CheckedAnswer, as kind: CheckTarget.Kind, _ resource: CheckTarget.Resource) {
        switch kind {
        case .segment(let stream, let sequence): handleSegment(answer, stream, sequence)
        case .key: handleKey(answer, resource)
        case .map: handleMap(answer, resource)
        case .assets: handleAssets(answer)
        case .asset:
            log.recordJudgement(.interstitials)
            if let refusal = answer.refusal { addAsset("unreachable", answer, "X-ASSET-URI \(refusal)") }
        case .playlist: return
        }
    }

    // MARK: - Segments

    private mutating func handleSegment(_ answer: CheckedAnswer, _ stream: Int, _ sequence: UInt64) {
        guard let listed = streams[stream].playlist.listed[sequence] else { return }
        let subject = streams[stream].url
        guard answer.isSuccess else {
            TransferRules.judge(answer, as: .other, of: subject, sequence: sequence, into: &log)
            judgeRefusal(answer, listed, of: subject)
            return
        }
        if listed.removedAt != nil { log.recordJudgement(.removedSegments) }
        guard streams[stream].media.measured[sequence] == nil else { return }
        if waiting.count >= Self.mostWaiting { waiting.removeFirst() }
        judgeAnswer(answer, listed.segment, stream)
        segmentCount += 1
        byteCount += answer.body.count
        waiting.append((stream, sequence, answer.body))
    }

    /// The bytes may still be encrypted: only what their headers say.
    private mutating func judgeAnswer(_ answer: CheckedAnswer, _ segment: ScannedSegment, _ stream: Int) {
        if answer.status != nil {
            hasCrossOrigin.segments =
                (hasCrossOrigin.segments ?? true) && answer.header("access-control-allow-origin") != nil
        }
        let container =
            segment.key == nil ? SegmentReader.container(of: answer.body) : nil
        TransferRules.judge(
            answer, as: container.map { .media($0) } ?? .other, of: streams[stream].url, sequence: segment.sequence,
            into: &log)
        guard answer.status != nil, let container, !streams[stream].isIFrames else { return }
        log.recordJudgement(.refusedNames)
        if let reason = RefusedName.reason(segment.uri, container: container) {
            log.add(
                .refusedNames, "name", of: streams[stream].url,
                at: FindingPlace(uri: segment.uri, sequence: segment.sequence, line: segment.line), reason)
        }
    }

    /// Rule 14: a listed or lately removed segment that is not there.
    private mutating func judgeRefusal(
        _ answer: CheckedAnswer, _ listed: PlaylistRecord.Listed, of subject: String
    ) {
        guard let refusal = answer.refusal else { return }
        log.recordJudgement(.removedSegments)
        let place = FindingPlace(
            uri: listed.segment.uri, sequence: listed.segment.sequence, line: listed.segment.line,
            moment: answer.time.requested)
        let isRefusal =
            [401, 429].contains(answer.status) || answer.status == 503 && answer.header("retry-after") != nil
        guard let removed = listed.removedAt, removed <= answer.time.requested else {
            log.add(
                .removedSegments, isRefusal ? "refused" : "listed", level: isRefusal ? .note : nil, of: subject,
                at: place, "a listed segment \(refusal)")
            return
        }
        // A server that fails, or wants another token, has not removed anything.
        let isFailing = answer.status.map { $0 == 403 || $0 >= 500 } ?? false
        guard answer.time.requested - removed <= listed.term, !isRefusal, !isFailing else { return }
        log.add(
            .removedSegments, "removed", of: subject, at: place,
            "a segment \(refusal) \((answer.time.requested - removed).secondsText) after its "
                + "removal; it has to stay for \(listed.term.secondsText)")
    }

    // MARK: - Keys and sections

    private mutating func handleKey(_ answer: CheckedAnswer, _ resource: CheckTarget.Resource) {
        guard answer.isSuccess else {
            if let refusal = answer.refusal {
                log.add(
                    .keys, "unreachable", level: [401, 403].contains(answer.status) ? .note : nil, of: resource.url,
                    at: FindingPlace(uri: resource.url, moment: answer.time.received),
                    "the key \(refusal)")
            }
            return
        }
        log.recordJudgement(.keys)
        if answer.body.count != 16 {
            log.add(
                .keys, "size", of: resource.url, at: FindingPlace(uri: resource.url, moment: answer.time.received),
                "the key has \(answer.body.count) bytes and not 16")
        }
        keys[resource.url] = answer.body
    }

    private mutating func handleMap(_ answer: CheckedAnswer, _ resource: CheckTarget.Resource) {
        guard let map = maps[resource] else { return }
        guard answer.isSuccess else {
            if let refusal = answer.refusal {
                log.recordJudgement(.initSection)
                log.add(
                    .initSection, "unreachable", of: resource.url,
                    at: FindingPlace(uri: resource.url, moment: answer.time.received),
                    "the init section \(refusal)")
            }
            return
        }
        TransferRules.judge(answer, as: .other, of: resource.url, into: &log)
        if let key = map.key {
            guard let bytes = keys[URIReference.withoutFragment(key.uri)],
                let clear = try? Self.decrypt(answer.body, key, bytes, sequence: 0)
            else { return }
            sections[map] = clear
        } else {
            sections[map] = answer.body
        }
    }

    private static func decrypt(
        _ body: [UInt8], _ key: ScannedKey, _ bytes: [UInt8], sequence: UInt64
    ) throws(DecryptError) -> [UInt8] {
        try SegmentDecryptor.decrypt(
            body,
            under: SegmentKey(
                method: .aes128, uri: key.uri, initializationVector: key.initializationVector.flatMap(Self.vector)),
            key: bytes, keyURL: key.uri, mediaSequence: sequence)
    }

    private static func vector(_ text: String) -> [UInt8]? {
        let digits = text.utf8.dropFirst(2)
        guard digits.count <= 32 else { return nil }
        return Hexadecimal.decode([UInt8](repeating: 0x30, count: 32 - digits.count) + digits)
    }

    /// Measures the segments that have all they need.
    mutating func judgeWaiting() {
        var rest: [(stream: Int, sequence: UInt64, body: [UInt8])] = []
        let items = waiting
        waiting = []
        for item in items where !measure(item.body, item.stream, item.sequence) { rest.append(item) }
        waiting = rest
    }

    /// - Returns: false if the key or the section is still to come.
    private mutating func measure(_ body: [UInt8], _ stream: Int, _ sequence: UInt64) -> Bool {
        guard let segment = streams[stream].playlist.listed[sequence]?.segment else { return true }
        var initialization: [UInt8]?
        if let map = segment.map {
            guard let section = sections[map] else { return false }
            initialization = section
        }
        var clear = body
        let place = FindingPlace(uri: segment.uri, sequence: sequence, line: segment.line)
        let subject = streams[stream].url
        if let key = segment.key {
            guard let bytes = keys[URIReference.withoutFragment(key.uri)] else { return false }
            guard bytes.count == 16 else { return true }
            log.recordJudgement(.keys)
            do throws(DecryptError) { clear = try Self.decrypt(body, key, bytes, sequence: sequence) } catch {
                log.add(.keys, "undecryptable", of: subject, at: place, "the segment does not decrypt with its key")
                return true
            }
            if clear.count > 376, clear[0] != 0x47, clear[188] == 0x47, clear[376] == 0x47 {
                log.add(.keys, "vector", of: subject, at: place, "the first block does not decrypt: the IV is wrong")
                return true
            }
        }
        guard !streams[stream].isIFrames else { return true }
        guard let facts = SegmentReader.read(clear, initialization: initialization) else {
            if segment.key != nil {
                log.add(.keys, "no-media", of: subject, at: place, "the segment decrypts to no media")
            } else {
                log.add(.transfers, "not-media", of: subject, at: place, Self.describe(clear))
            }
            return true
        }
        if facts.isProtected { protection = protection ?? facts.error ?? "scrambled" }
        streams[stream].media.append(segment, facts, into: &log)
        return true
    }

    private static func describe(_ bytes: [UInt8]) -> String {
        guard !bytes.isEmpty else { return "the segment is empty" }
        return "\(DocumentKind(foreign: bytes)?.description ?? "no known container") came in place of media"
    }

    // MARK: - Interstitials

    private mutating func handleAssets(_ answer: CheckedAnswer) {
        log.recordJudgement(.interstitials)
        guard answer.isSuccess else {
            if let refusal = answer.refusal { addAsset("unreachable", answer, "X-ASSET-LIST \(refusal)") }
            return
        }
        if let problem = AssetList.problem(in: answer.body) { addAsset("list", answer, problem) }
    }

    private mutating func addAsset(_ cause: String, _ answer: CheckedAnswer, _ message: String) {
        log.add(
            .interstitials, cause, of: url, at: FindingPlace(uri: answer.url, moment: answer.time.received), message)
    }
}
