import Foundation
import Glibc
package import Support
import Synchronization

/// A recording made while its channel runs, as the API and the page list it.
package struct ContinuousRecording: Equatable, Sendable {
    /// The channel's slug.
    package let channel: String
    /// The name of the channel, or of the program.
    package let name: String
    package let start: ProgramDateTime
    /// nil: the recording is open.
    package var end: ProgramDateTime?
    /// The directory of the recordings, with a slash at its end.
    let directory: String
    /// The files. Their path is relative to `directory`.
    package var files: RequestedRecording.Files
    package var state = RequestedRecording.State.recording
    package var isKept = false

    /// Unique among all recordings, and constant over restarts.
    package var id: String { "\(channel)-\(start.millisecondsSince1970)" }

    /// The path of its files without a suffix.
    package var path: String { directory + files.base }
}

extension ContinuousRecording {
    /// Describes a recording that does not have its last form yet.
    init(_ journal: RecordingJournal, in pattern: RecordingPattern) {
        let plan = journal.plan
        self.init(
            channel: plan.channel ?? "", name: plan.title ?? plan.channel ?? "",
            start: plan.start ?? journal.segments.first?.date ?? ProgramDateTime(millisecondsSince1970: 0),
            path: plan.path, in: pattern)
        count(journal)
    }

    private init(
        channel: String, name: String, start: ProgramDateTime, path: String, in pattern: RecordingPattern
    ) {
        (self.channel, self.name, self.start) = (channel, name, start)
        directory = pattern.path(ofBase: "")
        files = .init(base: String(path.dropFirst(directory.utf8.count)))
        isKept = RecordingRetention.isMarked(path)
    }

    /// The fields that are read from the document of a finished recording.
    private struct Document: Decodable {
        struct Loss: Decodable { let seconds: Double }

        let channel: String?
        let title, start, end: String
        let note: String?
        let lost: [Loss]
    }

    /// Milliseconds: a hundred years.
    private static let longestLoss = 3.2e12
    /// A longer document is not read.
    private static let longestDocument = 1 << 20

    /// Describes a finished recording by its document; nil if the file is not such a document. Waits for the disk.
    fileprivate init?(_ item: RecordingRetention.Item, in pattern: RecordingPattern) {
        guard let file = try? Descriptor(item.base + ".json", O_RDONLY), let count = try? file.byteCount(),
            count <= Self.longestDocument, let bytes = try? file.read(0..<count),
            let document = try? JSONDecoder().decode(Document.self, from: Data(bytes)),
            let channel = document.channel, let start = ProgramDateTime(parsing: document.start)
        else { return nil }
        self.init(channel: channel, name: document.title, start: start, path: item.base, in: pattern)
        (end, state) = (ProgramDateTime(parsing: document.end), .done(note: document.note))
        files.lostMilliseconds = document.lost.reduce(0) { sum, loss in
            sum + Int64(min(max(loss.seconds, 0) * 1000, Self.longestLoss))
        }
        (files.suffixes, files.byteCount) = RecordingRetention.files(item.base)
    }

    mutating func count(_ journal: RecordingJournal) {
        (files.byteCount, files.lostMilliseconds) = (UInt64(journal.byteCount), journal.lostMilliseconds)
    }

    /// Records that nothing more will be appended.
    mutating func close(_ journal: RecordingJournal) {
        (state, end) = (.finishing, journal.segments.last?.dateEnd)
        count(journal)
    }

    /// Records that the recording has its last form.
    /// - Parameter note: the reason why the recording has another format than requested.
    mutating func finish(_ found: (suffixes: [String], byteCount: UInt64), note: String?) {
        state = .done(note: note)
        (files.suffixes, files.byteCount) = found
    }
}

/// The continuous recordings of channels, as far as this process knows them.
package final class ContinuousRecordings: Sendable {
    /// By their paths.
    private let state = Mutex<[String: ContinuousRecording]>([:])

    package init() {}

    /// In the order of their starts.
    package var recordings: [ContinuousRecording] {
        state.withLock { Array($0.values) }.sorted { ($0.start, $0.path) < ($1.start, $1.path) }
    }

    package subscript(id: String) -> ContinuousRecording? {
        state.withLock { state in state.values.first { $0.id == id } }
    }

    func insert(_ recording: ContinuousRecording) {
        state.withLock { state in
            state[recording.path] = recording
            Self.limit(&state)
        }
    }

    package func update(_ path: String, _ change: (inout ContinuousRecording) -> Void) {
        state.withLock { state in
            guard var recording = state[path] else { return }
            change(&recording)
            state[path] = recording
            Self.limit(&state)
        }
    }

    package func remove(_ paths: [String]) {
        state.withLock { state in
            for path in paths { state[path] = nil }
        }
    }

    /// Inserts a channel's recordings that earlier processes finished. Waits for the disk.
    func read(_ channel: String, in pattern: RecordingPattern) {
        let items = RecordingRetention.items(of: channel, in: pattern).sorted { $0.time > $1.time }
        let found = items.prefix(RecordingSchedule.mostOver).compactMap { ContinuousRecording($0, in: pattern) }
        state.withLock { state in
            for recording in found where state[recording.path] == nil { state[recording.path] = recording }
            Self.limit(&state)
        }
    }

    /// Forgets the oldest finished recordings beyond the limit.
    private static func limit(_ state: inout [String: ContinuousRecording]) {
        let over = state.values.filter { $0.state.isFinal }
        guard over.count > RecordingSchedule.mostOver else { return }
        let oldest = over.sorted { $0.start < $1.start }.prefix(over.count - RecordingSchedule.mostOver)
        for recording in oldest { state[recording.path] = nil }
    }
}
