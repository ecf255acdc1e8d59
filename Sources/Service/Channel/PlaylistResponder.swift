import Channel
import Export
import HTTP
import LiveRing
import Playlist
import Support

/// Answers requests for the playlists of one channel, and for other documents made from many segments.
///
/// A short playlist is rendered on the event loop that asks for it, and others on a thread of their own.
final class PlaylistResponder: Sendable {
    /// How long a player that waits for a segment is held. If hls.js gets no answer in 10 s, it assumes a timeout and
    /// asks again without waiting.
    static let longestWait = Duration.seconds(15)
    /// How long a player is held for the first segment of a variant. If hls.js gets no answer in 10 s, it assumes a
    /// timeout.
    static let longestStart = Duration.seconds(8)
    /// The number of segments that take less than a millisecond to render.
    private static let shortPlaylist = 64
    /// The number of bytes that take less than a millisecond to compress.
    private static let shortText = 16 * 1024

    private let state: ChannelState
    let cache = PlaylistCache()

    init(_ state: ChannelState) { self.state = state }

    /// Answers at once if the playlist is short or cached, and contains the segment that the player waits for.
    func answer(to resource: Route.Playlist, for target: RequestTarget) -> Answer {
        do throws(RewindRange.BadQuery) {
            let directives = try ReloadDirectives(target.query)
            let asked = try target.query.adPresentation()
            var key = PlaylistCache.Key(
                resource: resource, form: directives.skips ? .delta : .whole, folder: target.folder,
                query: target.viewer.query)
            if let asked, case .master = resource { key.query = Self.query(key.query, adding: asked) }
            switch asked ?? state.ads {
            case .keep: break
            case .mark: key.ads = .mark
            case .slate:
                guard let files = state.breakSlate?.files else {
                    return loadingSlate(key, directives, isAsked: asked != nil, for: target)
                }
                key.ads = .slate(files)
            }
            return answer(to: key, directives, for: target)
        } catch { return .now(.badQuery(error)) }
    }

    /// The query for the URIs of a master playlist, so that its playlists present ad breaks in the same way.
    private static func query(_ query: Secret?, adding ads: AdPresentation) -> Secret {
        Secret([query?.value, "ads=\(ads.rawValue)"].compactMap(\.self).joined(separator: "&"))
    }

    /// Answers after the slate was read. If it cannot be read, viewers who did not ask for it get the playlist without
    /// it.
    private func loadingSlate(
        _ key: PlaylistCache.Key, _ directives: ReloadDirectives, isAsked: Bool, for target: RequestTarget
    ) -> Answer {
        if state.breakSlate == nil { return .now(.text(.notFound, "The channel has no slate.")) }
        return .later { [self] in
            var key = key
            if let files = await state.loadBreakSlate() {
                key.ads = .slate(files)
            } else if isAsked {
                let hasSegments = state.snapshot?.hasSegments == true
                return .unavailable(hasSegments ? "The slate cannot be read." : state.absenceReason)
            }
            return await answer(to: key, directives, for: target).response()
        }
    }

    private func answer(
        to key: PlaylistCache.Key, _ directives: ReloadDirectives, for target: RequestTarget
    ) -> Answer {
        // A request for archived media is repeated as a whole.
        if state.isArchived {
            var whole = key
            whole.form = .unannounced
            return answer(to: whole, for: target)
        }
        if case .video(let number) = key.resource.awaitedContent, number > 0, let snapshot = state.snapshot,
            snapshot.offers(.video(number)), !snapshot.hasEnded, !snapshot.hasMedia(ofVideo: number)
        {
            // A HEAD request only asks about the path, so nothing is started.
            if target.method == .head {
                return .now(Response(contentType: .playlist, cacheControl: .noStore, body: .empty))
            }
            return waiting(until: .now + Self.longestStart) {
                $0.newest?.hasMedia(ofVideo: number) == true
            } answer: { [self] _ in
                answer(to: key, for: target)
            }
        }
        guard let number = directives.mediaSequence, let content = key.resource.awaitedContent,
            let snapshot = state.snapshot, !snapshot.hasEnded
        else { return answer(to: key, for: target) }
        let next = snapshot.nextMediaSequence(of: content)
        // A player asks for the next segment, or the one after it.
        guard number <= next + 1 else { return .now(.text(.badRequest, "The next segment has the number \(next).")) }
        // The answer is the same for all players that wait for the segment (draft-pantos-hls-rfc8216bis, Appendix B).
        let keptLonger = { @Sendable (response: Response) in
            var response = response
            if response.status == .ok { response.cacheControl = .maxAge(seconds: 6 * snapshot.index.targetDuration) }
            return response
        }
        if number < next { return answer(to: key, for: target).map(keptLonger) }
        let deadline = ContinuousClock.now + min(Self.longestWait, .seconds(3 * snapshot.index.targetDuration))
        return waiting(until: deadline) {
            $0.nextMediaSequence(of: content) > number
        } answer: { [self] isListed in
            isListed
                ? answer(to: key, for: target).map(keptLonger)
                : .now(.unavailable("The segment is late: ask again without _HLS_msn."))
        }
    }

    /// Waits until a snapshot contains the requested media, or the playlist has ended.
    /// - Parameter answer: returns the answer, given whether the snapshot contains the media.
    private func waiting(
        until deadline: ContinuousClock.Instant, _ condition: @escaping @Sendable (RingSnapshot) -> Bool,
        answer: @escaping @Sendable (Bool) -> Answer
    ) -> Answer {
        .waiting { [self] wait, complete in
            when(condition, until: deadline, wait) { isListed in
                switch answer(isListed) {
                case .now(let response): complete(response)
                case let longer: Task { complete(await longer.response()) }
                }
            }
        }
    }

