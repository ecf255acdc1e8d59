import Fetch
import Media
import Playlist
package import Support

extension RelayError {
    package init(_ error: TrackerError) { self.init(error.exitStatus, error.message, advice: error.advice) }
}

extension TrackerError {
    fileprivate var exitStatus: ExitStatus {
        switch reason {
        case .refused, .unreachable, .openingTimedOut, .noByteRanges: .upstreamUnavailable
        case .notAPlaylist, .malformedPlaylist, .noVariant, .unexpectedPlaylistKind: .notAPlaylist
        case .noSegments: .noSegments
        case .unsupportedProtection: .unsupportedProtection
        case .silent, .nothingUsable: .gaveUp
        case .unusableFile: .notAPlaylist
        }
    }

    fileprivate var message: String {
        let url = url.redacted
        switch reason {
        case .refused(404) where FileURL.isOne(self.url): return "There is no file \(path)"
        case .refused(let status): return "\(url) answered HTTP \(status)" + (words.isEmpty ? "" : ": “\(words)”")
        case .unreachable(let reason):
            if FileURL.isOne(self.url), !words.isEmpty { return "The file \(path) cannot be read: \(words)" }
            let cause = reason == .tlsFailure && !words.isEmpty ? "\(reason.message) (\(words))" : words
            return "\(url) cannot be reached: \(cause.isEmpty ? reason.message : cause)"
                + (ipAddress.map { " (\($0))" } ?? "")
        case .openingTimedOut: return "\(url) gave no playlist in time"
        case .noByteRanges: return "\(url) is a media file, and its origin sends no byte ranges"
        case .unusableFile(let error): return "\(url) is a media file that cannot be published: \(error.message)"
        case .notAPlaylist(let kind, _):
            return "\(url) is no HLS playlist, DASH manifest or transport stream: it is \(description(of: kind))"
        case .malformedPlaylist(let error): return "\(url) line \(error.line): \(error.message)"
        case .noVariant: return "\(url) offers no variant that matches"
        case .unexpectedPlaylistKind: return "\(url) is the wrong kind of playlist"
        case .noSegments(let limit): return "\(url) has listed no segment for \(limit.secondsText)"
        case .unsupportedProtection(let method, let format, let sequence):
            return "\(url) segment \(sequence) is protected by \(method.text) with KEYFORMAT \(format.quoted)"
        case .silent(let silence): return "\(url) listed nothing new for \(silence.secondsText)"
        case .nothingUsable(let silence, let reason):
            let time = silence > .zero ? " for \(silence.secondsText)" : ""
            return "\(url): nothing of it could be published\(time): \(reason.message)"
        }
    }

    /// The kind of an answer that is not a channel, with its first words if they explain it.
    private func description(of kind: DocumentKind) -> String {
        switch kind {
        case .unknown where !words.isEmpty: "something that begins with “\(words)”"
        case .webPage, .xml, .json: words.isEmpty ? "\(kind)" : "\(kind): “\(words)”"
        default: "\(kind)"
        }
    }

    /// The path of an upstream that is a file.
    private var path: String { (FileURL(url)?.path ?? url).quoted }

    fileprivate var advice: String {
        switch reason {
        case .refused, .unreachable: upstreamAdvice
        case .openingTimedOut: "Check that the origin is running"
        case .noByteRanges: "Put the file on an origin that honors Range, or on disk"
        case .unusableFile(let error): error.fileAdvice
        case .notAPlaylist(let kind, _): kind.advice
        case .malformedPlaylist(let error):
            "The upstream's packager violates \(error.standard); tell its operator"
        case .noVariant: "Try another --variant"
        case .unexpectedPlaylistKind: "Give a master or a media playlist"
        case .noSegments: "The channel may be off the air: try again later"
        case .unsupportedProtection: "Only METHOD=AES-128 with an identity key can be republished"
        case .silent, .nothingUsable: "Raise --give-up to wait longer; --give-up 0 waits forever"
        }
    }

    private var upstreamAdvice: String {
        switch reason {
        case _ where FileURL.isOne(url): "Check the path and its permissions"
        case .refused(401), .refused(403):
            "Check the URL, its token, and whether it needs --header, --cookie or --user-agent"
        case .refused(407): "The proxy wants a user and a password. Give both in the URL of --proxy"
        case .refused(429), .refused(458), .refused(509):
            "The provider permits no more connections now: stop other players of the account, or try again later"
        case .unreachable(let reason): reason.advice
        default: "Check the URL in a browser or with curl"
        }
    }
}

extension DocumentKind {
    /// Advice about the URL or file to give instead.
    fileprivate var advice: String {
        switch self {
        case .channelList: "Serve all of its channels with: liverelay serve URL"
        case .webPage: "Give the URL of the .m3u8 itself, not of the page that plays it"
        case .nothing: "The channel may be off the air: try again later"
        case .transportStream: "Give the URL of the .m3u8 that lists such segments"
        default: "Give the URL of an HLS playlist, which usually ends in .m3u8"
        }
    }
}
