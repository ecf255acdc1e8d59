import DASH
import Fetch
import Foundation
import Playlist
import Support
import Synchronization

/// Serves a capture like the upstream that it was captured from: the answers of each moment, with their latency and
/// faults.
///
/// Every URL of the capture, on whatever host, has a path here; the served playlists and manifests name these paths.
package final class CapturedOrigin: Sendable {
    private let capture: CaptureDirectory
    private let paths: CapturedPaths
    private let state: Mutex<State>
    /// Loops of the media playlists by URL; empty if the origin does not loop.
    private let loops: [String: PlaylistLoop]
    /// Length of an iteration: the media of the longest playlist, or the capture if that is longer.
    private let loopLength: Duration

    private struct State {
        var responder: ReplayResponder
        var iteration: UInt64 = 0
        /// Variables of the playlists served so far, for playlists that import them.
        var variables: [VariableDefinition] = []
    }

    /// Path of the URL with which the capture began.
    package var entryPath: String { paths.path(of: capture.index.upstream) }

    /// - Parameter loops: whether the capture restarts at its end, with media sequence numbers that continue.
    /// - Throws: `.stream` for the capture of a stream, `.unloopable` for a DASH manifest that should loop.
    package init(_ capture: CaptureDirectory, loops: Bool = false) throws(CaptureError) {
        guard capture.index.exchanges.allSatisfy(\.stream.isEmpty) else {
            throw CaptureError(.stream, path: capture.url.path)
        }
        let unfolded = capture.index.replacingExchanges(by: capture.index.exchanges.flatMap(\.unfoldingRedirect))
        let capture = CaptureDirectory(capture.url, index: unfolded)
        self.capture = capture
        paths = try CapturedPaths(capture)
        guard !loops || !paths.hasManifest else { throw CaptureError(.unloopable, path: capture.url.path) }
        state = Mutex(State(responder: ReplayResponder(capture)))
        self.loops = loops ? try Self.playlistLoops(of: capture) : [:]
        loopLength = max(capture.index.duration, self.loops.values.map(\.duration).max() ?? .zero)
    }

    private static func playlistLoops(of capture: CaptureDirectory) throws(CaptureError) -> [String: PlaylistLoop] {
        var loops: [String: PlaylistLoop] = [:]
        for exchange in capture.index.exchanges {
            guard case .answer(let answer) = exchange.ending, try capture.isPlaylist(answer.body),
                let playlist = try? MediaPlaylistParser.parse(try capture.bytes(of: answer.body))
            else { continue }
            if loops[exchange.url] == nil { loops[exchange.url] = PlaylistLoop(playlist) }
            loops[exchange.url]?.append(playlist)
        }
        return loops
    }

    /// The path of a URL of the capture; a path that is not found for any other URL.
    package func path(of url: String) -> String { paths.path(of: url) }

    /// - Parameters:
    ///   - path: decoded path of the request, without its query.
    ///   - range: value of the request's Range field.
    ///   - now: time since the origin started.
    package func response(to path: String, range: String?, at now: Duration) -> CapturedResponse {
        guard let resource = paths.resource(at: path) else { return .notFound(path) }
        let byteRange = range.flatMap { ByteRange(rangeField: $0) }
        let (iteration, time) = iteration(at: now)
        let lookup = state.withLock { state in
            if iteration != state.iteration { state.responder = ReplayResponder(capture) }
            state.iteration = iteration
            return state.responder.exchange(
                url: resource.url, byteRange: byteRange, isPlaylist: resource.isPlaylist, at: time)
        }
        guard let (exchange, latency) = lookup else { return .notFound(path) }
        switch exchange.ending {
        case .failure(let reason): return .failing(reason, path: path, after: latency)
        case .answer(let answer):
            guard let answer = try? capture.answer(answer, to: exchange.url) else { return .notFound(exchange.url) }
            let body =
                paths.hasManifest
                ? paths.manifest(answer, after: max(.zero, time - exchange.at))
                : localized(answer, of: exchange.url, iteration, remaining: loopLength - time)
            return response(with: answer, body: body, to: exchange, over: latency)
        }
    }

    private func response(
        with answer: FetchAnswer, body: [UInt8], to exchange: CapturedExchange, over latency: Duration
    ) -> CapturedResponse {
        var headers = answer.headers.filter(\.isServedAsRecorded)
        let hasRange = headers.contains { $0.name.lowercased() == "content-range" }
        if let range = exchange.byteRange, answer.status == 206, !hasRange {
            let last = range.offset &+ UInt64(max(1, body.count)) &- 1
            headers.append(.init(name: "Content-Range", value: "bytes \(range.offset)-\(last)/*"))
        }
        headers = headers.map { header in
            header.name == "Location" ? .init(name: header.name, value: paths.path(of: header.value)) : header
        }
        return CapturedResponse(
            status: answer.status, headers: headers, body: body, transmission: .paced(over: latency))
    }

    private func iteration(at now: Duration) -> (iteration: UInt64, time: Duration) {
        guard !loops.isEmpty, loopLength > .zero else { return (0, now) }
        let iteration = UInt64(max(0, now / loopLength))
        return (iteration, now - loopLength * Int(iteration))
    }

    /// The body; a playlist names paths of this origin, and is renumbered for the iteration if it loops.
    private func localized(
        _ answer: FetchAnswer, of url: String, _ iteration: UInt64, remaining: Duration
    ) -> [UInt8] {
        var body = answer.body
        if let loop = loops[url], let playlist = try? MediaPlaylistParser.parse(body) {
            let looped = loop.playlist(playlist, iteration: iteration, remaining: remaining)
            body = Array(PlaylistWriter.write(looped).utf8)
        }
        return state.withLock { [paths] state in
            let (bytes, defined) = PlaylistURIRewriter.rewrite(
                body, url: answer.finalURL, imported: state.variables
            ) { paths.path(of: URIReference.resolve($0, against: answer.finalURL)) }
            state.variables.removeAll { old in defined.contains { $0.name == old.name } }
            state.variables += defined
            return bytes
        }
    }
}

