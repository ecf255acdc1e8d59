import Playlist
import Support

/// Maps the URLs of a capture to paths of the origin that serves it.
struct RecordedPaths: Sendable {
    struct Resource: Equatable, Sendable {
        let url: String
        var isPlaylist: Bool
    }

    private var numbers: [String: Int] = [:]
    private var resources: [Resource] = []

    init(_ capture: CaptureDirectory) throws(CaptureError) {
        insert(capture.index.upstream, isPlaylist: true)
        for exchange in capture.index.exchanges {
            if case .answer(let answer) = exchange.ending {
                insert(exchange.url, isPlaylist: try capture.isPlaylist(answer.body))
            } else {
                insert(exchange.url, isPlaylist: false)
            }
        }
    }

    private mutating func insert(_ url: String, isPlaylist: Bool) {
        if let number = numbers[url] {
            resources[number].isPlaylist = resources[number].isPlaylist || isPlaylist
        } else {
            numbers[url] = resources.count
            resources.append(Resource(url: url, isPlaylist: isPlaylist))
        }
    }

    /// `/7/segment.ts`; for a URL that the capture does not contain, a path with the number 0.
    func path(of url: String) -> String {
        let name = URIReference.withoutQuery(url).split(separator: "/").last ?? ""
        let isPlain = name.utf8.allSatisfy {
            $0 < 0x80 && $0 != UInt8(ascii: "%") && $0 > 0x20 && $0 != UInt8(ascii: "\"")
        }
        return "/\(numbers[url].map { $0 + 1 } ?? 0)/\(isPlain && !name.hasPrefix(".") ? name : "resource")"
    }

    func resource(at path: String) -> Resource? {
        let parts = path.split(separator: "/")
        guard parts.count == 2, let number = Int(parts[0]), number > 0, number <= resources.count else {
            return nil
        }
        return resources[number - 1]
    }
}
