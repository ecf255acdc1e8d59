package import Fetch
package import Playlist
import Support

/// A key or map as the segments of one period of the upstream need it.
///
/// A packager that is restarted writes another init section or key under the name of the last one. So a resource is asked
/// for again after each discontinuity, and every segment gets the bytes of its own period.
package struct SegmentResource: Hashable, Sendable {
    package let request: FetchRequest
    /// The discontinuities of the rendition before the segment.
    let period: Int

    init(_ request: FetchRequest, period: Int = 0) { (self.request, self.period) = (request, period) }
}

/// The requests that a segment needs, with absolute URLs: media, and where present key, map and the map's key.
package struct SegmentRequests: Equatable, Sendable {
    /// Key, map and the map's key, which most segments have in common with the one before.
    private final class Resources: Equatable, Sendable {
        let key: SegmentResource?
        let map: SegmentResource?
        let mapKey: SegmentResource?

        init(key: SegmentResource?, map: SegmentResource?, mapKey: SegmentResource?) {
            self.key = key
            self.map = map
            self.mapKey = mapKey
        }

        static func == (left: Resources, right: Resources) -> Bool {
            left === right || left.key == right.key && left.map == right.map && left.mapKey == right.mapKey
        }
    }

    package let media: FetchRequest
    /// As of `SegmentResource`.
    let period: Int
    private var shared: Resources?

    var key: SegmentResource? { shared?.key }
    var map: SegmentResource? { shared?.map }
    var mapKey: SegmentResource? { shared?.mapKey }

    /// - Parameters:
    ///   - base: URL of the playlist after redirects.
    ///   - period: the discontinuities of the rendition before the segment.
    ///   - previous: the requests of the segment before, with which equal values are shared.
    /// - Throws: if the segment or its map is encrypted and no key can be used.
    package init(
        _ segment: MediaSegment, base: String, period: Int = 0, after previous: SegmentRequests? = nil
    ) throws(UnsupportedKey) {
        let key = try segment.keys.usableKey()
        let mapKey = try segment.map?.keys.usableKey()
        media = FetchRequest(
            .segment, url: URIReference.resolve(segment.uri, against: base), byteRange: segment.byteRange,
            duration: segment.duration)
        self.period = period
        guard key != nil || mapKey != nil || segment.map != nil else { return }
        func resource(_ purpose: FetchRequest.Purpose, _ uri: String, _ range: ByteRange? = nil) -> SegmentResource {
            SegmentResource(
                FetchRequest(purpose, url: URIReference.resolve(uri, against: base), byteRange: range), period: period)
        }
        let resources = Resources(
            key: key.map { resource(.key, $0.uri) }, map: segment.map.map { resource(.map, $0.uri, $0.byteRange) },
            mapKey: mapKey.map { resource(.key, $0.uri) })
        shared = previous?.shared == resources ? previous?.shared : resources
    }

    package var resources: [SegmentResource] { [key, map, mapKey].compactMap { $0 } }

    /// Returns requests for the same media, in which `fresh` replaces each resource for which `isReplaced` holds.
    func replacingResources(
        from fresh: SegmentRequests, where isReplaced: (SegmentResource) -> Bool
    ) -> SegmentRequests {
        guard shared != nil else { return self }
        var requests = self
        requests.shared = Resources(
            key: key.map(isReplaced) == true ? fresh.key : key, map: map.map(isReplaced) == true ? fresh.map : map,
            mapKey: mapKey.map(isReplaced) == true ? fresh.mapKey : mapKey)
        return requests
    }
}
