import Playlist

@testable import Fetch
@testable import Support
@testable package import Tracker

extension UpstreamEvent {
    /// The event as one line of text: its name, then `key=value` pairs in a fixed order.
    ///
    /// Golden files hold these lines, so no text here depends on the name of a Swift symbol. Durations are in seconds.
    /// A value with a space, a quote or a control character is quoted.
    package var text: String { line.text }

    private var line: EventLine {
        switch self {
        case .variantSelected(let variant, let audio, _, _):
            EventLine("variant-selected", ("uri", variant.uri), ("audio", audio?.uri ?? "none"))
        case .audioTracksSelected(let tracks, _, _):
            EventLine("audio-tracks-selected", ("uris", tracks.map { $0.uri ?? "none" }.joined(separator: " ")))
        case .variantsSelected(let variants, let dropped):
            EventLine(
                "variants-selected", ("uris", variants.map(\.uri).joined(separator: " ")), ("dropped", "\(dropped)"))
        case .variantRefused(let variant, .foreignVideo(let codecs)):
            EventLine("variant-refused", ("uri", variant.uri), ("codecs", codecs.joined(separator: " ")))
        case .variantRefused(let variant, .failed(let error)):
            EventLine("variant-refused", ("uri", variant.uri), ("status", "\(error.status ?? 0)"))
        case .audioAbandoned(let audio, let error):
            EventLine("audio-abandoned", ("name", audio.name), ("status", "\(error.status ?? 0)"))
        case .variantChanged(let old, let new, let change):
            EventLine("variant-changed", ("from", old.uri), ("to", new.uri), ("change", "\(change)"))
        case .joined(let joined):
            EventLine(
                "joined", ("rendition", joined.rendition.token), ("media-sequence", "\(joined.mediaSequence)"),
                ("target-duration", seconds(joined.targetDuration)), ("type", joined.isVOD ? "vod" : "live"))
        case .stalled(let rendition, let step, let silence):
            EventLine(
                "stalled", ("rendition", rendition.token), ("step", step.token), ("silence", seconds(silence)))
        case .resumed(let rendition, let silence):
            EventLine("resumed", ("rendition", rendition.token), ("silence", seconds(silence)))
        case .mediaStalled(let step, let silence, let cause):
            EventLine("media-stalled", ("step", step.token), ("silence", seconds(silence)), ("cause", cause.token))
        case .mediaResumed(let silence): EventLine("media-resumed", ("silence", seconds(silence)))
        case .reconnected(let cause, let silence, let repeated):
            EventLine(
                "reconnected", ("cause", cause.token), ("silence", seconds(silence)), ("repeated-frames", "\(repeated)")
            )
        case .moved(let rendition, let url):
            EventLine("playlist-moved", ("rendition", rendition.token), ("url", url))
        case .released(let rendition): EventLine("rendition-released", ("rendition", rendition.token))
        case .unknownParameters(let names, let url):
            EventLine("parameters-unknown", ("names", names.joined(separator: ",")), ("url", url))
        case .stalePlaylist(let rendition): EventLine("playlist-stale", ("rendition", rendition.token))
        case .reset(let rendition, let method, _):
            EventLine("sequence-reset", ("rendition", rendition.token), ("anchor", method.rawValue))
        case .lost(let rendition, let loss):
            EventLine(
                "segments-lost", ("rendition", rendition.token),
                ("media-sequence", "\(loss.mediaSequences.lowerBound)"),
                ("count", "\(loss.count)"), ("reason", loss.reason.token), ("cause", loss.cause.rawValue))
        case .playlistFailed(let rendition, let error):
            EventLine("playlist-failed", [("rendition", rendition.token)] + error.fields)
        case .playlistIrregular(let rendition, let error):
            EventLine(
                "playlist-irregular", ("rendition", rendition?.token ?? "master"), ("line", "\(error.line)"),
                ("tag", error.tag), ("reason", error.reason.name))
        case .playlistLimitExceeded(let rendition, let limit, let dropped):
            EventLine(
                "playlist-limit", ("rendition", rendition?.token ?? "master"), ("limit", limit.rawValue),
                ("dropped", "\(dropped)"))
        case .multivariantReloadFailed(let error): EventLine("master-failed", error.fields)
        case .fetchFailed(let request, let failure, let failures, let isLast):
            EventLine(
                "fetch-failed",
                request.fields + [
                    ("reason", FetchFault(failure).token), ("failures", "\(failures)"), ("final", "\(isLast)"),
                ])
        case .keyFetched(let url): EventLine("key-fetched", ("url", url))
        case .hostLimited(let host, let status, let pause):
            EventLine("host-limited", ("host", host), ("status", "\(status)"), ("pause", seconds(pause)))
        case .hostLimitEnded(let host, let answers):
            EventLine("host-limit-ended", ("host", host), ("answers", "\(answers)"))
        case .targetDurationChanged(let rendition, let old, let new):
            EventLine(
                "target-duration-changed", ("rendition", rendition.token), ("from", seconds(old)), ("to", seconds(new)))
        case .playlistEnded(let rendition): EventLine("playlist-ended", ("rendition", rendition.token))
        case .playlistReopened(let rendition): EventLine("playlist-reopened", ("rendition", rendition.token))
        case .trialStarted(let source, let url): EventLine("source-trial", ("source", "\(source)"), ("url", url))
        case .sourceFailed(let source, let error):
            EventLine("source-failed", [("source", "\(source)")] + error.fields)
        case .sourceEnded(let source): EventLine("source-ended", ("source", "\(source)"))
        case .sourceSwitched(let source, let url): EventLine("source-switched", ("source", "\(source)"), ("url", url))
        case .backup(let source, let event):
            EventLine(event.line.name, [("source", "\(source)")] + event.line.fields)
        }
    }
}

