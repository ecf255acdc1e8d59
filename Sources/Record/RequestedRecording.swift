package import Support

/// A recording requested through the API, from its plan to its last form.
package struct RequestedRecording: Codable, Equatable, Sendable {
    package enum State: Codable, Equatable, Sendable {
        /// The start is in the future, or nothing of the recording is published yet.
        case planned
        case recording
        /// The recording cannot be written, or its channel does not run.
        case paused(reason: String)
        /// The range is complete, and the recording is being given its last form.
        case finishing
        /// - Parameter note: the reason why the recording has another format than requested.
        case done(note: String?)
        case failed(reason: String)

        /// Whether the state does not change any more.
        package var isFinal: Bool {
            switch self {
            case .planned, .recording, .paused, .finishing: false
            case .done, .failed: true
            }
        }
    }

    /// The files of the recording, as far as they are known.
    package struct Files: Codable, Equatable, Sendable {
        /// The common path of the files, without a suffix.
        package var base: String
        /// The suffixes of the files that exist.
        package var suffixes = ["ts", "m3u8"]
        package var byteCount: UInt64 = 0
        /// The duration of missing media.
        package var lostMilliseconds: Int64 = 0

        /// Whether the path is inside the directory of recordings.
        var isBelowRoot: Bool { !base.hasPrefix("/") && !base.split(separator: "/").contains("..") }
    }

    package let id: Int
    /// The channel's slug.
    package let channel: String
    /// The name for people.
    package let name: String
    /// Milliseconds since 1970.
    private let start, end: Int64
    /// Whether retention never removes the recording.
    package var isKept: Bool
    /// Whether the recording includes slate that fills outages; nil in lists of earlier versions means true.
    package private(set) var includesSlate: Bool?
    /// The treatment of ad breaks; nil: that of the channel's recordings.
    package private(set) var ads: RecordingAds?
    /// How the recording is repeated. The newest recording of a series has it; the earlier ones have none.
    package var repetition: RecordingRepetition?
    /// Whether a request ended the recording before its end.
    package var isEnded = false
    /// When a request ended the recording, in milliseconds since 1970; nil in lists of earlier versions.
    fileprivate var endedAt: Int64?
    package var state = State.planned
    /// nil before its first segment.
    package var files: Files?

    package init(
        id: Int, channel: String, name: String, range: Range<ProgramDateTime>, isKept: Bool,
        includesSlate: Bool = true, ads: RecordingAds? = nil, repetition: RecordingRepetition? = nil
    ) {
        (self.id, self.channel, self.name, self.isKept) = (id, channel, name, isKept)
        (self.includesSlate, self.ads, self.repetition) = (includesSlate, ads, repetition)
        (start, end) = (range.lowerBound.millisecondsSince1970, range.upperBound.millisecondsSince1970)
    }

    /// Whether the numbers are possible for a planned recording. A damaged list may contain others.
    var isPlausible: Bool {
        let range = Int64(0)..<253_402_300_800_000  // to the year 9999
        return RecordingSchedule.ids.contains(id) && range.contains(start) && range.contains(end) && start < end
            && end - start <= RecordingSchedule.longest.wholeMilliseconds
            && (files.map { $0.isBelowRoot && range.contains($0.lostMilliseconds) } ?? true)
    }

    package var startDate: ProgramDateTime { ProgramDateTime(millisecondsSince1970: start) }
    package var endDate: ProgramDateTime { ProgramDateTime(millisecondsSince1970: end) }

    /// Records that the file was opened.
    package mutating func begin(_ base: String, _ journal: RecordingJournal) {
        state = .recording
        files = Files(base: base)
        count(journal)
    }

    package mutating func count(_ journal: RecordingJournal) {
        files?.byteCount = UInt64(journal.byteCount)
        files?.lostMilliseconds = journal.lostMilliseconds
    }

    package mutating func end(at date: ProgramDateTime) {
        (isEnded, endedAt) = (true, date.millisecondsSince1970)
    }

    /// The end of the recorded range: the planned one, unless a request ended the recording before.
    package var actualEnd: ProgramDateTime {
        endedAt.map { min(endDate, max(startDate, ProgramDateTime(millisecondsSince1970: $0))) } ?? endDate
    }

    package var isOver: Bool { state.isFinal }

    /// The time during which the recording will be open, without delays.
    func openRange(at now: ProgramDateTime) -> Range<ProgramDateTime> {
        max(startDate, now)..<max(endDate, now.advanced(byMilliseconds: 1))
    }
}

