package import Channel
import LiveRing
package import Media
import Mux
import Observability
import Support
package import WebServer

/// Answers HTTP requests for one channel from what is published now.
///
/// Event loops call it concurrently. Playlists are rendered, and compressed, when they are asked for, once per version of
/// the ring.
package final class ChannelResponder: Sendable {
    /// hls.js and Kodi wait 20 s for an answer.
    private static let longestHold = Duration.seconds(15)
    /// Bytes of a segment's file that have its header: 10 s of 60 frames per second with audio have some 20 KiB.
    private static let extractedHead = 64 << 10

    private let state: ChannelState
    /// Media that a client of the endless transport stream gets at once.
    private let burst: Ticks
    /// Bytes of the channel that were sent to clients.
    package let sentBytes: ByteCounter
    private let playlists: PlaylistResponder
    private let clips: ClipResponder
    /// nil: there are no stills.
    private let stills: StillResponder?

    /// - Parameters:
    ///   - channel: the channel's slug; nil in a process of one channel.
    ///   - offersStills: whether stills of the channel are made.
    package init(
        _ state: ChannelState, burst: Ticks = EndlessStream.Policy().burst, channel: String? = nil,
        offersStills: Bool = true
    ) {
        self.state = state
        self.burst = burst
        sentBytes = ByteCounter(channel: channel)
        playlists = PlaylistResponder(state)
        clips = ClipResponder(state, channel: channel)
        stills = offersStills ? StillResponder(state, store: .shared) : nil
    }

    private var snapshot: RingSnapshot? { state.snapshot }

    /// Answers a request for a resource of the channel, and counts what is sent.
    /// - Parameter watch: adds to an endless stream what the process does while somebody reads it.
    func answer(
        to resource: Route.Resource, _ target: RequestTarget,
        watch: @escaping @Sendable (ByteStream) -> ByteStream = { $0 }
    ) -> Answer {
        let answer: Answer =
            switch resource {
            case .playlist(let playlist): playlists.answer(to: playlist, for: target)
            case .transportSegment(let name): .later { [self] in await transportSegment(named: name, at: target.path) }
            case .endlessStream(let stream) where target.method == .get && snapshot?.hasTransportStream != true:
                .later { [self] in
                    await waitForTransportStream()
                    guard snapshot?.hasTransportStream == true else {
                        return .refusal(
                            .serviceUnavailable, of: .stream, reason: "Nothing is published yet: see status.json.",
                            retryAfter: 1)
                    }
                    return endlessStream(stream)
                }
            case .extract(let track, let name):
                .later { [self] in extract(track, of: name, at: target.path) }
            case .breaks(let range): playlists.answer(toBreaksIn: range, for: target)
            case .still(let still): stills?.answer(to: still, for: target) ?? .now(Self.withoutStills)
            case .stillSheet(let name): stills?.answer(toSheet: name, for: target) ?? .now(Self.withoutStills)
            case .stillTrack(let range):
                stills?.answer(toTrackOf: range, for: target, playlists.cache) ?? .now(Self.withoutStills)
            case .clip(let range, let isPrecise):
                clips.answer(
                    to: range, isPrecise: isPrecise, for: PlaylistResponder.client(of: target.fields), playlists.cache)
            default: .now(response(to: resource, at: target.path))
            }
        return answer.map { [sentBytes] in
            var response = $0
            response.sentBytes = sentBytes
            response.body = response.body.mapStreams(watch)
            return response
        }
    }

    /// The response to a request that takes no time.
    private func response(to resource: Route.Resource, at path: String) -> Response {
        switch resource {
        case .initSection(let name): file(at: path) { $0.index.initializationFile(named: name) }
        case .segment(let name): file(at: path) { $0.index.segmentFile(named: name) }
        case .subtitles(let name): file(at: path) { $0.subtitleFile(named: name) }
        case .trackFile(let name): file(at: path) { $0.index.trackFile(named: name) }
        case .endlessStream(let stream): endlessStream(stream)
        case .transportClip(let range): clips.transportStream(range)
        case .status:
            Response(contentType: .json, cacheControl: .noStore, body: .bytes(state.status.json, gzip: nil))
        case .health: .text(.ok, "ok")
        case .readiness: readiness
        case .page: Page.channel
        case .pageFile(let file): Page.response(at: file) ?? .notFound(path)
        case .playlist, .transportSegment, .extract, .clip, .breaks, .programs, .still, .stillSheet, .stillTrack,
            .notFound:
            .notFound(path)
        case .badQuery(let error): .badQuery(error)
        }
    }

    private static let withoutStills = Response.text(.notFound, "Stills are switched off (--no-stills).")

    /// Returns an endless response, or a published range as a file. Nothing is made before the client reads.
    private func endlessStream(_ request: Route.EndlessStream) -> Response {
        if let file = transportStreamFile(request) { return file }
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
        let reader = EndlessStreamReader(state, policy)
        return Response(
            contentType: .transportStream, cacheControl: .noStore, body: .stream(ByteStream { await reader.next() }))
    }

    /// The file of a range that is published and has no pace.
    private func transportStreamFile(_ request: Route.EndlessStream) -> Response? {
        if case .percent = request.speed { return nil }
        return clips.transportStreamFile(request.range)
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
        guard let snapshot, let entry = snapshot.index.entry(ofTransportStream: name) else {
            return .notFound(path, cacheControl: .maxAge(seconds: snapshot?.index.targetDuration ?? 1))
        }
        do throws(TransportStreamError) {
            let file = try await state.transportStreams.file(of: entry, in: snapshot)
            return Response(
                contentType: .transportStream, cacheControl: .immutable, etag: "\"\(name)\"",
                body: .bytes(file.bytes, gzip: nil), held: file)
        } catch .busy {
            return .unavailable("Other clients read too many segments. Ask again.")
        } catch {
            return .notFound(path)
        }
    }

    /// Returns a file of the spool. Names are never reused for other bytes, so the name is the entity tag.
    private func file(at path: String, _ find: (RingSnapshot) -> SpoolFile?) -> Response {
        guard let snapshot, let file = find(snapshot) else {
            return .notFound(path, cacheControl: .maxAge(seconds: snapshot?.index.targetDuration ?? 1))
        }
        return Response(
            contentType: snapshot.index.isAudioOnly(file.name) ? .audioMP4 : MimeType(fileName: file.name),
            cacheControl: .immutable, etag: "\"\(file.name)\"",
            body: .file(path: snapshot.path(of: file), byteCount: file.byteCount))
    }

    /// Returns one track of a segment, or of an init section.
    private func extract(_ track: SpoolName.Track, of name: String, at path: String) -> Response {
        guard let snapshot,
            let file = snapshot.index.segmentFile(named: name) ?? snapshot.index.initializationFile(named: name),
            let body = Self.body(of: track, file, in: snapshot)
        else { return .notFound(path, cacheControl: .maxAge(seconds: snapshot?.index.targetDuration ?? 1)) }
        return Response(
            contentType: track == .audio ? .audioMP4 : MimeType(fileName: name), cacheControl: .immutable,
            etag: "\"\(track)-\(name)\"", body: body)
    }

    /// nil if the file does not have the track, or cannot be read.
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
                return segment.map { body(of: $0, file, in: snapshot) }
            } catch { continue }
        }
        return nil
    }

    private static func body(
        of segment: TrackExtract.Segment, _ file: SpoolFile, in snapshot: RingSnapshot
    ) -> ResponseBody {
        let made = MadeFile(byteCount: segment.byteCount) { range in
            let reader = ExtractReader(segment, of: file, in: snapshot, bytes: range)
            return ByteStream { await reader.next() }
        }
        return .made(made)
    }

    private var readiness: Response {
        let status = state.status
        if let failure = status.output.writeFailure {
            return .text(.serviceUnavailable, "not ready: \(failure.reason.message)")
        }
        return state.isReady ? .text(.ok, "ready") : .text(.serviceUnavailable, "\(status.state): not ready")
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
