import Foundation
import Playlist
import Synchronization
import Tracker

/// Serves a capture as the upstream it was recorded from: at each time what was answered then, in the time it took, the
/// faults included.
///
/// Every address of the capture, whatever its host, has a path here; playlists name these instead. A fault that left no
/// answer (a reset, a refused connection, a name that is not found) is a connection that breaks off.
final class RecordedOrigin: Sendable {
    private let capture: CaptureDirectory
    private let urls: URLTable
    private let state: Mutex<State>
    /// By address, when the capture begins again at its end; empty when it ends.
    private let loops: [String: PlaylistLoop]
    private let loopLength: Duration

    private struct State {
        var answers: ReplayResponder
        var round: UInt64 = 0
        /// Of the playlists served so far, for those that import them.
        var variables: [VariableDefinition] = []
    }

    /// Path of the address that the recording began with.
    var entryPath: String { path(of: capture.index.upstream) }

    /// - Parameter loops: at its end the capture begins again, its numbers go on.
    init(_ capture: CaptureDirectory, loops: Bool = false) throws(CaptureError) {
        let unfolded = CaptureDirectory(capture.url, index: capture.index.unfoldingRedirects)
        self.capture = unfolded
        var table = URLTable()
        table.insert(unfolded.index.upstream, isPlaylist: true)
        for exchange in unfolded.index.exchanges {
            guard case .answer(let answer) = exchange.ending else {
                table.insert(exchange.url, isPlaylist: false)
                continue
            }
            table.insert(exchange.url, isPlaylist: try capture.isPlaylist(answer.body))
        }
        urls = table
        state = Mutex(State(answers: ReplayResponder(unfolded)))
        let rounds = loops ? try Self.rounds(of: unfolded) : [:]
        self.loops = rounds
        loopLength = unfolded.index.duration + (rounds.values.map(\.targetDuration).max() ?? .zero)
    }

    private static func rounds(of capture: CaptureDirectory) throws(CaptureError) -> [String: PlaylistLoop] {
        var rounds: [String: PlaylistLoop] = [:]
        for exchange in capture.index.exchanges {
            guard case .answer(let answer) = exchange.ending, try capture.isPlaylist(answer.body),
                let list = try? MediaPlaylistParser.parse(try capture.bytes(of: answer.body))
            else { continue }
            if rounds[exchange.url] == nil { rounds[exchange.url] = PlaylistLoop(list) }
            rounds[exchange.url]?.append(list)
        }
        return rounds
    }

    /// What stands here for an address of the capture; a path that leads nowhere for any other.
    func path(of url: String) -> String { urls.path(of: url) }

    /// What the origin answers `now` after it went on the air.
    func response(to target: RequestTarget, at now: Duration) -> Response {
        guard let known = urls.resource(at: target.path) else { return .notFound(target.path) }
        let range = target.fields.range.flatMap { ByteRange(rangeField: $0) }
        let (round, time) = iteration(at: now)
        let found = state.withLock { state in
            if round != state.round { state.answers = ReplayResponder(capture) }
            state.round = round
            return state.answers.exchange(url: known.url, byteRange: range, isPlaylist: known.isPlaylist, at: time)
        }
        guard case .exchange(let exchange, let latency) = found else { return .notFound(target.path) }
        switch exchange.ending {
        case .failure(let reason): return .failing(reason, asked: target.path, after: latency)
        case .answer(let answer): return response(with: answer, to: exchange, over: latency, in: round)
        }
    }

    private func response(
        with recorded: CapturedAnswer, to exchange: CapturedExchange, over latency: Duration, in round: UInt64
    ) -> Response {
        guard let answer = try? capture.answer(recorded, to: exchange.url) else { return .notFound(exchange.url) }
        let body = localized(answer, of: exchange.url, in: round)
        var fields = answer.headers.filter(\.isServedAsRecorded).map { HeaderField(name: $0.name, value: $0.value) }
        if let range = exchange.byteRange, answer.status == HTTPStatus.partialContent.rawValue {
            let last = range.offset &+ UInt64(max(1, body.count)) &- 1
            fields.append(HeaderField(name: "Content-Range", value: "bytes \(range.offset)-\(last)/*"))
        }
        fields = fields.map { field in
            field.name == "Location" ? HeaderField(name: field.name, value: urls.path(of: field.value)) : field
        }
        return Response(
            status: HTTPStatus(rawValue: answer.status), contentType: nil, cacheControl: .noStore,
            body: body.isEmpty ? .empty : .bytes(body, gzip: nil), extraHeaders: fields,
            pace: .slow(over: latency, breaksOffAfter: nil))
    }
}

extension RecordedOrigin {
    /// Which round it is, and the time since that began.
    private func iteration(at now: Duration) -> (round: UInt64, time: Duration) {
        guard !loops.isEmpty, loopLength > .zero else { return (0, now) }
        let round = UInt64(max(0, now / loopLength))
        return (round, now - loopLength * Int(round))
    }

