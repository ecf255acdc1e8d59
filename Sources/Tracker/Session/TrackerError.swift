package import Playlist

/// Why a channel could not be followed, or not any longer.
package struct TrackerError: Error, Equatable, Sendable {
    package enum Reason: Equatable, Sendable {
        /// An HTTP status other than success.
        case refused(status: Int)
        case unreachable(FetchError.Reason)
        /// The answer is something else, an HTML page for example; `beginning` as in `PlaylistError`.
        case notAPlaylist(beginning: String)
        case malformedPlaylist(PlaylistError)
        /// A multivariant playlist without a variant that can be taken.
        case noVariant
        /// A multivariant playlist where a media playlist was due, or the other way round.
        case unexpectedPlaylistKind
        /// The media playlist has been empty for that long.
        case noSegments(for: Duration)
        /// No usable key: METHOD other than AES-128, or KEYFORMAT other than identity.
        case unsupportedProtection(method: SegmentKey.Method, keyFormat: String, mediaSequence: UInt64)
        /// Nothing new was listed for that long.
        case silent(for: Duration)
        /// Nothing of what was listed could be published for that long.
        case nothingUsable(for: Duration, UnpublishedReason)
        /// No media playlist was read within the time given to opening the upstream.
        case openingTimedOut
    }

    package let reason: Reason
    /// Of the playlist concerned.
    package let url: String
    /// Of RFC 8216; nil when no section is broken.
    package let section: String?
    /// The address that the host has, when that was the trouble.
    package let ipAddress: String?

    package init(_ reason: Reason, url: String, section: String? = nil, address: String? = nil) {
        self.reason = reason
        self.url = url
        self.section = section
        self.ipAddress = address
    }

    /// No whole answer came from `url`, of a playlist.
    package init(_ error: FetchError, url: String) {
        self.init(
            .unreachable(error.reason), url: url, address: error.reason == .privateAddress ? error.message : nil)
    }

    /// The HTTP status, when that was the trouble.
    package var status: Int? {
        if case .refused(let status) = reason { status } else { nil }
    }

    /// Whether a person would call it the same thing. A page that says what went wrong, and when, says it anew each time.
    func isEquivalent(to other: TrackerError) -> Bool {
        switch (reason, other.reason) {
        case (.notAPlaylist(let mine), .notAPlaylist(let theirs)): mine.isEmpty == theirs.isEmpty && url == other.url
        case (.malformedPlaylist(let mine), .malformedPlaylist(let theirs)):
            mine.tag == theirs.tag && mine.section == theirs.section && url == other.url
        case (.nothingUsable(_, let mine), .nothingUsable(_, let theirs)): mine == theirs && url == other.url
        default: self == other
        }
    }

    /// The same request will not be answered better a second later.
    var isFinal: Bool {
        switch reason {
        case .notAPlaylist(let beginning): !beginning.isEmpty
        case .noVariant, .unexpectedPlaylistKind, .unsupportedProtection, .noSegments, .silent, .nothingUsable,
            .openingTimedOut:
            true
        case .unreachable(let reason): reason.isFinal
        case .refused, .malformedPlaylist: false
        }
    }

    /// The address itself may be what is refused: a token in it has expired, or the session behind it is gone.
    var mayBeFixedByNewURL: Bool { status.map { [401, 403, 404, 410].contains($0) } ?? false }
}
