import Channel
import Export
import HTTP
import LiveRing
import Media
import Playlist
import Support
import Synchronization

/// Answers requests for published ranges of one channel as files that never exist as a whole.
final class ClipResponder: Sendable {
    /// The number of cached clips, because a client requests a clip in several ranges.
    private static let keptCount = 2
    /// The longest head that is cached, in bytes.
    private static let longestKept = 4 << 20

    private struct Key: Hashable {
        let range: RewindRange
        let isPrecise: Bool
        /// A clip is the same until segments leave the ring.
        let firstMediaSequence: UInt64
        let ring: Int
    }

    private let state: ChannelState
    private let channel: String?
    private let kept = Mutex(LRUCache<Key, MovieClip>(limit: ClipResponder.keptCount))

    init(_ state: ChannelState, channel: String?) { (self.state, self.channel) = (state, channel) }

    // MARK: - Transport streams

    /// A range as a file that browsers save under the name of the channel and the time of its first segment.
    func transportStream(_ range: RewindRange) -> Response {
        let snapshot = state.snapshot
        guard let first = snapshot?.part(of: range)?.first,
            let date = snapshot?.index.entry(numbered: first)?.programDateTime
        else { return .nothingInRange(snapshot) }
        guard var file = transportStreamFile(range) else { return Self.unpublished }
        file.extraHeaders = [attachment(from: date, suffix: "ts")]
        return file
    }

    /// A published range; nil if its end is not published, or its size is unknown.
    func transportStreamFile(_ range: RewindRange) -> Response? {
        guard let snapshot = state.snapshot, let file = snapshot.transportStreamFile(range) else { return nil }
        let body = ExportedFile(file, in: snapshot, from: state.transportStreams) { [state] in
            state.update { $0.transportStream.unreadableSegments += 1 }
        }
        return Response(
            contentType: .transportStream, cacheControl: .noStore, etag: Self.entityTag(file.name),
            body: .made(MadeFile(body)))
    }

    // MARK: - MP4

    /// Answers with a range as an MP4 file.
    /// - Parameter client: as in `MediaPool.begin`.
    func answer(to range: RewindRange, isPrecise: Bool, for client: String?) -> Answer {
        guard let publication = state.publication, let first = publication.snapshot.index.listed.first else {
            return .now(.nothingInRange(nil))
        }
        let snapshot = publication.snapshot
        let key = Key(
            range: range, isPrecise: isPrecise, firstMediaSequence: first.mediaSequence, ring: publication.ring)
        if let known = kept.withLock({ $0.value(key) }) { return .now(response(known, snapshot)) }
        guard snapshot.part(of: range) != nil else { return .now(.nothingInRange(snapshot)) }
        return .later { [self] in
            do throws(MediaPool.Busy) {
                let made = try await MediaPool.clips.admit(client, isRemote: snapshot.remote != nil) {
                    await MediaPool.clips.perform(reading: snapshot) { snapshot in
                        Result { () throws(MovieClip.Refusal) in
                            try MovieClip(range, isPrecise: isPrecise, of: snapshot)
                        }
                    }
                }
                if case .success(let clip) = made, clip.head.count <= Self.longestKept {
                    kept.withLock { _ = $0.insert(clip, as: key, cost: 1) }
                }
                return response(made, snapshot)
            } catch {
                return state.refuseRange()
            }
        }
    }

    private func response(_ made: Result<MovieClip, MovieClip.Refusal>, _ snapshot: RingSnapshot) -> Response {
        switch made {
        case .success(let clip): response(clip, snapshot)
        case .failure(.notPublished): Self.unpublished
        case .failure(.noMedia): .nothingInRange(snapshot)
        case .failure(.tooLong): .text(.badRequest, "A clip in MP4 has 6 hours at most; clip.ts has no limit.")
        }
    }

    private func response(_ clip: MovieClip, _ snapshot: RingSnapshot) -> Response {
        let head = MediaPool.clips.held.hold(clip.head)
        let body = ExportedFile(byteCount: clip.byteCount, head: { head.bytes }, in: snapshot, stored: clip.part)
        return Response(
            contentType: .videoMP4, cacheControl: .noStore, etag: Self.entityTag(clip.name),
            body: .made(MadeFile(body)),
            extraHeaders: [attachment(from: clip.date, suffix: "mp4")])
    }

    private static let unpublished = Response.text(.notFound, "A clip needs an end that is published.")

    private static func entityTag(_ name: String) -> String { "\"\(ContentHash.hexName(of: Array(name.utf8)))\"" }

    private func attachment(from date: ProgramDateTime, suffix: String) -> HeaderField {
        let time = date.text.prefix(19).filter { $0 != ":" }
        let name = "\(channel ?? "liverelay")-\(time)Z.\(suffix)"
        return HeaderField(name: "Content-Disposition", value: "attachment; filename=\"\(name)\"")
    }
}

extension MadeFile {
    convenience init(_ file: ExportedFile) {
        self.init(byteCount: file.byteCount) { bytes in
            let reader = ExportedFile.Reader(file, bytes: bytes)
            return ByteStream { await reader.next() }
        }
    }
}

extension Response {
    /// The answer to a range without media. It has a body, unlike a temporarily refused stream: people read which media
    /// exists, and no client plays a 404.
    static func nothingInRange(_ snapshot: RingSnapshot?) -> Response {
        let reason = snapshot.nothingInRange
        var response = Response.text(.notFound, reason)
        response.extraHeaders = [.reason(reason)]
        return response
    }
}
