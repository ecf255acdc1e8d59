package import Channel
import Export
package import HTTP
import LiveRing
package import Media
import Mux
import Support

/// Answers HTTP requests for one channel from its present published state.
///
/// Event loops call it concurrently. Playlists are rendered and compressed on request, once per version of the ring.
package final class ChannelResponder: Sendable {
    /// The longest time for which a request is held. hls.js and Kodi wait 20 s for an answer.
    private static let longestHold = Duration.seconds(15)
    /// The bytes of a segment's file that contain its header: 10 s at 60 frames per second with audio have some 20 KiB.
    private static let extractedHead = 64 << 10

    let state: ChannelState
    /// Media that a client of the endless transport stream gets at once.
    private let burst: Ticks
    package let sentBytes: ByteCounter
    private let playlists: PlaylistResponder
    private let clips: ClipResponder
    /// nil: there are no stills.
    private let stills: StillResponder?
    /// nil: the ring contains all media.
    private let archive: ArchiveResponder?

    /// - Parameters:
    ///   - channel: the channel's slug; nil in a process of one channel.
    package init(
        _ state: ChannelState, burst: Ticks = EndlessStream.Policy().burst, channel: String? = nil,
        offersStills: Bool = true, archive: ArchiveResponder? = nil
    ) {
        self.state = state
        self.archive = archive
        self.burst = burst
        sentBytes = ByteCounter(channel: channel)
        playlists = PlaylistResponder(state)
        clips = ClipResponder(state, channel: channel)
        stills = offersStills ? StillResponder(state, store: .shared) : nil
    }

    var snapshot: RingSnapshot? { state.snapshot }

    /// Answers a request for a resource of the channel, and counts the bytes sent.
    /// - Parameter watch: wraps an endless stream with the actions of the process while a client reads it.
    func answer(
        to resource: Route.Resource, _ target: RequestTarget,
        watch: @escaping @Sendable (ByteStream) -> ByteStream = { $0 }
    ) -> Answer {
        if target.method == .get { demandVariant(of: resource) }
        let answer = storedAnswer(to: resource, target) ?? localAnswer(to: resource, target)
        return answer.map { [sentBytes] in
            var response = $0
            response.sentBytes = sentBytes
            response.body = response.body.mapStreams(watch)
            return response
        }
    }

    /// nil: the archive in a store is not needed, or the channel has none.
    private func storedAnswer(to resource: Route.Resource, _ target: RequestTarget) -> Answer? {
        guard let archive, !isOfSlate(resource) else { return nil }
        let ads = ArchivedAds(state.ads, slate: state.breakSlate)
        return archive.answer(to: resource, target, local: snapshot, ads: ads)
    }

    /// Requests a variant on demand, as long as clients get its playlist or its segments. A HEAD request has no effect.
    private func demandVariant(of resource: Route.Resource) {
        switch resource {
        case .playlist(let playlist): playlist.furtherVariant.map(state.demandVariant)
        case .trackFile(let name):
            if let file = SpoolName.trackFile(named: name), file.kind == .video { state.demandVariant(file.track + 1) }
        default: break
        }
    }

    private func localAnswer(to resource: Route.Resource, _ target: RequestTarget) -> Answer {
        switch resource {
        case .playlist(let playlist): playlists.answer(to: playlist, for: target)
        case .transportSegment(let name): .later { [self] in await transportSegment(named: name, at: target.path) }
        case .endlessStream(let stream) where target.method == .get && snapshot?.hasTransportStream != true:
            .later { [self] in
                await waitForTransportStream()
                guard snapshot?.hasTransportStream == true else {
                    return .refusal(
                        .serviceUnavailable, of: .stream, reason: state.absenceReason, retryAfter: 1)
                }
                return endlessStream(stream, target)
            }
        case .endlessStream(let stream): .now(endlessStream(stream, target))
        case .segment(let name) where breakEntry(name) != nil:
            .later { [self] in
                guard let bytes = await breakSegment(name) else { return .notFound(target.path) }
                return Self.file(.bytes(bytes, gzip: nil), named: name)
            }
        case .extract(let track, let name):
            .later { [self] in
                if let response = await breakExtract(track, of: name) { return response }
                return await extract(track, of: name, at: target.path)
            }
        case .breaks(let range): playlists.answer(toBreaksIn: range, for: target)
        case .still(let still): stills?.answer(to: still, for: target) ?? .now(Self.withoutStills)
        case .stillSheet(let name): stills?.answer(toSheet: name, for: target) ?? .now(Self.withoutStills)
        case .stillTrack(let range):
            stills?.answer(toTrackOf: range, for: target, playlists.cache) ?? .now(Self.withoutStills)
        case .clip(let range, let isPrecise):
            clips.answer(
                to: range, isPrecise: isPrecise, for: PlaylistResponder.client(of: target.fields))
        case .segment(let name): stored(at: target.path) { $0.index.segmentFile(named: name) }
        case .trackFile(let name): stored(at: target.path) { $0.index.trackFile(named: name) }
        case .initSection(let name):
            .now(
                breakInitialization(name).map { Self.file(.bytes($0, gzip: nil), named: name) }
                    ?? file(at: target.path) { $0.index.initializationFile(named: name) })
        case .subtitles(let name): .now(file(at: target.path) { $0.subtitleFile(named: name) })
        case .transportClip(let range): .now(clips.transportStream(range))
        case .status: .now(.json(of: state.status))
        case .health: .now(.text(.ok, "ok"))
        case .readiness: .now(readiness)
        case .page: .now(Page.channel)
        case .pageFile(let file): .now(Page.response(at: file) ?? .notFound(target.path))
        case .programs, .notFound: .now(.notFound(target.path))
        case .badQuery(let error): .now(.badQuery(error))
        }
    }

    private static let withoutStills = Response.text(.notFound, "Stills are switched off (--no-stills).")

    /// Returns an endless response, or a published range as a file. Nothing is made before the client reads.
    private func endlessStream(_ request: Route.EndlessStream, _ target: RequestTarget) -> Response {
        let ads: AdPresentation
        do throws(RewindRange.BadQuery) { ads = try target.query.adPresentation() ?? state.ads } catch {
            return .badQuery(error)
        }
        if ads == .slate, state.breakSlate == nil { return .text(.notFound, "The channel has no slate.") }
        // A file has no pace, and its size is the size of the published segments.
        let isPaced = if case .percent = request.speed { true } else { false }
        if ads != .slate, !isPaced, let file = clips.transportStreamFile(request.range) { return file }
        var policy = EndlessStream.Policy(burst: burst)
        var isComplete = false
        if request.range != .whole {
            guard let part = snapshot?.part(of: request.range) else {
                return .nothingInRange(snapshot)
            }
            policy.start = .segment(part.first, offset: Ticks(part.offset))
            policy.end = request.end
            policy.longestLag = nil
            isComplete = part.isComplete && request.end != nil
        }
        switch request.speed {
        case .maximum: policy.pace = .none
        case .percent(let percent): policy.pace = .realTime(percent: percent)
        case .automatic: policy.pace = isComplete ? .none : .realTime(percent: 100)
        }
        let reader = EndlessStreamReader(state, policy, ads: ads)
        return Response(
            contentType: .transportStream, cacheControl: .noStore, body: .stream(ByteStream { await reader.next() }))
    }

    /// Waits for the first media, so that a stream begins with its tables and not with silence.
    private func waitForTransportStream() async {
        let clock = ContinuousClock()
        let end = clock.now + Self.longestHold
        while clock.now < end, !Task.isCancelled, !state.isOver, snapshot?.hasTransportStream != true {
            try? await Task.sleep(for: .milliseconds(100))
        }
    }

    private func transportSegment(named name: String, at path: String) async -> Response {
        let replaced = SpoolName.segment(ofTransportStream: name).flatMap(breakEntry)
        guard let snapshot, let entry = replaced ?? snapshot.index.entry(ofTransportStream: name) else {
            return notPublished(path)
        }
        do throws(TransportStreamError) {
            let slate = replaced == nil ? nil : state.breakSlate
            let file = try await state.transportStreams.file(of: entry, in: snapshot, replacedBy: slate)
            return Response(
                contentType: .transportStream, cacheControl: .immutable, etag: "\"\(name)\"",
                body: .bytes(file.bytes, gzip: nil), held: file)
        } catch .busy {
            return .unavailable("Other clients read too many segments. Ask again.")
        } catch {
            return .notFound(path)
        }
    }

    /// Answers with a file of a segment. The file may be remote.
    private func stored(at path: String, _ find: @escaping @Sendable (RingSnapshot) -> SpoolFile?) -> Answer {
        guard let snapshot, let remote = snapshot.remote, let file = find(snapshot), !snapshot.isLocal(file) else {
            return .now(self.file(at: path, find))
        }
        return .later { [self] in
            if let url = await remote.clientURL(of: file) { return .redirect(.found, to: url.value, query: nil) }
            do throws(RingError) {
                let copy = try await remote.path(of: file)
                return response(file, at: copy, in: snapshot)
            } catch {
                return .text(.notFound, "\(file.name) is not in the archive any more.")
            }
        }
    }

    /// Returns a file of the spool. A name is never reused for other bytes, so the name is the entity tag.
    private func file(at path: String, _ find: (RingSnapshot) -> SpoolFile?) -> Response {
        guard let snapshot, let file = find(snapshot) else { return notPublished(path) }
        return response(file, at: snapshot.path(of: file), in: snapshot)
    }

    /// The answer for a missing segment, which may still appear.
    private func notPublished(_ path: String) -> Response {
        .notFound(path, cacheControl: .maxAge(seconds: snapshot?.index.targetDuration ?? 1))
    }

    private func response(_ file: SpoolFile, at path: String, in snapshot: RingSnapshot) -> Response {
        Self.file(
            .file(path: path, byteCount: file.byteCount), named: file.name,
            isAudio: snapshot.index.isAudioOnly(file.name))
    }

    /// - Parameter track: the only track of the file that is sent; nil: the whole file.
    private static func file(
        _ body: ResponseBody, named name: String, of track: SpoolName.Track? = nil, isAudio: Bool = false
    ) -> Response {
        Response(
            contentType: isAudio || track == .audio ? .audioMP4 : MimeType(fileName: name), cacheControl: .immutable,
            etag: "\"\(track.map { "\($0)-" } ?? "")\(name)\"", body: body)
    }

    /// The response with an init section that is in no ring, or with one track of it.
    static func response(toInitSection bytes: [UInt8], named name: String, _ resource: Route.Resource) -> Response {
        guard case .extract(let track, _) = resource else { return file(.bytes(bytes, gzip: nil), named: name) }
        guard let section = try? TrackExtract.initSection(of: .init(track), in: bytes) else { return .notFound(name) }
        return file(.bytes(section, gzip: nil), named: name, of: track)
    }

    private func extract(_ track: SpoolName.Track, of name: String, at path: String) async -> Response {
        let snapshot = snapshot
        let file = snapshot.flatMap {
            $0.index.segmentFile(named: name) ?? $0.index.initializationFile(named: name)
        }
        guard let snapshot, let file, let body = Self.body(of: track, file, in: await snapshot.fetching([file])) else {
            return notPublished(path)
        }
        return Self.file(body, named: name, of: track)
    }

    /// nil if the file does not contain the track, or cannot be read.
    private static func body(
        of track: SpoolName.Track, _ file: SpoolFile, in snapshot: RingSnapshot
    ) -> ResponseBody? {
        if SpoolName.isInitialization(file.name) {
            let section = (try? snapshot.bytes(of: file)).flatMap {
                try? TrackExtract.initSection(of: .init(track), in: $0)
            }
            return section.map { .bytes($0, gzip: nil) }
        }
        // The header is longer only if it has large event messages.
        for length in [extractedHead, file.byteCount] {
            guard let head = try? snapshot.bytes(of: file, in: 0..<min(length, file.byteCount)) else { return nil }
            do throws(MediaError) {
                let segment =
                    track == .iframe
                    ? try TrackExtract.firstFrame(inFileThatBegins: head, byteCount: file.byteCount)
                    : try TrackExtract.segment(
                        of: .init(track), inFileThatBegins: head, byteCount: file.byteCount)
                return segment.map { segment in
                    let start = segment.payload.lowerBound - segment.header.count
                    let made = ExportedFile(
                        byteCount: segment.byteCount, head: { segment.header }, in: snapshot
                    ) { offset in (file, start + offset..<segment.payload.upperBound) }
                    return .made(MadeFile(made))
                }
            } catch { continue }
        }
        return nil
    }

    private var readiness: Response {
        let status = state.status
        if let failure = status.output.writeFailure {
            return .text(.serviceUnavailable, "not ready: \(failure.reason.text.viewerText)")
        }
        return state.isReady ? .text(.ok, "ready") : .text(.serviceUnavailable, "\(status.state): not ready")
    }
}