extension CapturedExchange {
    /// A redirected answer split into a redirect and the answer at its target; any other answer unchanged.
    fileprivate var unfoldingRedirect: [CapturedExchange] {
        guard case .answer(let answer) = ending, let final = answer.finalURL, final != url else { return [self] }
        let redirect = CapturedAnswer(
            status: 302, headers: [FetchAnswer.Header(name: "Location", value: final)], body: .text(""))
        let found = CapturedAnswer(status: answer.status, headers: answer.headers, body: answer.body)
        return [
            CapturedExchange(at: at, url: url, byteRange: byteRange, ending: .answer(redirect)),
            CapturedExchange(at: at, took: took, url: final, byteRange: byteRange, ending: .answer(found)),
        ]
    }
}

extension FetchAnswer.Header {
    /// Whether the header is sent as captured; the HTTP server writes the other headers itself.
    fileprivate var isServedAsRecorded: Bool {
        let written: Set = [
            "accept-ranges", "age", "alt-svc", "cache-control", "content-length", "date", "etag", "server", "vary",
            "x-liverelay-transmission",
        ]
        return !written.contains(name.lowercased()) && !name.lowercased().hasPrefix("access-control-")
            && !name.lowercased().hasPrefix("strict-transport")
    }
}

extension ByteRange {
    /// Parses `bytes=0-187`, the only form that a playlist's byte range becomes.
    fileprivate init?(rangeField: String) {
        guard rangeField.hasPrefix("bytes=") else { return nil }
        let bounds = rangeField.dropFirst(6).split(separator: "-", omittingEmptySubsequences: false).map { UInt64($0) }
        guard bounds.count == 2, let first = bounds[0], let last = bounds[1], first <= last, last < .max else {
            return nil
        }
        self.init(offset: first, length: last - first + 1)
    }
}

/// Maps the URLs of a capture to paths of the origin that serves it.
///
/// The paths contain numbers: `/7/segment.ts`. The templates of a DASH manifest name URLs that only a client of the
/// manifest knows. A capture with a manifest therefore gets paths made of its URLs, `/http/host/segment.m4s`, and its
/// relative references stay unchanged.
private struct CapturedPaths: Sendable {
    struct Resource: Equatable, Sendable {
        let url: String
        var isPlaylist: Bool
    }

