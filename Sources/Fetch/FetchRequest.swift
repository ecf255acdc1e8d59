package import Support

/// A request for one resource of the upstream, or for a byte range of it.
package struct FetchRequest: Hashable, Sendable {
    package enum Purpose: String, Hashable, Sendable { case multivariantPlaylist, mediaPlaylist, segment, key, map }

    package let purpose: Purpose
    /// Absolute http or https URL.
    package let url: String
    /// nil: the whole resource.
    package let byteRange: ByteRange?
    /// EXTINF of a segment, or the time for which a server may hold back a playlist: it extends the time limit of the
    /// transfer. nil if unknown, or if a playlist is requested as it is.
    package let duration: Duration?
    /// The time without a byte after which the request times out; nil: the limit of the configuration.
    package var silenceLimit: Duration?
    /// The largest body; nil: the limit of the configuration.
    package var byteLimit: Int?
    /// Whether no connection of an earlier request is used, because one of them hangs.
    package var needsNewConnection = false
    /// The version that is known of a resource that may have changed under its name; nil: an answer that a cache holds will
    /// do.
    package var revalidation: Revalidation?
    /// Whether the answer may be a stream, which is passed on in parts. It is recognized by its first bytes.
    package var acceptsStream = false
    /// Whether the answer may be a media file, of which the beginning is enough. It is recognized in the same way.
    package var acceptsFile = false
    /// Whether the body is passed on in parts whatever it is.
    var readsForward = false
    /// The size of a file whose origin sends no parts of it, so that the range is read from its beginning on.
    package var wholeByteCount: UInt64?
    /// The source that it belongs to: 0 is the primary; backups count from 1.
    package var source = 0

    /// No cache answers without asking the origin, which answers 304 if the entity tag is that of what it has (RFC 9110
    /// §13.1.2, RFC 9111 §5.2.1.4).
    package struct Revalidation: Hashable, Sendable {
        /// A strong one; nil: there is none.
        package let entityTag: String?

        package init(entityTag: String?) { self.entityTag = entityTag }

        var headerLines: [String] {
            ["Cache-Control: no-cache"] + (entityTag.map { ["If-None-Match: \($0)"] } ?? [])
        }
    }

    package init(_ purpose: Purpose, url: String, byteRange: ByteRange? = nil, duration: Duration? = nil) {
        self.purpose = purpose
        self.url = url
        self.byteRange = byteRange
        self.duration = duration
    }
}

/// Identifies one fetch of a channel.
///
/// Numbers rise in the order in which a session asks, and each session of a channel has a range of its own.
package struct FetchID: Hashable, Comparable, Sendable {
    package let number: UInt64

    /// The size of a session's range: session `n` of a channel counts from `n * perSession`.
    package static let perSession: UInt64 = 1 << 40

    package init(number: UInt64) { self.number = number }

    package static func < (left: FetchID, right: FetchID) -> Bool { left.number < right.number }
}
