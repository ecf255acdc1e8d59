package import Fetch
package import Media
package import Playlist
import Support

/// The reason why a channel cannot be opened or followed.
package struct TrackerError: Error, Equatable, Sendable {
    package enum Reason: Equatable, Sendable {
        case refused(status: Int)
        case unreachable(FetchError.Reason)
        /// The answer is something else, such as a web page. `beginning` is that of `PlaylistError`.
        case notAPlaylist(DocumentKind, beginning: String)
        case malformedPlaylist(PlaylistError)
        /// A multivariant playlist without a variant that can be chosen.
        case noVariant
        /// A multivariant playlist in place of a media playlist, or the reverse.
        case unexpectedPlaylistKind
        /// The media playlist has been empty for that long.
        case noSegments(for: Duration)
        /// No usable key: METHOD other than AES-128, or KEYFORMAT other than identity.
        case unsupportedProtection(method: SegmentKey.Method, keyFormat: String, mediaSequence: UInt64)
        /// Nothing new was listed for that long.
        case silent(for: Duration)
        /// Nothing of what was listed could be published for that long.
        case nothingUsable(for: Duration, UnpublishedReason)
        /// A media file on an origin that sends no byte ranges of it.
        case noByteRanges
        case unusableFile(MediaError)
        /// No media playlist was read within the time limit for opening the upstream.
        case openingTimedOut
    }

    package let reason: Reason
    package let url: String
    /// Section of RFC 8216; nil if no section is violated.
    package let section: String?
    /// The host's IP address, if the request was denied because of it.
    package let ipAddress: String?
    /// The first words of the answer, without the secrets of `url`, or why an address cannot be requested; may be empty.
    package let words: String

    package init(
        _ reason: Reason, url: String, section: String? = nil, ipAddress: String? = nil, words: String = ""
    ) {
        self.reason = reason
        self.url = url
        self.section = section
        self.ipAddress = ipAddress
        self.words = words
    }

    package init(_ error: FetchError, url: String) {
        // The words of libcurl say no more than the reason, and may have parts of the URL.
        let isExplained = error.reason == .other && (error.code == 0 || DatagramURL.isOne(url))
        self.init(
            .unreachable(error.reason), url: url, ipAddress: error.deniedIPAddress,
            words: isExplained || error.reason == .tlsFailure ? error.message : "")
    }

    /// - Parameter number: the media sequence number of the segment with the key.
    init(_ key: UnsupportedKey, of number: UInt64, playlist url: String) {
        self.init(
            .unsupportedProtection(method: key.method, keyFormat: key.keyFormat, mediaSequence: number),
            url: url, section: "4.3.2.4")
    }

    package var status: Int? {
        if case .refused(let status) = reason { status } else { nil }
    }

    /// Whether the errors have the same cause, even if the text of an error page changes with each request.
    func isEquivalent(to other: TrackerError) -> Bool {
        switch (reason, other.reason) {
        case (.refused(let mine), .refused(let theirs)): mine == theirs && url == other.url
        case (.notAPlaylist(let mine, _), .notAPlaylist(let theirs, _)):
            (mine == .nothing) == (theirs == .nothing) && url == other.url
        case (.malformedPlaylist(let mine), .malformedPlaylist(let theirs)):
            mine.tag == theirs.tag && mine.section == theirs.section && url == other.url
        case (.nothingUsable(_, let mine), .nothingUsable(_, let theirs)): mine == theirs && url == other.url
        default: self == other
        }
    }

    /// Whether the same request would fail the same way a second later.
    var isFinal: Bool {
        switch reason {
        case .notAPlaylist(let kind, _): kind != .nothing
        case .noVariant, .unexpectedPlaylistKind, .unsupportedProtection, .noSegments, .silent, .nothingUsable,
            .openingTimedOut, .noByteRanges, .unusableFile:
            true
        case .unreachable(let reason): reason.isFinal
        case .refused, .malformedPlaylist: false
        }
    }

    /// Whether an upstream may answer otherwise in a minute, without anybody changing its URL: it is not there yet.
    var mayPass: Bool {
        switch reason {
        // What cannot be requested at all has an explanation of its own.
        case .unreachable(let reason): !reason.isFinal && (reason != .other || words.isEmpty || DatagramURL.isOne(url))
        case .openingTimedOut, .noSegments: true
        case .refused: !isRefusal
        case .notAPlaylist(let kind, _): kind == .nothing
        case .malformedPlaylist, .noVariant, .unexpectedPlaylistKind, .unsupportedProtection, .silent, .nothingUsable,
            .noByteRanges, .unusableFile:
            false
        }
    }

    /// Whether the upstream answers, and does not give what is asked for. It may when it has fewer clients (429, 458).
    var isRefusal: Bool {
        // Somebody has to correct what cannot be requested at all, or a file.
        if case .unreachable = reason, !mayPass { return true }
        if FileURL.isOne(url) { return true }
        return status.map { 400..<500 ~= $0 && ![408, 425, 429, 458].contains($0) } ?? false
    }

    /// Whether the URL itself may be what is refused, because a token in it or the session behind it has expired.
    var mayBeFixedByNewURL: Bool { status.map { [401, 403, 404, 410].contains($0) } ?? false }
}

extension FetchFault {
    /// The fault of a playlist request; nil for errors in what the playlist says, not in how it arrived.
    init?(_ error: TrackerError) {
        switch error.reason {
        case .refused(let status): self = .refused(status: status)
        case .unreachable(let reason): self = .transfer(reason)
        case .notAPlaylist, .unexpectedPlaylistKind: self = .notAPlaylist
        case .malformedPlaylist: self = .malformedPlaylist
        case .noVariant, .noSegments, .unsupportedProtection, .silent, .nothingUsable, .openingTimedOut,
            .unusableFile:
            return nil
        case .noByteRanges: self = .cutShort
        }
    }
}

/// The last failure of a repeated request, with which the next failure is compared.
struct FailureReport: Equatable, Sendable {
    /// nil after a success.
    private(set) var last: TrackerError?

    func isNew(_ error: TrackerError) -> Bool { !(last?.isEquivalent(to: error) ?? false) }

    /// Records a failure. Returns whether it is new.
    @discardableResult mutating func record(_ error: TrackerError) -> Bool {
        defer { last = error }
        return isNew(error)
    }

    mutating func clear() { last = nil }
}
