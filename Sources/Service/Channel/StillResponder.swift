import Channel
import Export
import HTTP
import LiveRing
import Media
import Playlist
import Support
import Transcode

/// Answers requests for stills of one channel. They are decoded on the thread for stills.
final class StillResponder: Sendable {
    /// A still, or the reason why there is none.
    enum Outcome: Sendable {
        case made([UInt8])
        /// A sheet without the tiles that could not be read or decoded. It is not cached.
        case incomplete([UInt8])
        case kept([UInt8])
        case failed(StoredStill.Refusal)
    }

    private let state: ChannelState
    private let store: StillStore

    init(_ state: ChannelState, store: StillStore) {
        (self.state, self.store) = (state, store)
        state.update { $0.stills = RelayStatus.Stills() }
    }

    /// Answers with the still of a moment, in the height that its frames have at that width.
    func answer(to still: Route.Still, for target: RequestTarget) -> Answer {
        guard let snapshot = state.snapshot, let dates = snapshot.dates else { return .now(.nothingInRange(nil)) }
        let date = still.date ?? dates.end
        guard date >= dates.first else { return .now(.nothingInRange(snapshot)) }
        // If the date is after the live edge, a later segment may contain a nearer still.
        let isPast = date < dates.end
        let box = StillImage.Size(width: still.width, height: 2 * still.width)
        let nearest = min(date, dates.end)
        let request = "\(snapshot.directory) \(nearest.millisecondsSince1970) \(still.width)"
        return answer(
            as: request, snapshot, for: target,
            cacheControl: isPast ? .immutable : .maxAge(seconds: snapshot.index.targetDuration)
        ) { [store] in
            await store.pool.perform(reading: snapshot) { Self.still(at: nearest, in: box, of: $0, store) }
        }
    }

    /// Answers with a sheet of stills. For another sheet, some of its stills may be decoded between two tiles of this
    /// one.
    func answer(toSheet name: String, for target: RequestTarget) -> Answer {
        guard let sheet = StillSheet(name: name) else { return .now(.notFound(target.path)) }
        guard let snapshot = state.snapshot, let end = snapshot.dates?.end else { return .now(.nothingInRange(nil)) }
        let rows = sheet.finishedRows(at: end)
        guard rows > 0 else { return .now(.notFound(target.path, cacheControl: .maxAge(seconds: Int(sheet.interval)))) }
        let name = "\(snapshot.directory) \(sheet.name) \(rows)"
        return answer(
            as: name, snapshot, for: target,
            cacheControl: rows == StillSheet.rows ? .immutable : .maxAge(seconds: Int(sheet.interval))
        ) { [store] in
            if let known = store.still(named: name) { return .kept(known) }
            var (image, isEmpty) = (sheet.blank, true)
            var failure: StoredStill.Refusal?
            for row in 0..<rows {
                let tiles = sheet.tiles(row: row)
                for (tile, loaded) in zip(tiles, await Self.load(tiles, of: snapshot, store)) {
                    do throws(StoredStill.Refusal) {
                        guard let loaded = try loaded.get() else { continue }
                        let still = try await store.pool.perform { () throws(StoredStill.Refusal) in
                            try loaded.decoded(in: StillSheet.tile)
                        }
                        image.draw(still, in: StillSheet.tile, at: tile.origin)
                        isEmpty = false
                    } catch { failure = error }
                }
            }
            guard !isEmpty else { return .failed(failure ?? .noMedia) }
            let (made, isWhole) = (image, failure == nil)
            return await store.pool.perform { Self.encode(made, as: isWhole ? name : nil, store) }
        }
    }

