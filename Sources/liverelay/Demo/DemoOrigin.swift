import Capture
import Foundation
import Playlist
import Tracker

/// Serves a capture as a live upstream: its playlists loop, everything else is answered as it was recorded.
struct DemoOrigin: Sendable {
    private let capture: CaptureDirectory
    private var playlists: [String: LoopingPlaylist] = [:]
    private var answers: [String: CapturedAnswer] = [:]
    /// Path of the address that the recording began with.
    let entry: String

    init(_ capture: CaptureDirectory) throws(CaptureError) {
        self.capture = capture
        entry = Self.path(of: capture.index.upstream)
        for exchange in capture.index.exchanges {
            guard case .answer(let answer) = exchange.ending, answer.status == 200 else { continue }
            answers[Self.path(of: exchange.url)] = answer
        }
        for url in Set(capture.index.exchanges.map(\.url)) {
            if let finished = try finishedPlaylist(at: url) {
                playlists[Self.path(of: url)] = LoopingPlaylist(finished)
            }
        }
    }

    /// What the origin answers `now` after it went on the air.
    func response(to target: RequestTarget, at now: Duration) -> Response {
        if let looping = playlists[target.path] {
            let text = PlaylistWriter.write(looping.playlist(at: now))
            return Response(
                contentType: .playlist, cacheControl: .noStore, body: .bytes(Array(text.utf8), gzip: nil))
        }
        guard let answer = answers[target.path], let body = try? capture.bytes(of: answer.body) else {
            return .notFound(target.path)
        }
        return Response(
            contentType: MimeType(fileName: target.path), cacheControl: .noStore, body: .bytes(body, gzip: nil))
    }

    /// All segments that the answers of `url` ever listed, in order; nil when it is no media playlist.
    private func finishedPlaylist(at url: String) throws(CaptureError) -> MediaPlaylist? {
        var segments: [UInt64: MediaSegment] = [:]
        var last: MediaPlaylist?
        for exchange in capture.index.exchanges where exchange.url == url {
            guard case .answer(let answer) = exchange.ending, answer.status == 200 else { continue }
            guard let playlist = try? MediaPlaylistParser.parse(try capture.bytes(of: answer.body)) else { return nil }
            for segment in playlist.segments { segments[segment.mediaSequence] = segment.localized(to: url) }
            last = playlist
        }
        last?.segments = segments.sorted { $0.key < $1.key }.map(\.value)
        return last
    }

    fileprivate static func path(of url: String) -> String {
        URL(string: url)?.path ?? url
    }
}

extension MediaSegment {
    /// Addresses as paths of this origin.
    fileprivate func localized(to base: String) -> MediaSegment {
        var copy = self
        let local = { (uri: String) in DemoOrigin.path(of: URIReference.resolve(uri, against: base)) }
        copy.uri = local(uri)
        if let map = map { copy.map?.uri = local(map.uri) }
        for key in copy.keys.indices { copy.keys[key].uri = local(copy.keys[key].uri) }
        return copy
    }
}
