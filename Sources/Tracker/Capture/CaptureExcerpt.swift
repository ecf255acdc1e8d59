package import Foundation
import Playlist

/// A stretch of a capture, or all of it, as a capture of its own that replays alone.
///
/// A session that begins with the stretch finds what it would have found then: each playlist in the state it was in, and
/// of what came before all that these playlists still name, their segments, keys and maps. What they name last is there
/// too, though it was fetched a little after the end.
package struct CaptureExcerpt {
    private let capture: CaptureDirectory
    private let timeRange: Range<Duration>

    /// - Parameter stretch: since the recording began; all of it unless given.
    /// - Throws: `.emptyStretch` when it holds no answer.
    package init(of capture: CaptureDirectory, stretch: Range<Duration>? = nil) throws(CaptureError) {
        self.capture = capture
        self.timeRange = stretch ?? .zero..<Self.endless
        let isEmpty = !capture.index.exchanges.contains { self.timeRange.contains($0.at) }
        if isEmpty { throw CaptureError(.emptyTimeRange, path: capture.url.path) }
    }

    /// Longer than any recording.
    private static let endless = Duration.seconds(1_000_000_000)

    /// - Parameter directory: made if need be; holds nothing yet.
    /// - Returns: how much it has become.
    package func write(
        to directory: URL, mask: CaptureRedactor.Options = .none
    ) throws(CaptureError) -> CaptureWriter.Totals {
        let index = capture.index
        var writer = try CaptureWriter(
            directory, upstream: index.upstream, about: index.about, variant: index.variant, backups: index.backups,
            mask: mask)
        for exchange in try exchanges() {
            let request = FetchRequest(.segment, url: exchange.url, byteRange: exchange.byteRange)
            try writer.append(request, try outcome(of: exchange), at: exchange.at, took: exchange.took)
        }
        return writer.totals
    }

    private func outcome(of exchange: CapturedExchange) throws(CaptureError) -> FetchOutcome {
        switch exchange.ending {
        case .failure(let reason): .failure(FetchError(reason, url: exchange.url))
        case .answer(let answer): .success(try capture.answer(answer, to: exchange.url))
        }
    }

    /// What goes into it, each at its time since the stretch began.
    func exchanges() throws(CaptureError) -> [CapturedExchange] {
        let all = capture.index.exchanges
        if timeRange == .zero..<Self.endless { return all }
        let playlists = Set(try playlistURLs())
        var named = ReferencedResources()
        var kept: Set<Int> = []
        // A master playlist stands before those it names.
        for (url, places) in all.indices(where: { playlists.contains($0.url) }) {
            let asked = places.filter { timeRange.contains(all[$0].at) }
            guard url == capture.index.upstream || !asked.isEmpty || named.playlists.contains(url) else { continue }
            // What is in force at the beginning; a failure in force is asked for again soon enough.
            let state = places.last { all[$0].at < timeRange.lowerBound && all[$0].isSuccess }
            for place in [state].compactMap({ $0 }) + asked {
                kept.insert(place)
                try named.read(all[place], in: capture)
            }
        }
        for (_, places) in all.indices(where: { !playlists.contains($0.url) }) {
            kept.formUnion(named.contains(all[places[0]]) ? answersAround(places, in: all) : [])
        }
        return kept.sorted().map { all[$0].shifted(into: timeRange) }
    }

    /// Of a resource that is named: its last answer before the stretch, all in it, or else the first one after it.
    private func answersAround(_ places: [Int], in all: [CapturedExchange]) -> [Int] {
        let before = places.last { all[$0].at < timeRange.lowerBound }
        let inside = places.filter { timeRange.contains(all[$0].at) }
        let found = [before].compactMap { $0 } + inside
        return found.isEmpty ? Array(places.prefix(1)) : found
    }

    private func playlistURLs() throws(CaptureError) -> [String] {
        var addresses = [capture.index.upstream]
        for exchange in capture.index.exchanges {
            guard case .answer(let answer) = exchange.ending, try capture.isPlaylist(answer.body) else { continue }
            addresses.append(exchange.url)
        }
        return addresses
    }
}

/// What the playlists of an excerpt name, by absolute address.
private struct ReferencedResources {
    private struct Resource: Hashable {
        let url: String
        let byteRange: ByteRange?
    }

    private(set) var playlists: Set<String> = []
    private var others: Set<Resource> = []
    private var variables: [VariableDefinition] = []

    func contains(_ exchange: CapturedExchange) -> Bool {
        others.contains(Resource(url: exchange.url, byteRange: exchange.byteRange))
    }

    /// A playlist that cannot be read names nothing: the session that reads it learns no more.
    mutating func read(_ exchange: CapturedExchange, in capture: CaptureDirectory) throws(CaptureError) {
        guard case .answer(let recorded) = exchange.ending, exchange.isSuccess else { return }
        let answer = try capture.answer(recorded, to: exchange.url)
        let base = answer.finalURL
        switch try? PlaylistParser.parse(answer.body, url: base, imported: variables) {
        case .multivariant(let playlist):
            variables = playlist.variables
            let addresses = playlist.variants.map(\.uri) + playlist.renditions.compactMap(\.uri)
            playlists.formUnion(addresses.map { URIReference.resolve($0, against: base) })
        case .media(let list):
            for segment in list.segments {
                guard let requests = try? SegmentRequests(segment, base: base) else { continue }
                for request in [requests.media] + requests.resources {
                    others.formUnion([
                        Resource(url: request.url, byteRange: request.byteRange),
                        Resource(url: request.url, byteRange: nil),
                    ])
                }
            }
        case nil: return
        }
    }
}

extension [CapturedExchange] {
    /// By address and byte range, in the order in which they were first asked for: where in the array each stands.
    fileprivate func indices(where isWanted: (CapturedExchange) -> Bool) -> [(url: String, places: [Int])] {
        var order: [String: Int] = [:]
        var result: [(url: String, places: [Int])] = []
        for (place, exchange) in enumerated() where isWanted(exchange) {
            let range = exchange.byteRange.map { "\($0.offset) \($0.length) " } ?? ""
            let key = range + exchange.url
            if let known = order[key] {
                result[known].places.append(place)
            } else {
                order[key] = result.count
                result.append((exchange.url, [place]))
            }
        }
        return result
    }
}

extension CapturedExchange {
    fileprivate var isSuccess: Bool {
        guard case .answer(let answer) = ending else { return false }
        return (200..<300).contains(answer.status)
    }

    fileprivate func shifted(into stretch: Range<Duration>) -> CapturedExchange {
        let time = min(max(at, stretch.lowerBound), stretch.upperBound) - stretch.lowerBound
        return CapturedExchange(at: time, took: took, url: url, byteRange: byteRange, ending: ending)
    }
}
