import Fetch
import Foundation
import Playlist
import Support
import Tracker

// The JSON of an index:
//
//     { "upstream": "http://…/main.m3u8", "about": "…", "variant": "max", "backups": [], "polling": "edge", "loop": true,
//       "exchanges": [
//         { "at": 0.25, "took": 0.031, "url": "http://…/seg-1.ts", "range": [offset, length], "status": 200,
//           "finalURL": "http://…", "headers": { "Content-Type": "video/mp2t" }, "body": "body/000001.ts" },
//         { "at": 4, "url": "http://…/main.m3u8", "status": 200, "text": "#EXTM3U…" },
//         { "at": 5, "demand": "480.1000000" },
//         { "at": "6.5", "url": "http://…/main.m3u8", "error": "timedOut" } ] }
//
// `variant`, `variants` ("all"), `onDemand` (true), `backups`, `polling`, `loop`, `took`, `range`, `finalURL` and `headers`
// are optional. An answer without `body` and `text` is empty. `"endsAtClose": true` marks a body that only the end of the
// connection delimited.

extension CaptureIndex: Decodable {
    private enum Key: CodingKey {
        case upstream, about, variant, variants, onDemand, backups, polling, loop, exchanges
    }

    package init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: Key.self)
        let lines = try values.decode([CapturedLine].self, forKey: .exchanges)
        self.init(
            upstream: try values.decode(String.self, forKey: .upstream),
            about: try values.decodeIfPresent(String.self, forKey: .about) ?? "",
            variant: try values.choice(of: .variant, or: .highest, "names no variant") { VariantChoice($0) },
            backups: try values.decodeIfPresent([String].self, forKey: .backups) ?? [],
            polling: try values.choice(
                of: .polling, or: .standard, "is not one of \(PollingMode.allCases.map(\.rawValue))"
            ) { PollingMode(rawValue: $0) },
            loopsFiles: try values.decodeIfPresent(Bool.self, forKey: .loop) ?? false,
            ladder: try values.choice(of: .variants, or: .one, "names no variants") { LadderChoice($0) },
            followsLadderOnDemand: try values.decodeIfPresent(Bool.self, forKey: .onDemand) ?? false,
            demands: lines.compactMap(\.demand), exchanges: lines.compactMap(\.exchange))
    }
}

private struct CapturedLine: Decodable {
    private enum Key: CodingKey { case at, demand }

    var exchange: CapturedExchange?
    var demand: CaptureIndex.Demand?

    init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: Key.self)
        guard let track = try values.decodeIfPresent(String.self, forKey: .demand) else {
            exchange = try CapturedExchange(from: decoder)
            return
        }
        demand = CaptureIndex.Demand(at: try values.decode(CaptureTime.self, forKey: .at).duration, track: track)
    }
}

extension CaptureIndex.Demand: Encodable {
    private enum Key: CodingKey { case at, demand }

    package func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: Key.self)
        try values.encode(CaptureTime(duration: at), forKey: .at)
        try values.encode(track, forKey: .demand)
    }
}

extension CaptureIndex {
    /// The text of an index up to its first exchange; each exchange follows on a line of its own.
    var opening: Data {
        get throws {
            let texts = [("upstream", upstream), ("about", about), ("variant", variant.text)]
            var values = try texts.map { ($0.0, try Self.encoder.encode($0.1)) }
            if ladder != .one { values.append(("variants", try Self.encoder.encode(ladder.text))) }
            if followsLadderOnDemand { values.append(("onDemand", try Self.encoder.encode(true))) }
            if !backups.isEmpty { values.append(("backups", try Self.encoder.encode(backups))) }
            if polling != .standard { values.append(("polling", try Self.encoder.encode(polling.rawValue))) }
            if loopsFiles { values.append(("loop", try Self.encoder.encode(true))) }
            let lines = values.map { "\"\($0.0)\": \(String(decoding: $0.1, as: UTF8.self))" }
            return Data("{\(lines.joined(separator: ",\n")),\n\"exchanges\": [".utf8)
        }
    }

    static var encoder: JSONEncoder {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return encoder
    }
}

extension CapturedExchange: Codable {
    private enum Key: CodingKey {
        case at, took, url, range, status, finalURL, headers, body, text, endsAtClose, error, stream, parts, continues
    }

