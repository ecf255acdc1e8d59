import Playlist
import Support

/// The purpose of a request.
package enum ResourceKind: Equatable, Sendable {
    case playlist
    case media(SegmentFacts.Container)
    /// EXT-X-MAP, a key, a list of assets.
    case other
}

/// Rules 38, 39 and 40 over one answer.
enum TransferRules {
    /// - Parameters:
    ///   - target: the target duration of a live playlist; nil for anything else.
    static func judge(
        _ answer: CheckedAnswer, as kind: ResourceKind, of subject: String, sequence: UInt64? = nil,
        liveTarget target: Duration? = nil, into log: inout FindingLog
    ) {
        let place = FindingPlace(uri: answer.url, sequence: sequence, moment: answer.time.received)
        judgeTransfer(answer, subject, place, &log)
        guard answer.isSuccess, answer.status != nil else { return }
        judgeType(answer, kind, subject, place, &log)
        if let target { judgeCaching(answer, target, subject, place, &log) }
    }

    private static func judgeTransfer(
        _ answer: CheckedAnswer, _ subject: String, _ place: FindingPlace, _ log: inout FindingLog
    ) {
        func add(_ cause: String, level: RuleLevel? = nil, _ message: String) {
            log.add(.transfers, cause, level: level, of: subject, at: place, message)
        }
        switch answer.failure {
        case .short: return add("short", "the connection ended before the whole body had arrived")
        case .tooManyRedirects: return add("redirects", "the redirects have no end")
        case .other, .noFile: return
        case nil: break
        }
        guard answer.isSuccess, let status = answer.status else { return }
        log.recordJudgement(.transfers)
        let isEncoded = answer.header("content-encoding").map { $0.lowercased() != "identity" } ?? false
        if let length = answer.header("content-length").flatMap({ Int($0) }), !isEncoded, length != answer.body.count {
            add("length", "Content-Length is \(length), and the body has \(answer.body.count) bytes")
        }
        if let range = answer.byteRange {
            if status == 200 {
                add("range-ignored", "a range was asked for, and the whole resource came with status 200")
            } else if UInt64(answer.body.count) != range.length {
                add("range", "\(range.length) bytes were asked for, and \(answer.body.count) came")
            }
        }
        if answer.finalURL != answer.url, place.sequence != nil {
            add(
                "redirected", level: .note, "each request for a segment is redirected, which costs players a round trip"
            )
        }
    }

    // MARK: - Types

    private static let playlistTypes: Set = [
        "application/vnd.apple.mpegurl", "audio/mpegurl", "application/x-mpegurl", "audio/x-mpegurl",
        "application/mpegurl",
    ]
    private static let octets: Set = ["application/octet-stream", "binary/octet-stream"]

    private static func types(of container: SegmentFacts.Container) -> Set<String> {
        switch container {
        case .transportStream: ["video/mp2t", "video/mpeg", "video/m2ts", "audio/mp2t"]
        case .fragmentedMP4: ["video/mp4", "audio/mp4", "application/mp4", "video/iso.segment", "audio/iso.segment"]
        case .packedAudio:
            [
                "audio/aac", "audio/aacp", "audio/x-aac", "audio/mpeg", "audio/mp3", "audio/ac3", "audio/eac3",
                "audio/mp4",
            ]
        case .webVTT: ["text/vtt"]
        }
    }

    private static func judgeType(
        _ answer: CheckedAnswer, _ kind: ResourceKind, _ subject: String, _ place: FindingPlace,
        _ log: inout FindingLog
    ) {
        func add(_ cause: String, level: RuleLevel? = nil, _ message: String) {
            log.add(.mimeTypes, cause, level: level, of: subject, at: place, message)
        }
        switch kind {
        case .playlist:
            let path = URIReference.withoutQuery(answer.finalURL).lowercased()
            let isNamed = path.hasSuffix(".m3u8") || path.hasSuffix(".m3u")
            log.recordJudgement(.mimeTypes)
            if let type = answer.mediaType, !playlistTypes.contains(type) {
                add("playlist", level: isNamed ? .should : .must, "the playlist has the type \(type)")
            } else if answer.mediaType == nil, !isNamed {
                add("playlist", level: .must, "the playlist has neither a type nor a name that ends in .m3u8")
            }
            if answer.body.count > 64 << 10, answer.header("content-encoding") == nil {
                add("gzip", level: .note, "the playlist has \(answer.body.count) bytes and is not compressed")
            }
        case .media(let container):
            guard let type = answer.mediaType else { return }
            log.recordJudgement(.mimeTypes)
            guard !types(of: container).contains(type) else { return }
            add(
                octets.contains(type) ? "octets" : "segment", level: octets.contains(type) ? .note : .should,
                "\(container.rawValue) has the type \(type)")
        case .other: return
        }
    }

    /// Judges the first answer of a live playlist, of which only the content says that it is live.
    static func judgeCaching(
        _ answer: CheckedAnswer, liveTarget target: Duration, of subject: String, into log: inout FindingLog
    ) {
        guard answer.isSuccess, answer.status != nil else { return }
        judgeCaching(
            answer, target, subject, FindingPlace(uri: answer.url, moment: answer.time.received), &log)
    }

    private static func judgeCaching(
        _ answer: CheckedAnswer, _ target: Duration, _ subject: String, _ place: FindingPlace,
        _ log: inout FindingLog
    ) {
        log.recordJudgement(.caching)
        let seconds = answer.cacheSeconds("s-maxage") ?? answer.cacheSeconds("max-age")
        if let seconds, !answer.forbidsCaching, Duration.seconds(seconds) > target {
            log.add(
                .caching, "max-age", of: subject, at: place,
                "Cache-Control lets the live playlist be cached for \(seconds) s, and a target duration is "
                    + target.secondsText)
        }
        if answer.age > target {
            log.add(
                .caching, "age", of: subject, at: place,
                "the live playlist was \(answer.age.secondsText) old in a cache")
        }
    }
}
