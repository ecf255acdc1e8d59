import ChannelList
import Export
import Guide
import HTTP
import Record
import Support

/// Answers requests to `/api/recordings`.
struct RecordingResponder: Sendable {
    /// nil: the server makes no recordings on request.
    private let service: RecordingService?
    private let continuous: ContinuousRecordings
    private let guide: GuideService?

    init(_ service: RecordingService?, _ continuous: ContinuousRecordings, guide: GuideService?) {
        (self.service, self.continuous, self.guide) = (service, continuous, guide)
    }

    func list(_ request: APIRequest) -> Answer {
        .later { await request.documents.perform { .json(of: RecordingDocument.List(service, continuous)) } }
    }

    func add(_ request: APIRequest) -> Answer {
        guard let service else { return .now(APIProblem.noRecordings.response()) }
        return APIResponder.action(json: request.target) { await add($0, to: service, request.documents) }
    }

    func show(_ request: APIRequest) -> Answer { found(request) { .now(.json(of: $0.document)) } }

    /// Keeps a recording, or lets retention remove it.
    func keep(_ request: APIRequest) -> Answer {
        found(request) { found in APIResponder.action(json: request.target) { await keep(found, $0) } }
    }

    func remove(_ request: APIRequest) -> Answer {
        found(request) { found in
            let files = request.target.query.value(of: "files")
            guard [nil, "true", "false"].contains(files) else { return .now(Self.wrongFiles.response()) }
            return APIResponder.action { _ in await remove(found, removesFiles: files == "true") }
        }
    }

    private func found(_ request: APIRequest, _ answer: (Found) -> Answer) -> Answer {
        Found(request.field, service, continuous).map(answer) ?? .now(APIProblem.noSuchRecording.response())
    }

    private enum Found {
        case requested(RequestedRecording, RecordingService)
        case continuous(ContinuousRecording)

        init?(_ id: String, _ service: RecordingService?, _ continuous: ContinuousRecordings) {
            if let number = Int(id), let service, let recording = service[number] {
                self = .requested(recording, service)
            } else if let recording = continuous[id] {
                self = .continuous(recording)
            } else {
                return nil
            }
        }

        var document: RecordingDocument {
            switch self {
            case .requested(let recording, _): RecordingDocument(recording)
            case .continuous(let recording): RecordingDocument(recording)
            }
        }
    }

    private static let wrongFiles = APIProblem(
        .badRequest, "Malformed query", "files is true to remove the files too, or false.")

    private func add(
        _ node: ConfigurationNode, to service: RecordingService, _ documents: DocumentCache
    ) async -> Response {
        do throws(ConfigurationError) {
            return await add(try RecordingRequest(node), to: service, documents)
        } catch {
            return APIProblem(error, status: .unprocessableContent, title: "The recording has mistakes").response()
        }
    }

    private func add(
        _ request: RecordingRequest, to service: RecordingService, _ documents: DocumentCache
    ) async -> Response {
        do throws(RecordingService.Problem) {
            let range: (start: ProgramDateTime, end: ProgramDateTime)
            var name = request.name
            var repetition = request.repetition.flatMap(RecordingRepetition.Rule.init).map { RecordingRepetition($0) }
            switch request.range {
            case .between(let start, let end): range = (start ?? service.clock.now(), end)
            case .lasting(let length, let start):
                let start = start ?? service.clock.now()
                range = (start, start.advanced(by: length))
            case .program(let date, let before, let after):
                let date = date ?? service.clock.now()
                guard let channel = service.host.directory[request.channel] else {
                    throw .unknownChannel(request.channel)
                }
                guard let program = await program(of: channel, at: date, documents) else {
                    return APIProblem(
                        .conflict, "No such program", "The guide has no program of the channel at that time."
                    ).response()
                }
                range = (
                    ProgramDateTime(millisecondsSince1970: program.start * 1000).advanced(by: .zero - before),
                    ProgramDateTime(millisecondsSince1970: program.stop * 1000).advanced(by: after)
                )
                name = name ?? program.title
                repetition?.follow(program.title, before: before, after: after)
            }
            let recording = try await service.add(
                channel: request.channel, name: name, range: range, isKept: request.isKept,
                includesSlate: request.includesSlate, ads: request.ads, repetition: repetition)
            return .json(
                of: RecordingDocument(recording, service.absence(from: range, of: request.channel)), status: .created)
        } catch { return error.problem.response() }
    }

