package import Playlist

extension [SegmentKey] {
    /// The key that can be used, of those in force; nil when the segment is clear.
    ///
    /// A segment may be offered under several key formats (RFC 8216 §4.3.2.4): one that is AES-128 and identity is
    /// enough. Half decrypting the others would be worse than refusing.
    func usableKey(mediaSequence: UInt64, playlist: String) throws(TrackerError) -> SegmentKey? {
        let usable = first { $0.method == .aes128 && $0.keyFormat == SegmentKey.identityFormat }
        if let usable { return usable }
        guard let first else { return nil }
        let reason = TrackerError.Reason.unsupportedProtection(
            method: first.method, keyFormat: first.keyFormat, mediaSequence: mediaSequence)
        throw TrackerError(reason, url: playlist, section: "4.3.2.4")
    }
}

/// Everything one segment needs before it can be handed over, as absolute requests.
package struct SegmentRequests: Equatable, Sendable {
    package let media: FetchRequest
    private(set) var key: FetchRequest?
    private(set) var map: FetchRequest?
    private(set) var mapKey: FetchRequest?

    /// - Parameter base: address of the playlist after redirects.
    package init(_ segment: MediaSegment, base: String) throws(TrackerError) {
        let number = segment.mediaSequence
        let key = try segment.keys.usableKey(mediaSequence: number, playlist: base)
        let mapKey = try segment.map?.keys.usableKey(mediaSequence: number, playlist: base)
        media = FetchRequest(
            .segment, url: URIReference.resolve(segment.uri, against: base), byteRange: segment.byteRange,
            duration: segment.duration)
        self.key = key.map { FetchRequest(.key, url: URIReference.resolve($0.uri, against: base)) }
        self.mapKey = mapKey.map { FetchRequest(.key, url: URIReference.resolve($0.uri, against: base)) }
        map = segment.map.map {
            FetchRequest(.map, url: URIReference.resolve($0.uri, against: base), byteRange: $0.byteRange)
        }
    }
    /// The same media, with the key and the map of `fresh` where `isWanted` says so of these.
    func replacing(with fresh: SegmentRequests, where isWanted: (FetchRequest) -> Bool) -> SegmentRequests {
        var requests = self
        if key.map(isWanted) == true { requests.key = fresh.key }
        if map.map(isWanted) == true { requests.map = fresh.map }
        if mapKey.map(isWanted) == true { requests.mapKey = fresh.mapKey }
        return requests
    }
}