/// The requested recordings of a process, in the order of the requests.
package struct RecordingSchedule: Codable, Equatable, Sendable {
    /// The reason why a recording cannot be planned.
    package enum Refusal: Error, Equatable, Sendable {
        /// The range is empty, or longer than `longest`.
        case length
        /// The recording would end more than `furthest` from now.
        case tooFar
        /// Too many recordings are waiting or open already.
        case pending(limit: Int)
        /// Too many recordings would be open at the same time.
        case concurrent(limit: Int)
    }

    static let mostPending = 1000
    static let mostOpen = 100
    /// The most finished recordings in the list. The oldest are forgotten, and their files stay.
    static let mostOver = 1000
    /// A week of a clock that is set back has an hour more, and people ask for some minutes before and after.
    static let longest = Duration.seconds(8 * 86_400)
    static let furthest = Duration.seconds(366 * 86_400)

    /// The ids of recordings: integers that JSON represents exactly.
    static let ids = 1...(1 << 53) - 1

    package private(set) var recordings: [RequestedRecording] = []
    private var lastID = 0
    /// The number of recordings in the list that could not be read, or contained numbers out of range.
    package private(set) var droppedCount = 0

    /// The version of the format of the stored list. It is raised if an earlier version could misread the list.
    private static let newestFormat = 1
    private var format = Self.newestFormat
    /// Whether a later version of the program wrote the list, in a format that this one does not know.
    package private(set) var isOfLaterFormat = false

    private enum CodingKeys: String, CodingKey { case format, recordings, lastID }

    package init() {}

    /// A list that nodes of a fleet share. Its ids are those of no list of one process.
    package init(sharedSince now: ProgramDateTime) {
        lastID = max(Self.sharedIDs.lowerBound, Int(now.millisecondsSince1970))
    }

    /// The ids of recordings that nodes of a fleet share.
    package static let sharedIDs = 1_000_000_000_000...ids.upperBound

    /// Reads a list. Unreadable recordings are left out.
    package init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        isOfLaterFormat = (try? values.decode(Int.self, forKey: .format)).map { $0 > Self.newestFormat } ?? false
        var known: Set<Int> = []
        for recording in try values.decode([Lossy<RequestedRecording>].self, forKey: .recordings) {
            guard let value = recording.value, value.isPlausible, known.insert(value.id).inserted else {
                droppedCount += 1
                continue
            }
            recordings.append(value)
        }
        recordings.sort { $0.id < $1.id }
        // A number out of range is treated as missing.
        let last = (try? values.decode(Int.self, forKey: .lastID)) ?? 0
        let own = recordings.last { !Self.sharedIDs.contains($0.id) }
        lastID = max(last < Self.ids.upperBound ? last : 0, own?.id ?? 0)
    }

    /// A value of a list, or nil if it cannot be read.
    private struct Lossy<Value: Decodable>: Decodable {
        let value: Value?

        init(from decoder: any Decoder) { value = try? Value(from: decoder) }
    }

    package subscript(id: Int) -> RequestedRecording? { recordings.first { $0.id == id } }

    package mutating func add(
        channel: String, name: String, range: (start: ProgramDateTime, end: ProgramDateTime), isKept: Bool,
        includesSlate: Bool = true, ads: RecordingAds? = nil, repetition: RecordingRepetition? = nil,
        at now: ProgramDateTime
    ) throws(Refusal) -> RequestedRecording {
        let length = range.end.milliseconds(since: range.start)
        guard length > 0, length <= Self.longest.wholeMilliseconds else { throw .length }
        guard range.end.milliseconds(since: now) <= Self.furthest.wholeMilliseconds else { throw .tooFar }
        let pending = recordings.filter { !$0.isOver }
        guard pending.count < Self.mostPending else { throw .pending(limit: Self.mostPending) }
        let recording = RequestedRecording(
            id: lastID + 1, channel: channel, name: name, range: range.start..<range.end, isKept: isKept,
            includesSlate: includesSlate, ads: ads, repetition: repetition)
        let open = recording.openRange(at: now)
        guard pending.count(where: { $0.openRange(at: now).overlaps(open) }) < Self.mostOpen else {
            throw .concurrent(limit: Self.mostOpen)
        }
        lastID += 1
        recordings.append(recording)
        return recording
    }

    package mutating func update(_ id: Int, _ change: (inout RequestedRecording) -> Void) {
        guard let index = recordings.firstIndex(where: { $0.id == id }) else { return }
        change(&recordings[index])
        let surplus = recordings.count { $0.isOver } - Self.mostOver
        if surplus > 0, let oldest = recordings.firstIndex(where: { $0.isOver && $0.repetition == nil }) {
            recordings.remove(at: oldest)
        }
    }

    /// Adds a recording of the list that nodes of a fleet share.
    package mutating func insert(_ recording: RequestedRecording) {
        guard self[recording.id] == nil else { return }
        recordings.insert(recording, at: recordings.firstIndex { $0.id > recording.id } ?? recordings.endIndex)
    }

    /// Removes recordings that ended before a date.
    package mutating func remove(endedBefore date: ProgramDateTime) { recordings.removeAll { $0.endDate < date } }

    package mutating func remove(_ id: Int) { recordings.removeAll { $0.id == id } }

    /// Restores a recording after ending or removing it failed.
    package mutating func restore(_ known: RequestedRecording) {
        let index = recordings.firstIndex { $0.id >= known.id } ?? recordings.endIndex
        if index < recordings.endIndex, recordings[index].id == known.id {
            recordings[index].isEnded = known.isEnded
            recordings[index].endedAt = known.endedAt
        } else {
            recordings.insert(known, at: index)
        }
    }

    /// Forgets recordings whose files no longer exist.
    package mutating func remove(withFiles bases: Set<String>) {
        let isGone = { (recording: RequestedRecording) in
            recording.isOver && recording.files.map { bases.contains($0.base) } ?? false
        }
        recordings.removeAll { $0.repetition == nil && isGone($0) }
        // A series goes on without the files of its last recording.
        for index in recordings.indices where isGone(recordings[index]) { recordings[index].files = nil }
    }
}

extension RecordingSchedule.Refusal {
    package var message: String {
        switch self {
        case .length: "A recording has to end after its start, and at most 8 days after it."
        case .tooFar: "A recording has to end within 366 days."
        case .pending(let limit): "\(limit) recordings are planned or open: remove one."
        case .concurrent(let limit): "\(limit) recordings are planned for that time: remove one."
        }
    }
}