    /// The program of a channel at a moment; nil if the guide contains none.
    private func program(
        of channel: ListedChannel, at date: ProgramDateTime, _ documents: DocumentCache
    ) async -> GuideListing? {
        let seconds = date.millisecondsSince1970 / 1000
        // The look-up reads the guide's file.
        return await documents.perform { [guide] in
            guide?.listings(of: channel, from: seconds, limit: 1).first { $0.start <= seconds }
        }
    }

    private func keep(_ found: Found, _ node: ConfigurationNode) async -> Response {
        let isKept: Bool
        do throws(ConfigurationError) { isKept = try RecordingRequest.isKept(node) } catch {
            return APIProblem(error, status: .unprocessableContent, title: "The recording has mistakes").response()
        }
        do throws(RecordingService.Problem) {
            let document =
                switch found {
                case .requested(let recording, let service):
                    try await service.keep(recording.id, isKept).map { RecordingDocument($0) }
                case .continuous(let recording):
                    try await continuous.keep(recording, isKept).map { RecordingDocument($0) }
                }
            return document.map { .json(of: $0) } ?? APIProblem.noSuchRecording.response()
        } catch { return error.problem.response() }
    }

    private func remove(_ found: Found, removesFiles: Bool) async -> Response {
        do throws(RecordingService.Problem) {
            switch found {
            case .requested(let recording, let service):
                guard try await service.remove(recording.id, removesFiles: removesFiles) else {
                    return APIProblem.noSuchRecording.response()
                }
            case .continuous(let recording): try await continuous.remove(recording, removesFiles: removesFiles)
            }
            return Response(status: .noContent, cacheControl: .noStore, body: .empty)
        } catch { return error.problem.response() }
    }
}

extension ContinuousRecordings {
    /// Marks a recording as kept, so that retention never removes it, or removes the mark.
    func keep(
        _ recording: ContinuousRecording, _ isKept: Bool
    ) async throws(RecordingService.Problem) -> ContinuousRecording? {
        do throws(RecordingFile.Failure) {
            try await MediaPool.recordings.perform { () throws(RecordingFile.Failure) in
                try RecordingRetention.mark(recording.path, isKept: isKept)
            }
        } catch { throw .storage(error) }
        update(recording.path) { $0.isKept = isKept }
        return self[recording.id]
    }

    /// Forgets a finished recording. If its files stay, the next process lists it again.
    func remove(_ recording: ContinuousRecording, removesFiles: Bool) async throws(RecordingService.Problem) {
        guard recording.state.isFinal else { throw recording.state == .finishing ? .finishing : .continuous }
        if removesFiles { await MediaPool.recordings.perform { RecordingRetention.remove(recording.path) } }
        remove([recording.path])
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
            APIProblem(.serviceUnavailable, "The recordings cannot be written", "Ask again later: \(failure.message).")
        case .continuous:
            APIProblem(
                .conflict, "The channel records as it runs", "Remove record-to of the channel, or wait for the split.")
        case .fleet(let failure): APIProblem(failure)
        case .finishing:
            APIProblem(.conflict, "The recording is being finished", "It can be removed once it has its last form.")
        }
    }
}

struct RecordingDocument: Encodable, Sendable {
    struct List: Encodable, Sendable {
        private let recordings: [RecordingDocument]

        /// - Parameter isListed: whether the recordings of a channel are included.
        init(
            _ service: RecordingService?, _ continuous: ContinuousRecordings,
            isListed: (_ channel: String) -> Bool = { _ in true }
        ) {
            let requested = service?.recordings ?? []
            // Requested and continuous recordings may be in the same directory.
            let paths = Set(requested.compactMap { recording in recording.files.map { service?.path($0.base) } })
            recordings =
                requested.filter { isListed($0.channel) }.map { RecordingDocument($0) }
                + continuous.recordings.filter { isListed($0.channel) && !paths.contains($0.path) }
                .map { RecordingDocument($0) }
        }
    }