/// As the responder of a server, it serves the channel at the root, to everybody.
extension ChannelResponder: Responder {
    package var paths: Route.Paths { .channel }

    package func answer(to route: Route, _ target: RequestTarget) -> Answer {
        guard case .channel(_, let resource) = route else { return .now(.notFound(target.path)) }
        return answer(to: resource, target)
    }
}

extension Response {
    static func badQuery(_ error: RewindRange.BadQuery) -> Response {
        switch error {
        case .value(let name, let value): .text(.badRequest, "\(name)=\(value) cannot be read.")
        case .emptyRange: .text(.badRequest, "end has to be after start.")
        }
    }
}

// MARK: - The slate in the place of ad breaks

// The slate's files have names of the same form as the ring's files, and no file of the ring has the same name.

extension ChannelResponder {
    /// The published segment that the slate's segment called `name` replaces; nil if there is none.
    func breakEntry(_ name: String) -> RingEntry? {
        guard let snapshot, let slate = state.breakSlate else { return nil }
        return slate.entry(replacedBy: name, in: snapshot.index)
    }

    /// Whether the resource is a file of the slate, which no archive contains.
    func isOfSlate(_ resource: Route.Resource) -> Bool {
        switch resource {
        case .segment(let name), .transportSegment(let name), .extract(_, let name), .initSection(let name):
            breakEntry(name) != nil || breakInitialization(name) != nil
        default: false
        }
    }