/// A name and its fields on one line.
private struct EventLine {
    typealias Field = (key: String, value: String)

    let name: String
    let fields: [Field]

    init(_ name: String, _ fields: [Field]) { (self.name, self.fields) = (name, fields) }
    init(_ name: String, _ fields: Field...) { self.init(name, fields) }

    var text: String { ([name] + fields.map { "\($0.key)=\(Self.quoted($0.value))" }).joined(separator: " ") }

    private static func quoted(_ value: String) -> String {
        let isPlain =
            !value.isEmpty && value.unicodeScalars.allSatisfy { $0.value > 0x20 && $0.value < 0x7F && $0 != "\"" }
        guard !isPlain else { return value }
        let escaped = value.unicodeScalars.map { scalar in
            switch scalar {
            case "\"", "\\": "\\\(scalar)"
            case "\n": "\\n"
            case _ where ControlCharacters.contains(scalar): "\\u{\(String(scalar.value, radix: 16))}"
            default: "\(scalar)"
            }
        }
        return "\"\(escaped.joined())\""
    }
}

/// Seconds with as many decimals as are needed, down to the microsecond.
private func seconds(_ duration: Duration) -> String {
    let microseconds = duration / .microseconds(1)
    let (whole, rest) = Int64(microseconds.rounded()).quotientAndRemainder(dividingBy: 1_000_000)
    guard rest != 0 else { return "\(whole)" }
    let decimals = String("\(1_000_000 + rest.magnitude)".dropFirst())
    return "\(whole).\(decimals.replacing(/0+$/, with: ""))"
}

extension RenditionRole {
    fileprivate var token: String {
        switch self {
        case .main: "main"
        case .audio: "audio"
        case .furtherAudio(let index): "audio-\(index + 1)"
        case .furtherVideo(let index): "video-\(index + 1)"
        case .subtitles(let index): "subtitles-\(index)"
        }
    }
}

extension StreamBreak {
    fileprivate var token: String {
        switch self {
        case .ended: "ended"
        case .silent: "silent"
        case .refused: "refused"
        case .failed(let reason): FetchFault.transfer(reason).token
        }
    }
}

extension StallEscalation.Step {
    fileprivate var token: String {
        switch self {
        case .late: "late"
        case .redundantVariant: "redundant-variant"
        case .reloadMultivariant: "reload-master"
        case .outage: "outage"
        case .giveUp: "give-up"
        }
    }
}

extension UnpublishedReason {
    fileprivate var token: String {
        switch self {
        case .pending: "pending"
        case .lost(let reason): reason.token
        case .undecryptable: "undecryptable"
        case .scrambled: "scrambled"
        case .unreadable: "unreadable"
        case .foreignVideo: "foreign-video"
        case .noVideo: "no-video"
        case .noRandomAccess: "no-random-access"
        case .noTables: "no-tables"
        case .frozenClock: "frozen-clock"
        case .noAudio: "no-audio"
        }
    }
}

extension SegmentLoss.Reason {
    fileprivate var token: String {
        switch self {
        case .slidOut: "left-playlist"
        case .tooMany: "too-many"
        case .gap: "gap"
        case .neverSent: "never-sent"
        case .late: "late"
        case .unavailable(let failure): Self.token(failure)
        case .notMedia: "not-media"
        case .keyUnavailable(_, let failure): "key-" + Self.token(failure)
        }
    }

    private static func token(_ failure: FetchFailure?) -> String {
        failure.map { FetchFault($0).token } ?? "pending"
    }
}

extension FetchFault {
    /// The name in `/status.json`, in this text's spelling.
    fileprivate var token: String {
        self == .notAPlaylist
            ? "not-a-playlist" : name.map { $0.isUppercase ? "-\($0.lowercased())" : "\($0)" }.joined()
    }
}

extension FetchRequest {
    fileprivate var fields: [EventLine.Field] {
        let range = byteRange.map { [("range", "\($0.offset)+\($0.length)")] } ?? []
        return [("purpose", purpose.token), ("url", url)] + range
    }
}

extension FetchRequest.Purpose {
    fileprivate var token: String {
        switch self {
        case .multivariantPlaylist: "master"
        case .mediaPlaylist: "playlist"
        case .segment: "segment"
        case .key: "key"
        case .map: "map"
        }
    }
}

extension TrackerError {
    fileprivate var fields: [EventLine.Field] {
        let details: [EventLine.Field] =
            switch reason {
            case .refused, .unreachable, .unexpectedPlaylistKind: []
            case .notAPlaylist(_, let beginning): [("beginning", beginning)]
            case .malformedPlaylist(let error): [("line", "\(error.line)"), ("tag", error.tag)]
            case .noVariant, .openingTimedOut, .noByteRanges, .unusableFile: []
            case .noSegments(let duration), .silent(let duration): [("silence", seconds(duration))]
            case .unsupportedProtection(let method, let keyFormat, let sequence):
                [("method", method.text), ("key-format", keyFormat), ("media-sequence", "\(sequence)")]
            case .nothingUsable(let duration, let cause): [("silence", seconds(duration)), ("cause", cause.token)]
            }
        return [("url", url), ("reason", token)] + details
    }

    private var token: String {
        switch reason {
        case .refused, .unreachable, .notAPlaylist, .malformedPlaylist, .unexpectedPlaylistKind:
            FetchFault(self)?.token ?? "other"
        case .noVariant: "no-variant"
        case .noSegments: "no-segments"
        case .unsupportedProtection: "unsupported-protection"
        case .silent: "silent"
        case .nothingUsable: "nothing-usable"
        case .openingTimedOut: "opening-timed-out"
        case .noByteRanges: "no-byte-ranges"
        case .unusableFile: "unusable-file"
        }
    }
}