    /// The body; of a playlist what it says in that round, with its addresses as paths of this origin.
    private func localized(_ answer: FetchAnswer, of url: String, in round: UInt64) -> [UInt8] {
        let body = looped(answer.body, of: url, in: round)
        let rules = PlaylistURIRewriter.Rules { [urls] in
            urls.path(of: URIReference.resolve($0, against: answer.finalURL))
        }
        return state.withLock { state in
            let (bytes, defined) = PlaylistURIRewriter.rewrite(
                body, url: answer.finalURL, imported: state.variables, rules: rules)
            state.variables.removeAll { old in defined.contains { $0.name == old.name } }
            state.variables += defined
            return bytes
        }
    }

    private func looped(_ body: [UInt8], of url: String, in round: UInt64) -> [UInt8] {
        guard let rounds = loops[url], let list = try? MediaPlaylistParser.parse(body) else { return body }
        return Array(PlaylistWriter.write(rounds.playlist(list, iteration: round)).utf8)
    }
}

/// Which path stands for which address.
private struct URLTable {
    private var numbers: [String: Int] = [:]
    private var known: [(url: String, isPlaylist: Bool)] = []

    mutating func insert(_ url: String, isPlaylist: Bool) {
        if let number = numbers[url] {
            known[number].isPlaylist = known[number].isPlaylist || isPlaylist
        } else {
            numbers[url] = known.count
            known.append((url, isPlaylist))
        }
    }

    /// `/7/segment.ts`; one that the capture does not have leads nowhere.
    func path(of url: String) -> String {
        let name = URIReference.withoutQuery(url).split(separator: "/").last ?? ""
        let isPlain = name.utf8.allSatisfy {
            $0 < 0x80 && $0 != UInt8(ascii: "%") && $0 > 0x20 && $0 != UInt8(ascii: "\"")
        }
        return "/\(numbers[url].map { $0 + 1 } ?? 0)/\(isPlain && !name.hasPrefix(".") ? name : "resource")"
    }

    func resource(at path: String) -> (url: String, isPlaylist: Bool)? {
        let parts = path.split(separator: "/")
        guard parts.count == 2, let number = Int(parts[0]), known.indices.contains(number - 1) else { return nil }
        return known[number - 1]
    }
}

extension CaptureIndex {
    /// An answer that came from elsewhere, as the redirect and what was found there.
    fileprivate var unfoldingRedirects: CaptureIndex {
        let unfolded = exchanges.flatMap { exchange -> [CapturedExchange] in
            guard case .answer(let answer) = exchange.ending, let final = answer.finalURL, final != exchange.url else {
                return [exchange]
            }
            let redirect = CapturedAnswer(
                status: 302, headers: [FetchAnswer.Header(name: "Location", value: final)], body: .text(""))
            let found = CapturedAnswer(status: answer.status, headers: answer.headers, body: answer.body)
            return [
                CapturedExchange(
                    at: exchange.at, url: exchange.url, byteRange: exchange.byteRange, ending: .answer(redirect)),
                CapturedExchange(
                    at: exchange.at, took: exchange.took, url: final, byteRange: exchange.byteRange,
                    ending: .answer(found)),
            ]
        }
        return CaptureIndex(upstream: upstream, about: about, variant: variant, exchanges: unfolded)
    }
}

extension FetchAnswer.Header {
    /// Not what the server says for itself.
    fileprivate var isServedAsRecorded: Bool {
        let own: Set = [
            "accept-ranges", "age", "alt-svc", "cache-control", "content-range", "date", "etag", "server", "vary",
        ]
        return !own.contains(name.lowercased()) && !name.lowercased().hasPrefix("access-control-")
            && !name.lowercased().hasPrefix("strict-transport")
    }
}

extension ByteRange {
    /// `bytes=0-187`: the only form that names a range of a playlist.
    fileprivate init?(rangeField: String) {
        guard rangeField.hasPrefix("bytes=") else { return nil }
        let bounds = rangeField.dropFirst(6).split(separator: "-", omittingEmptySubsequences: false).map { UInt64($0) }
        guard bounds.count == 2, let first = bounds[0], let last = bounds[1], first <= last, last < .max else {
            return nil
        }
        self.init(offset: first, length: last - first + 1)
    }
}

extension Response {
    /// Of a body that never came whole.
    private static let announcedByteCount = 65_536

    fileprivate static func failing(
        _ reason: FetchError.Reason, asked path: String, after latency: Duration
    ) -> Response {
        var response = Response(contentType: nil, cacheControl: .noStore, body: .empty)
        switch reason {
        case .timedOut, .canceled: response.pace = .silent(until: nil)
        case .shortBody:
            response.body = .bytes([UInt8](repeating: 0, count: announcedByteCount), gzip: nil)
            response.pace = .slow(over: latency, breaksOffAfter: announcedByteCount / 2)
        case .tooManyRedirects: response = .redirect(to: path)
        case .unsupportedScheme: response = .redirect(to: "ftp://upstream.invalid/")
        case .notInCapture: response = .notFound(path)
        default: response.pace = .silent(until: latency)
        }
        return response
    }

    private static func redirect(to address: String) -> Response {
        Response(
            status: .found, contentType: nil, cacheControl: .noStore, body: .empty,
            extraHeaders: [HeaderField(name: "Location", value: address)])
    }
}
