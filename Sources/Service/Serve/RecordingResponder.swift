import ChannelList
import Guide
import Observability
import Support
import WebServer

/// Answers requests to `/api/recordings`.
struct RecordingResponder: Sendable {
    private let recordings: RecordingService
    private let guide: GuideService?

    init(_ recordings: RecordingService, guide: GuideService?) { (self.recordings, self.guide) = (recordings, guide) }

    /// - Parameters:
    ///   - target: of a method that the route permits.
    ///   - documents: of the moment.
    func answer(to route: Route.API, _ target: RequestTarget, documents: DocumentCache) -> Answer {
        let isJSON = APIResponder.isJSON(target.fields.contentType)
        switch (route, target.method) {
        case (.recordings, .other):
            return APIResponder.action { isJSON ? await add($0, documents) : APIProblem.wrongType.response() }
        case (.recordings, _):
            return .later {
                await documents.perform { APIResponder.json(RecordingDocument.List(recordings.recordings)) }
            }
        case (.recording(let text), let method):
            guard let id = Int(text), let found = recordings[id] else {
                return .now(APIProblem.noSuchRecording.response())
            }
            switch method {
            case .other("PATCH"):
                return APIResponder.action { isJSON ? await keep(id, $0) : APIProblem.wrongType.response() }
            case .other:
                let files = target.query.value(of: "files")
                guard [nil, "true", "false"].contains(files) else { return .now(Self.wrongFiles.response()) }
                return APIResponder.action { _ in await remove(id, removesFiles: files == "true") }
            default: return .now(APIResponder.json(RecordingDocument(found)))
            }
        default: return .now(APIProblem.noSuchRecording.response())
        }
    }

    private static let wrongFiles = APIProblem(
        .badRequest, "Malformed query", "files is true to remove the files too, or false.")

    private func add(_ body: [UInt8], _ documents: DocumentCache) async -> Response {
        guard let node = ConfigurationNode(json: body) else { return APIProblem.malformedBody.response() }
        do throws(ConfigurationError) {
            let request = try RecordingRequest(node)
            return await add(request, documents)
        } catch {
            return APIProblem(error, status: .unprocessableContent, title: "The recording has mistakes").response()
        }
    }

    private func add(_ request: RecordingRequest, _ documents: DocumentCache) async -> Response {
        do throws(RecordingService.Problem) {
            let range: (start: ProgramDateTime, end: ProgramDateTime)
            var name = request.name
            switch request.range {
            case .between(let start, let end): range = (start ?? recordings.clock.now(), end)
            case .program(let date, let before, let after):
                let date = date ?? recordings.clock.now()
                guard let program = try await program(of: request.channel, at: date, documents) else {
                    return APIProblem(
                        .conflict, "No such programme", "The guide has no programme of the channel at that time."
                    ).response()
                }
                range = (
                    ProgramDateTime(millisecondsSince1970: program.start * 1000).advanced(by: .zero - before),
                    ProgramDateTime(millisecondsSince1970: program.stop * 1000).advanced(by: after)
                )
                name = name ?? program.title
            }
            let recording = try await recordings.add(
                channel: request.channel, name: name, range: range, isKept: request.isKept)
            return APIResponder.json(RecordingDocument(recording), .created)
        } catch { return error.problem.response() }
    }

    /// The program of a channel at a moment; nil if the guide has none.
    private func program(
        of slug: String, at date: ProgramDateTime, _ documents: DocumentCache
    ) async throws(RecordingService.Problem) -> GuideListing? {
        guard let channel = recordings.host.directory[slug] else { throw .unknownChannel(slug) }
        let seconds = date.millisecondsSince1970 / 1000
        // The guide is read from its file.
        return await documents.perform { [guide] in
            guide?.listings(of: channel, from: seconds, limit: 1).first { $0.start <= seconds }
        }
    }

    private func keep(_ id: Int, _ body: [UInt8]) async -> Response {
        guard let node = ConfigurationNode(json: body) else { return APIProblem.malformedBody.response() }
        let isKept: Bool
        do throws(ConfigurationError) { isKept = try RecordingRequest.isKept(node) } catch {
            return APIProblem(error, status: .unprocessableContent, title: "The recording has mistakes").response()
        }
        do throws(RecordingService.Problem) {
            let recording = try await recordings.keep(id, isKept)
            return recording.map { APIResponder.json(RecordingDocument($0)) } ?? APIProblem.noSuchRecording.response()
        } catch { return error.problem.response() }
    }

    private func remove(_ id: Int, removesFiles: Bool) async -> Response {
        do throws(RecordingService.Problem) {
            guard try await recordings.remove(id, removesFiles: removesFiles) else {
                return APIProblem.noSuchRecording.response()
            }
            return Response(status: .noContent, cacheControl: .noStore, body: .empty)
        } catch { return error.problem.response() }
    }
}

extension RecordingService.Problem {
    fileprivate var problem: APIProblem {
        let title = "The recording is not possible"
        return switch self {
        case .unknownChannel(let name): .unknownChannel(name)
        case .refused(let refusal): APIProblem(.conflict, title, refusal.message)
        case .notInRewind(let dates?):
            APIProblem(
                .conflict, title,
                "The rewind of the channel has \(dates.lowerBound.text) to \(dates.upperBound.text) alone.")
        case .notInRewind(nil):
            APIProblem(.conflict, title, "The channel does not run, so that nothing of that time is kept.")
        case .storage(let failure):
            APIProblem(.serviceUnavailable, "The list cannot be stored", "Ask again later: \(failure.message).")
        case .finishing:
            APIProblem(.conflict, "The recording is being finished", "It can be removed once it has its last form.")
        }
    }
}

/// A recording as the API shows it.
struct RecordingDocument: Encodable, Sendable {
    struct List: Encodable, Sendable {
        private let recordings: [RecordingDocument]

        init(_ recordings: [RequestedRecording]) { self.recordings = recordings.map(RecordingDocument.init) }
    }

    let id: Int
    let channel, name: String
    /// `planned`, `recording`, `paused`, `finishing`, `done` or `failed`.
    let state: String
    /// Why it is paused or has failed, or has another form than was asked for.
    let reason: String?
    let start, end: String
    /// Below the directory of recordings.
    let files: [String]
    let bytes: UInt64
    let lostSeconds: Double
    let keep: Bool
    /// Plays an open recording from its start, below the server's root, as far as the rewind reaches.
    let playlist: String?

    init(_ recording: RequestedRecording) {
        (id, channel, name, keep) = (recording.id, recording.channel, recording.name, recording.isKept)
        (start, end) = (recording.startDate.text, recording.endDate.text)
        let files = recording.files
        self.files = files.map { files in files.suffixes.map { "\(files.base).\($0)" } } ?? []
        bytes = files?.byteCount ?? 0
        lostSeconds = Double(files?.lostMilliseconds ?? 0) / 1000
        var isOpen = false
        switch recording.state {
        case .planned: (state, reason) = ("planned", nil)
        case .recording: (state, reason, isOpen) = ("recording", nil, true)
        case .paused(let why): (state, reason, isOpen) = ("paused", why, true)
        case .finishing: (state, reason, isOpen) = ("finishing", nil, true)
        case .done(let note): (state, reason) = ("done", note)
        case .failed(let why): (state, reason) = ("failed", why)
        }
        let (begin, last) = (recording.startDate.millisecondsSince1970, recording.endDate.millisecondsSince1970)
        playlist =
            isOpen && files != nil
            ? "/\(recording.channel)/archive-\(begin / 1000)-\((last - begin + 999) / 1000).m3u8" : nil
    }
}