    func breakSegment(_ name: String) async -> [UInt8]? {
        guard let entry = breakEntry(name), let slate = state.breakSlate else { return nil }
        return await MediaPool.segments.perform { slate.segment(for: entry) }
    }

    /// The slate's init section called `name`; nil if there is none, or if a published segment uses it too.
    func breakInitialization(_ name: String) -> [UInt8]? {
        guard snapshot?.index.initializationFile(named: name) == nil else { return nil }
        return state.breakSlate?.initialization(named: name)
    }

    func breakExtract(_ track: SpoolName.Track, of name: String) async -> Response? {
        let extracted: [UInt8]?
        if let section = breakInitialization(name) {
            extracted = try? TrackExtract.initSection(of: .init(track), in: section)
        } else if let bytes = await breakSegment(name) {
            let found =
                try? track == .iframe
                ? TrackExtract.firstFrame(inFileThatBegins: bytes, byteCount: bytes.count)
                : TrackExtract.segment(of: .init(track), inFileThatBegins: bytes, byteCount: bytes.count)
            extracted = found.map { $0.header + bytes[$0.payload] }
        } else {
            extracted = nil
        }
        return extracted.map {
            Self.file(.bytes($0, gzip: nil), named: SpoolName.extract(track, of: name), isAudio: track == .audio)
        }
    }
}

extension TrackExtract.Track {
    fileprivate init(_ track: SpoolName.Track) { self = track == .audio ? .audio : .video }
}
