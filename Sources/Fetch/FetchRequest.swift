package import Support

/// A request for one resource of the upstream, or for a byte range of it.
package struct FetchRequest: Hashable, Sendable {
    package enum Purpose: String, Hashable, Sendable { case multivariantPlaylist, mediaPlaylist, segment, key, map }

    package let purpose: Purpose
    /// Absolute http or https URL.
    package let url: String
    /// nil: the whole resource.
    package let byteRange: ByteRange?
    /// The duration of a segment (EXTINF), or the time for which a server may delay a playlist. It extends the time
    /// limit of the transfer. nil if unknown, or if a playlist is requested without delay.
    package let duration: Duration?
    /// The time without a byte after which the request times out; nil: the limit of the configuration.
    package var silenceLimit: Duration?
    /// The largest body; nil: the limit of the configuration.
    package var byteLimit: Int?
    /// Whether connections of earlier requests must not be reused, because one of them hangs.
    package var needsNewConnection = false
    /// The known version of a resource that may have changed under its URL; nil: a cached answer is acceptable.
    package var revalidation: Revalidation?
    /// Whether the answer may be a stream, which is recognized by its first bytes and passed on in parts.
    package var acceptsStream = false
    /// Whether the answer may be a media file, which is recognized by its first bytes. The transfer then ends early.
    package var acceptsFile = false
    /// Whether the body is passed on in parts, whatever its content.
    var readsForward = false
    /// The size of a file whose origin does not serve byte ranges. The range is then read from the file's beginning on.
    package var wholeByteCount: UInt64?
    /// The source that the request belongs to: 0 is the primary; backups count from 1.
    package var source = 0

    /// Caches must ask the origin, which answers 304 if its entity tag is still the given one (RFC 9110 §13.1.2, RFC
    /// 9111 §5.2.1.4).
    package struct Revalidation: Hashable, Sendable {
        /// A strong entity tag; nil: none is known.
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
/// Numbers rise in the order of a session's requests, and each session of a channel has its own range of numbers.
package struct FetchID: Hashable, Comparable, Sendable {
    package let number: UInt64

    /// The size of a session's range: session `n` of a channel counts from `n * perSession`.
    package static let perSession: UInt64 = 1 << 40

    package init(number: UInt64) { self.number = number }

    package static func < (left: FetchID, right: FetchID) -> Bool { left.number < right.number }
}