    /// Calls `body` once: with true when a snapshot meets a condition or the playlist has ended; with false if the
    /// channel failed, at the deadline, or when the wait is canceled.
    private func when(
        _ condition: @escaping @Sendable (RingSnapshot) -> Bool, until deadline: ContinuousClock.Instant,
        _ wait: ChangeSignal.Wait,
        _ body: @escaping @Sendable (Bool) -> Void
    ) {
        // Read before the snapshot, so that any later change ends the wait.
        let changes = state.publications.changes
        let isOver = state.isOver
        guard let snapshot = state.snapshot, !wait.isCanceled, .now < deadline else { return body(false) }
        if snapshot.hasEnded || condition(snapshot) { return body(true) }
        if isOver { return body(false) }
        state.publications.wait(wait, after: changes, until: deadline) { [self] in
            when(condition, until: deadline, wait, body)
        }
    }

    private func answer(to asked: PlaylistCache.Key, for target: RequestTarget) -> Answer {
        guard let publication = state.publication else { return .now(absence(of: asked.resource, nil)) }
        let resource = asked.resource.rounded(in: publication.snapshot)
        var rounded = asked
        rounded.resource = resource
        let key = rounded
        let isCompressed = target.fields.allowsGzip
        if let known = cache.rendered(key, of: publication) {
            let takesLonger = isCompressed && known.bytes.count > Self.shortText && !known.gzip.isFinished
            if !takesLonger { return .now(response(known, as: resource, publication)) }
        } else if resource.segmentCount(in: publication.snapshot) <= Self.shortPlaylist {
            return .now(response(cache.playlist(key, of: publication), as: resource, publication))
        }
        let client = Self.client(of: target.fields)
        return .later { [self] in
            do throws(MediaPool.Busy) {
                let rendered = try await cache.playlist(key, of: publication, compressed: isCompressed, client: client)
                return response(rendered, as: resource, publication)
            } catch {
                return state.refuseRange()
            }
        }
    }

    func answer(toBreaksIn range: RewindRange, for target: RequestTarget) -> Answer {
        let (snapshot, client) = (state.snapshot, Self.client(of: target.fields))
        return .later { [self] in
            do throws(MediaPool.Busy) {
                let text = try await cache.perform(for: client) { snapshot?.adBreaks(range)?.json }
                guard let text else { return .text(.notFound, snapshot.nothingInRange) }
                return .document(.json, text)
            } catch {
                return state.refuseRange()
            }
        }
    }

    private func response(
        _ rendered: PlaylistCache.Rendered?, as resource: Route.Playlist, _ publication: ChannelState.Publication
    ) -> Response {
        guard let rendered else { return absence(of: resource, publication.snapshot) }
        return Response(
            contentType: .playlist,
            cacheControl: .playlist(targetDuration: publication.snapshot.index.targetDuration),
            body: .bytes(rendered.bytes, gzip: rendered.gzip))
    }

    /// The answer if a playlist lists nothing. An empty playlist would make a player give up.
    private func absence(of resource: Route.Playlist, _ snapshot: RingSnapshot?) -> Response {
        switch resource {
        case .live(let content) where snapshot?.offers(content) == false: return .text(.notFound, "No such rendition.")
        case .live, .master(_, nil), .rewind(.fragmentedMP4, .whole), .rewind(.transportStream, .whole):
            return .unavailable(state.absenceReason)
        case .master, .rewind, .selection: return .text(.notFound, snapshot.nothingInRange)
        }
    }

    /// The client as it or its proxy claims. A false claim is harmless, because all clients together have a limit too.
    static func client(of fields: RequestTarget.Fields) -> String? {
        fields.peer.map {
            [$0, fields.forwarding.addresses ?? fields.forwarding.forwarded ?? ""].joined(separator: " ")
        }
    }
}

extension ChannelState {
    /// The reason why there is nothing to watch yet, for a viewer.
    var absenceReason: String {
        let status = status
        if let failure = status.output.writeFailure {
            let isFull = if case .spool(let error) = failure.reason { error.isDiskFull } else { false }
            return "Nothing can be published: the disk of the server \(isFull ? "is full" : "cannot be written")."
        }
        guard let reason = status.reason else { return "Nothing is published yet: see status.json." }
        return "Nothing is published yet: \(reason.message)".asSentence
    }

    /// The answer to a refused range. The refusal is counted.
    func refuseRange() -> Response {
        update { $0.output.rangesRefused += 1 }
        return .unavailable("Too many parts of the rewind are asked for at once.")
    }
}

extension RingSnapshot? {
    /// The text of an answer 404 for a range.
    var nothingInRange: String {
        guard let dates = self?.dates else { return "Nothing of that range is in the rewind, which is empty." }
        return "Nothing of that range is in the rewind, which has \(dates.first.text) to \(dates.end.text)."
    }
}

extension [AdBreak] {
    fileprivate var json: String {
        var document = JSONObject()
        document.add(
            "breaks",
            list: lazy.map { found in
                var object = JSONObject(["evidence": found.evidence.rawValue, "start": found.start.text])
                object.add("id", found.id)
                object.add("end", found.end?.text)
                object.add("seconds", seconds: found.end.map { Double($0.milliseconds(since: found.start)) / 1000 })
                object.add("parts", texts: found.parts.map(\.text))
                return object
            })
        return document.text
    }
}