    private(set) var hasManifest = false
    private let upstream: String
    private var numbers: [String: Int] = [:]
    private var resources: [Resource] = []
    /// The indices of resources by paths made of URLs. URLs that differ only in their queries share a path.
    private var places: [String: Int] = [:]
    /// `http://host` of all URLs.
    private var origins: Set<String> = []

    init(_ capture: CaptureDirectory) throws(CaptureError) {
        upstream = capture.index.upstream
        insert(upstream, isPlaylist: true)
        for exchange in capture.index.exchanges {
            guard case .answer(let answer) = exchange.ending else {
                insert(exchange.url, isPlaylist: false)
                continue
            }
            let isManifest = try capture.isManifest(answer.body)
            hasManifest = hasManifest || isManifest
            let isPlaylist = try capture.isPlaylist(answer.body)
            insert(exchange.url, isPlaylist: isManifest || isPlaylist)
        }
    }

    private mutating func insert(_ url: String, isPlaylist: Bool) {
        if let number = numbers[url] {
            resources[number].isPlaylist = resources[number].isPlaylist || isPlaylist
            return
        }
        numbers[url] = resources.count
        let place = Self.place(of: url)
        let decoded = PercentEncoding.decode(place[...]) ?? place
        places[decoded] = places[decoded] ?? resources.count
        if let origin = Self.origin(of: url) { origins.insert(origin) }
        resources.append(Resource(url: url, isPlaylist: isPlaylist))
    }

    /// `/7/segment.ts` or `/http/host/segment.m4s`; a path without a resource for a URL that the capture does not contain.
    func path(of url: String) -> String {
        if hasManifest { return Self.place(of: url) }
        let name = URIReference.withoutQuery(url).split(separator: "/").last ?? ""
        let isPlain = name.utf8.allSatisfy {
            $0 < 0x80 && $0 != UInt8(ascii: "%") && $0 > 0x20 && $0 != UInt8(ascii: "\"")
        }
        return "/\(numbers[url].map { $0 + 1 } ?? 0)/\(isPlain && !name.hasPrefix(".") ? name : "resource")"
    }

    func resource(at path: String) -> Resource? {
        if hasManifest {
            // A reference may be relative to the root of the manifest's host.
            let rooted = Self.origin(of: upstream).map(Self.place).flatMap { places[$0 + path] }
            return (places[path] ?? rooted).map { resources[$0] }
        }
        let parts = path.split(separator: "/")
        guard parts.count == 2, let number = Int(parts[0]), number > 0, number <= resources.count else {
            return nil
        }
        return resources[number - 1]
    }

    private static func place(of url: String) -> String {
        "/" + URIReference.withoutQuery(url).replacing("://", with: "/", maxReplacements: 1)
    }

    private static func origin(of url: String) -> String? {
        guard let scheme = URIReference.scheme(of: url), let authority = URIReference.authority(of: url) else {
            return nil
        }
        return "\(scheme)://\(authority)"
    }

    /// The body of an answer. In a manifest, absolute URLs lead to this origin, and the clock is the capture's.
    /// - Parameter elapsed: time since the capture got the answer.
    func manifest(_ answer: FetchAnswer, after elapsed: Duration) -> [UInt8] {
        guard DASHManifestParser.isManifest(answer.body), var text = String(validating: answer.body, as: UTF8.self)
        else { return answer.body }
        for origin in origins { text = text.replacing(origin + "/", with: Self.place(of: origin) + "/") }
        if !text.contains("UTCTiming"), let end = text.ranges(of: "</MPD>").last,
            let date = answer.header("Date").flatMap({ ProgramDateTime(httpDate: $0) })
        {
            let now = date.advanced(by: elapsed).text
            text.insert(
                contentsOf: "<UTCTiming schemeIdUri=\"urn:mpeg:dash:utc:direct:2014\" value=\"\(now)\"/>",
                at: end.lowerBound)
        }
        return Array(text.utf8)
    }
}