    /// Answers with the times of stills on sheets, for players' scrub bars.
    func answer(toTrackOf range: RewindRange, for target: RequestTarget, _ work: PlaylistCache) -> Answer {
        let snapshot = state.snapshot
        return .later { [self] in
            do throws(MediaPool.Busy) {
                let text = try await work.perform(for: PlaylistResponder.client(of: target.fields)) {
                    snapshot?.stillTrack(of: range, query: target.viewer.query?.value)
                }
                guard let snapshot, let text else { return .nothingInRange(snapshot) }
                return Response(
                    contentType: .webVTT, cacheControl: .maxAge(seconds: snapshot.index.targetDuration),
                    body: .bytes(Array(text.utf8), gzip: nil))
            } catch { return busy }
        }
    }

    private func answer(
        as request: String, _ snapshot: RingSnapshot, for target: RequestTarget, cacheControl: CacheControl,
        make: @escaping @Sendable () async -> Outcome
    ) -> Answer {
        .later { [self] in
            do throws(MediaPool.Busy) {
                let outcome = try await store.outcome(
                    of: request, for: PlaylistResponder.client(of: target.fields), isRemote: snapshot.remote != nil,
                    make: make)
                return response(to: outcome, snapshot, cacheControl)
            } catch { return busy }
        }
    }

    private static func still(
        at date: ProgramDateTime, in box: StillImage.Size, of snapshot: RingSnapshot, _ store: StillStore
    ) -> Outcome {
        do throws(StoredStill.Refusal) {
            let stored = try StoredStill(at: date, in: snapshot)
            let name = "\(stored.name) \(box.width)"
            if let known = store.still(named: name) { return .kept(known) }
            return encode(try stored.decoded(in: box), as: name, store)
        } catch { return .failed(error) }
    }

    /// The samples from which the stills of some tiles are decoded; nil without media.
    private static func load(
        _ tiles: [StillSheet.Tile], of snapshot: RingSnapshot, _ store: StillStore
    ) async -> [Result<LoadedStill?, StoredStill.Refusal>] {
        await store.pool.perform(reading: snapshot) { snapshot in
            tiles.map { tile in
                Result { () throws(StoredStill.Refusal) in try StoredStill(of: tile, in: snapshot)?.loaded() }
            }
        }
    }

    /// - Parameter name: nil: the image is a sheet without some of its tiles.
    private static func encode(_ image: StillImage, as name: String?, _ store: StillStore) -> Outcome {
        do throws(MediaError) {
            let bytes = try JPEGEncoder.encode(image)
            guard let name else { return .incomplete(bytes) }
            store.keep(bytes, as: name)
            return .made(bytes)
        } catch { return .failed(.undecodable(error)) }
    }

    private func response(to outcome: Outcome, _ snapshot: RingSnapshot, _ cacheControl: CacheControl) -> Response {
        switch outcome {
        case .made(let bytes):
            state.update { $0.stills?.made += 1 }
            return Self.response(bytes, cacheControl)
        case .incomplete(let bytes):
            state.update { $0.stills?.failed += 1 }
            return Self.response(bytes, .maxAge(seconds: snapshot.index.targetDuration))
        case .kept(let bytes):
            state.update { $0.stills?.cached += 1 }
            return Self.response(bytes, cacheControl)
        case .failed(.noMedia): return .nothingInRange(snapshot)
        case .failed(.noVideo): return .text(.notFound, "There is no video at that time.")
        case .failed(.spool(let error)):
            state.update { $0.stills?.failed += 1 }
            return .text(.notFound, "The segment cannot be read: \(error.message)")
        case .failed(.undecodable(let error)):
            state.update { $0.stills?.failed += 1 }
            return .text(.badGateway, "libavcodec cannot decode the frame: \(error.message)")
        }
    }

    private static func response(_ bytes: [UInt8], _ cacheControl: CacheControl) -> Response {
        Response(
            contentType: .jpeg, cacheControl: cacheControl, etag: EntityTag.ofContent(bytes),
            body: .bytes(bytes, gzip: nil))
    }

    private var busy: Response {
        state.update { $0.stills?.refused += 1 }
        return .unavailable("Too many stills are asked for at once.")
    }
}
