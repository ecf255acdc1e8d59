import Fetch
package import Foundation
import Playlist
import Support
import Tracker

/// A time range of a capture, or the whole capture, as a capture that replays without the rest.
///
/// A session that starts with the excerpt finds each playlist in the state that it had at the start of the range. The
/// excerpt also holds the segments, keys and maps that these playlists name but that were fetched before the range. It
/// includes resources named by the last playlists even if they were fetched shortly after the end.
package struct CaptureExcerpt {
    private let capture: CaptureDirectory
    private let timeRange: Range<Duration>

    /// - Parameter timeRange: time since the capture began; nil for the whole capture.
    /// - Throws: `.emptyTimeRange` if the range contains no exchange.
    package init(of capture: CaptureDirectory, timeRange: Range<Duration>? = nil) throws(CaptureError) {
        self.capture = capture
        self.timeRange = timeRange ?? .zero..<Self.unlimited
        let isEmpty = !capture.index.exchanges.contains { self.timeRange.contains($0.at) }
        if isEmpty { throw CaptureError(.emptyTimeRange, path: capture.url.path) }
    }

    /// Longer than any capture.
    private static let unlimited = Duration.seconds(1_000_000_000)

    package func write(
        to directory: URL, redaction: CaptureRedactor.Options = .none
    ) throws(CaptureError) -> CaptureWriter.Totals {
        var writer = try CaptureWriter(directory, capture.index, redaction: redaction)
        for demand in capture.index.demands where timeRange.contains(demand.at) {
            try writer.append(CaptureIndex.Demand(at: demand.at - timeRange.lowerBound, track: demand.track))
        }
        for exchange in try exchanges() {
            let request = FetchRequest(.segment, url: exchange.url, byteRange: exchange.byteRange)
            let outcome = try outcome(of: exchange)
            guard !exchange.stream.isEmpty else {
                try writer.append(request, outcome, at: exchange.at, took: exchange.took)
                continue
            }
            for stream in exchange.stream {
                try writer.append(
                    request, outcome, at: exchange.at, took: stream.parts.last?.after ?? exchange.took,
                    stream: (try capture.bytes(of: .file(stream.file)), stream.parts), continues: stream.continues)
            }
        }
        return writer.totals
    }

    private func outcome(of exchange: CapturedExchange) throws(CaptureError) -> FetchOutcome {
        switch exchange.ending {
        case .failure(let reason): .failure(FetchError(reason, url: exchange.url))
        case .answer(let answer): .success(try capture.answer(answer, to: exchange.url))
        }
    }

    /// The exchanges of the excerpt, with times relative to the start of the range.
    func exchanges() throws(CaptureError) -> [CapturedExchange] {
        let all = capture.index.exchanges
        if timeRange == .zero..<Self.unlimited { return all }
        let playlistURLs = try playlistURLs()
        var referenced = ReferencedResources()
        var kept: Set<Int> = []
        // A multivariant playlist precedes the media playlists that it names.
        for resource in all.resources(where: { playlistURLs.contains($0.url) }) {
            let inRange = resource.indices.filter { timeRange.contains(all[$0].at) }
            let isWanted =
                resource.url == capture.index.upstream || !inRange.isEmpty
                || referenced.playlists.contains(resource.url)
            guard isWanted else { continue }
            // The state at the start of the range. A failure is not a state: the session repeats such a request soon.
            let state = resource.indices.last { all[$0].at < timeRange.lowerBound && all[$0].isSuccess }
            for index in [state].compactMap({ $0 }) + inRange {
                kept.insert(index)
                try referenced.insertReferences(of: all[index], in: capture)
            }
        }
        for resource in all.resources(where: { !playlistURLs.contains($0.url) })
        where referenced.contains(all[resource.indices[0]]) {
            kept.formUnion(answers(among: resource.indices, in: all))
        }
        return kept.sorted().map { all[$0].shifted(into: timeRange) }
    }

    /// The last answer before the range and all answers in it; the first answer after it if there are none.
    private func answers(among indices: [Int], in all: [CapturedExchange]) -> [Int] {
        let before = indices.last { all[$0].at < timeRange.lowerBound }
        let inside = indices.filter { timeRange.contains(all[$0].at) }
        let found = [before].compactMap { $0 } + inside
        return found.isEmpty ? Array(indices.prefix(1)) : found
    }

    private func playlistURLs() throws(CaptureError) -> Set<String> {
        var urls: Set = [capture.index.upstream]
        for exchange in capture.index.exchanges {
            guard case .answer(let answer) = exchange.ending, try capture.isPlaylist(answer.body) else { continue }
            urls.insert(exchange.url)
        }
        return urls
    }
}

extension [CapturedExchange] {
    /// The exchanges of one URL and byte range, as indices into the array.
    fileprivate struct Resource {
        let url: String
        var indices: [Int]
    }

    /// Groups exchanges by URL and byte range, in the order of the first request for each.
    fileprivate func resources(where isIncluded: (CapturedExchange) -> Bool) -> [Resource] {
        var order: [CapturedResource: Int] = [:]
        var result: [Resource] = []
        for (index, exchange) in enumerated() where isIncluded(exchange) {
            let key = CapturedResource(url: exchange.url, byteRange: exchange.byteRange)
            if let known = order[key] {
                result[known].indices.append(index)
            } else {
                order[key] = result.count
                result.append(Resource(url: exchange.url, indices: [index]))
            }
        }
        return result
    }
}

extension CapturedExchange {
    fileprivate func shifted(into timeRange: Range<Duration>) -> CapturedExchange {
        var copy = self
        copy.at = min(max(at, timeRange.lowerBound), timeRange.upperBound) - timeRange.lowerBound
        return copy
    }
}

/// A URL, and the byte range of it that was requested.
struct CapturedResource: Hashable, Sendable {
    let url: String
    let byteRange: ByteRange?
}

/// The playlists, segments, keys and maps that the playlists of an excerpt name, by absolute URL.
private struct ReferencedResources {
    private(set) var playlists: Set<String> = []
    private var others: Set<CapturedResource> = []
    private var variables: [VariableDefinition] = []

    func contains(_ exchange: CapturedExchange) -> Bool {
        others.contains(CapturedResource(url: exchange.url, byteRange: exchange.byteRange))
    }

    /// Adds the resources that a playlist names; a malformed playlist adds none, as a session cannot read it either.
    mutating func insertReferences(
        of exchange: CapturedExchange, in capture: CaptureDirectory
    ) throws(CaptureError) {
        guard case .answer(let captured) = exchange.ending, exchange.isSuccess else { return }
        let answer = try capture.answer(captured, to: exchange.url)
        let base = answer.finalURL
        switch try? PlaylistParser.parse(answer.body, url: base, imported: variables) {
        case .multivariant(let playlist):
            variables = playlist.variables
            let uris = playlist.variants.map(\.uri) + playlist.renditions.compactMap(\.uri)
            playlists.formUnion(uris.map { URIReference.resolve($0, against: base) })
        case .media(let playlist):
            for segment in playlist.segments {
                guard let requests = try? SegmentRequests(segment, base: base) else { continue }
                insert(requests)
            }
        case nil: return
        }
    }

    /// Adds each resource whole as well: an origin may ignore the byte range.
    private mutating func insert(_ requests: SegmentRequests) {
        for request in [requests.media] + requests.resources.map(\.request) {
            others.insert(CapturedResource(url: request.url, byteRange: request.byteRange))
            others.insert(CapturedResource(url: request.url, byteRange: nil))
        }
    }
}