    package init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: Key.self)
        self.init(
            at: try values.decode(CaptureTime.self, forKey: .at).duration,
            took: try values.decodeIfPresent(CaptureTime.self, forKey: .took)?.duration ?? .zero,
            url: try values.decode(String.self, forKey: .url),
            byteRange: try Self.byteRange(in: values),
            ending: try Self.ending(in: values), stream: try Self.stream(in: values))
    }

    package func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: Key.self)
        try values.encode(CaptureTime(duration: at), forKey: .at)
        if took != .zero { try values.encode(CaptureTime(duration: took), forKey: .took) }
        try values.encode(url, forKey: .url)
        try values.encodeIfPresent(byteRange.map { [$0.offset, $0.length] }, forKey: .range)
        switch ending {
        case .failure(let reason): try values.encode(reason.rawValue, forKey: .error)
        case .answer(let answer): try Self.encode(answer, in: &values)
        }
        guard let stream = stream.last else { return }
        try values.encode(stream.file, forKey: .stream)
        try values.encode(stream.parts, forKey: .parts)
        if stream.continues { try values.encode(true, forKey: .continues) }
    }

    private static func stream(in values: KeyedDecodingContainer<Key>) throws -> [CapturedStream] {
        guard let file = try values.decodeIfPresent(String.self, forKey: .stream) else { return [] }
        return [
            CapturedStream(
                file: file, parts: try values.decode([CapturedStream.Part].self, forKey: .parts),
                continues: try values.decodeIfPresent(Bool.self, forKey: .continues) ?? false)
        ]
    }

    private static func byteRange(in values: KeyedDecodingContainer<Key>) throws -> ByteRange? {
        guard let range = try values.decodeIfPresent([UInt64].self, forKey: .range) else { return nil }
        guard range.count == 2 else { throw values.malformed(.range, "is [offset, length]") }
        return ByteRange(offset: range[0], length: range[1])
    }

    private static func ending(in values: KeyedDecodingContainer<Key>) throws -> Ending {
        guard let name = try values.decodeIfPresent(String.self, forKey: .error) else {
            return .answer(try answer(in: values))
        }
        guard let reason = FetchError.Reason(rawValue: name) else {
            throw values.malformed(.error, "\(name) is not one of \(FetchError.Reason.allCases.map(\.rawValue))")
        }
        return .failure(reason)
    }

    private static func answer(in values: KeyedDecodingContainer<Key>) throws -> CapturedAnswer {
        let file = try values.decodeIfPresent(String.self, forKey: .body)
        let text = try values.decodeIfPresent(String.self, forKey: .text)
        guard file == nil || text == nil else { throw values.malformed(.body, "stands beside text") }
        let headers = try values.decodeIfPresent([String: String].self, forKey: .headers) ?? [:]
        return CapturedAnswer(
            status: try values.decode(Int.self, forKey: .status),
            finalURL: try values.decodeIfPresent(String.self, forKey: .finalURL),
            headers: headers.sorted { $0.key < $1.key }.map { FetchAnswer.Header(name: $0.key, value: $0.value) },
            body: file.map { .file($0) } ?? .text(text ?? ""),
            endsAtClose: try values.decodeIfPresent(Bool.self, forKey: .endsAtClose) ?? false)
    }

    private static func encode(_ answer: CapturedAnswer, in values: inout KeyedEncodingContainer<Key>) throws {
        try values.encode(answer.status, forKey: .status)
        try values.encodeIfPresent(answer.finalURL, forKey: .finalURL)
        if !answer.headers.isEmpty {
            let pairs = answer.headers.map { ($0.name, $0.value) }
            try values.encode(Dictionary(pairs) { first, second in "\(first), \(second)" }, forKey: .headers)
        }
        switch answer.body {
        case .file(let path): try values.encode(path, forKey: .body)
        case .text(let text): try values.encode(text, forKey: .text)
        }
        if answer.endsAtClose { try values.encode(true, forKey: .endsAtClose) }
    }
}

/// `[seconds, bytes]`.
extension CapturedStream.Part: Codable {
    package init(from decoder: any Decoder) throws {
        var values = try decoder.unkeyedContainer()
        let after = try values.decode(CaptureTime.self).duration
        let byteCount = try values.decode(Int.self)
        guard byteCount >= 0 else {
            throw DecodingError.dataCorruptedError(in: values, debugDescription: "not a number of bytes")
        }
        self.init(after: after, byteCount: byteCount)
    }

    package func encode(to encoder: any Encoder) throws {
        var values = encoder.unkeyedContainer()
        try values.encode(CaptureTime(duration: after))
        try values.encode(byteCount)
    }
}

extension KeyedDecodingContainer {
    /// The value named by the text of a key; `absent` if the key is missing.
    fileprivate func choice<Value>(
        of key: Key, or absent: Value, _ complaint: String, _ read: (String) -> Value?
    ) throws -> Value {
        guard let text = try decodeIfPresent(String.self, forKey: key) else { return absent }
        guard let value = read(text) else { throw malformed(key, "\(text) \(complaint)") }
        return value
    }

    fileprivate func malformed(_ key: Key, _ message: String) -> DecodingError {
        .dataCorruptedError(forKey: key, in: self, debugDescription: "\(key.stringValue) \(message)")
    }
}

/// A time in an index: decimal seconds as a JSON number or string, exact to the microsecond without binary rounding.
struct CaptureTime: Equatable, Codable {
    /// The longest capture, in seconds: thirty years.
    private static let limit = Decimal(1_000_000_000)

    let duration: Duration

    init(duration: Duration) { self.duration = duration }

    init(from decoder: any Decoder) throws {
        let value = try decoder.singleValueContainer()
        let text = try? value.decode(String.self)
        let seconds = if let text { Self.decimal(text) } else { try value.decode(Decimal.self) }
        guard let seconds, seconds >= 0, seconds < Self.limit else {
            throw DecodingError.dataCorruptedError(in: value, debugDescription: "not a time in seconds")
        }
        var exact = seconds * 1_000_000
        var rounded = Decimal()
        unsafe NSDecimalRound(&rounded, &exact, 0, .plain)
        duration = .microseconds(NSDecimalNumber(decimal: rounded).int64Value)
    }

    func encode(to encoder: any Encoder) throws {
        var value = encoder.singleValueContainer()
        try value.encode(Decimal(sign: .plus, exponent: -6, significand: Decimal(duration.wholeMicroseconds)))
    }

    /// Parses digits with at most one decimal point; `Decimal(string:)` would ignore trailing characters.
    private static func decimal(_ text: String) -> Decimal? {
        let parts = text.split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false)
        let isNumber = parts.allSatisfy { !$0.isEmpty && $0.utf8.allSatisfy { (0x30...0x39).contains($0) } }
        return isNumber ? Decimal(string: text, locale: Locale(identifier: "en_US_POSIX")) : nil
    }
}