    enum ID: Encodable, CustomStringConvertible {
        case requested(Int)
        case continuous(String)

        var description: String {
            switch self {
            case .requested(let number): "\(number)"
            case .continuous(let text): text
            }
        }

        func encode(to encoder: any Encoder) throws {
            var container = encoder.singleValueContainer()
            switch self {
            case .requested(let number): try container.encode(number)
            case .continuous(let text): try container.encode(text)
            }
        }
    }

    let id: ID
    let channel, name: String
    /// `planned`, `recording`, `paused`, `finishing`, `done` or `failed`.
    let state: String
    /// The reason why the recording is paused, has failed, or has another format than requested.
    private(set) var reason: String?
    let start: String
    /// nil: the recording lasts as long as the channel runs, or until it is split.
    let end: String?
    /// Paths relative to the directory of recordings.
    let files: [String]
    let bytes: UInt64
    private(set) var lostSeconds: Double
    let keep: Bool
    /// `daily`, `weekly` or `title`; nil: no recording follows this one.
    let `repeat`: String?
    /// The finished recording, relative to the server's root.
    let file: String?
    /// A playlist that plays an open recording from its start, relative to the server's root, as far as the rewind
    /// reaches.
    let playlist: String?

    init(_ recording: RequestedRecording) {
        self.init(
            .requested(recording.id), recording.channel, recording.name, recording.state, recording.files,
            isKept: recording.isKept, start: recording.startDate, end: recording.actualEnd,
            repetition: recording.repetition)
    }

    /// - Parameter absence: what the recording cannot have, if nothing of it is written yet.
    init(_ recording: RequestedRecording, _ absence: RecordingService.Absence?) {
        self.init(recording)
        guard let absence, recording.files == nil else { return }
        (lostSeconds, reason) = (max(lostSeconds, absence.seconds), reason ?? absence.reason)
    }

    init(_ recording: ContinuousRecording) {
        self.init(
            .continuous(recording.id), recording.channel, recording.name, recording.state, recording.files,
            isKept: recording.isKept, start: recording.start, end: recording.end)
    }

    private init(
        _ id: ID, _ channel: String, _ name: String, _ known: RequestedRecording.State,
        _ files: RequestedRecording.Files?, isKept: Bool, start first: ProgramDateTime, end last: ProgramDateTime?,
        repetition: RecordingRepetition? = nil
    ) {
        `repeat` = repetition?.rule.rawValue
        (self.id, self.channel, self.name, keep) = (id, channel, name, isKept)
        (start, end) = (first.text, last?.text)
        self.files = files.map { files in files.suffixes.map { "\(files.base).\($0)" } } ?? []
        bytes = files?.byteCount ?? 0
        lostSeconds = Double(files?.lostMilliseconds ?? 0) / 1000
        var isOpen = false
        switch known {
        case .planned: (state, reason) = ("planned", nil)
        case .recording: (state, reason, isOpen) = ("recording", nil, true)
        case .paused(let why): (state, reason, isOpen) = ("paused", why, true)
        case .finishing: (state, reason, isOpen) = ("finishing", nil, true)
        case .done(let note): (state, reason) = ("done", note)
        case .failed(let why): (state, reason) = ("failed", why)
        }
        if case .done = known, let suffix = RecordingFileAddress.suffix(in: files?.suffixes ?? []) {
            file = RecordingFileAddress.path(of: "\(id)", suffix)
        } else {
            file = nil
        }
        let length = last.map { "\(($0.milliseconds(since: first) + 999) / 1000)" } ?? "now"
        let seconds = first.millisecondsSince1970 / 1000
        playlist = isOpen && files != nil ? "/\(channel)/archive-\(seconds)-\(length).m3u8" : nil
    }
}
