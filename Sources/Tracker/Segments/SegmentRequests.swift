package import Fetch
package import Playlist
import Support

/// The requests that a segment needs, with absolute URLs: media, and where present key, map and the map's key.
package struct SegmentRequests: Equatable, Sendable {
    /// Key, map and the map's key, which most segments have in common with the one before.
    private final class Resources: Equatable, Sendable {
        let key: FetchRequest?
        let map: FetchRequest?
        let mapKey: FetchRequest?

        init(key: FetchRequest?, map: FetchRequest?, mapKey: FetchRequest?) {
            self.key = key
            self.map = map
            self.mapKey = mapKey
        }

        static func == (left: Resources, right: Resources) -> Bool {
            left === right || left.key == right.key && left.map == right.map && left.mapKey == right.mapKey
        }
    }

    package let media: FetchRequest
    private var shared: Resources?

    var key: FetchRequest? { shared?.key }
    var map: FetchRequest? { shared?.map }
    var mapKey: FetchRequest? { shared?.mapKey }

    /// - Parameters:
    ///   - base: URL of the playlist after redirects.
    ///   - previous: the requests of the segment before, with which equal values are shared.
    /// - Throws: if the segment or its map is encrypted and no key can be used.
    package init(
        _ segment: MediaSegment, base: String, after previous: SegmentRequests? = nil
    ) throws(UnsupportedKey) {
        let key = try segment.keys.usableKey()
        let mapKey = try segment.map?.keys.usableKey()
        media = FetchRequest(
            .segment, url: URIReference.resolve(segment.uri, against: base), byteRange: segment.byteRange,
            duration: segment.duration)
        guard key != nil || mapKey != nil || segment.map != nil else { return }
        let resources = Resources(
            key: key.map { FetchRequest(.key, url: URIReference.resolve($0.uri, against: base)) },
            map: segment.map.map {
                FetchRequest(.map, url: URIReference.resolve($0.uri, against: base), byteRange: $0.byteRange)
            },
            mapKey: mapKey.map { FetchRequest(.key, url: URIReference.resolve($0.uri, against: base)) })
        shared = previous?.shared == resources ? previous?.shared : resources
    }

    package var resources: [FetchRequest] { [key, map, mapKey].compactMap { $0 } }

    /// Returns requests for the same media, in which `fresh` replaces each resource for which `isReplaced` holds.
    func replacingResources(
        from fresh: SegmentRequests, where isReplaced: (FetchRequest) -> Bool
    ) -> SegmentRequests {
        guard shared != nil else { return self }
        var requests = self
        requests.shared = Resources(
            key: key.map(isReplaced) == true ? fresh.key : key, map: map.map(isReplaced) == true ? fresh.map : map,
            mapKey: mapKey.map(isReplaced) == true ? fresh.mapKey : mapKey)
        return requests
    }
}
