import Channel
import ChannelList
import Export
import Foundation
import Glibc
import LiveRing
package import Logging
package import Observability
package import Record
package import Support
import Synchronization

/// Makes the requested recordings. One task per recording waits for the start, follows the channel, and gives the
/// recording its last form.
///
/// A recording counts as a viewer of its channel: it starts the channel, occupies a place among the running ones, and
/// reports why it has none. The list of recordings is stored beside them, so that the next process continues each
/// recording.
package final class RecordingService: Sendable {
    struct State {
        var schedule: RecordingSchedule
        var tasks: [Int: Task<Void, Never>] = [:]
        /// Removes expired recordings at intervals.
        var sweeping: Task<Void, Never>?
        var isClosed = false
    }

    /// The wall clock, and a function that waits for a date.
    struct Clock: Sendable {
        let now: @Sendable () -> ProgramDateTime
        /// Waits for a date; returns at once for a past date. Throws if the task is canceled earlier.
        let sleep: @Sendable (_ date: ProgramDateTime) async throws -> Void

        static let wall = Clock(
            now: { ProgramDateTime(millisecondsSince1970: WallClock.milliseconds) },
            sleep: { date in
                try await Task.sleep(for: .milliseconds(max(0, date.millisecondsSince1970 - WallClock.milliseconds)))
            })
    }

    /// How long before its start a recording starts its channel.
    static let lead = Duration.seconds(30)
    /// How long after its end a recording waits for missing media.
    private static let grace = Duration.seconds(120)
    /// The time between two removals of expired recordings.
    private static let sweepPause = Duration.seconds(3600)
    /// The time between two attempts to start a channel.
    private static let shortestPause = Duration.seconds(5)
    /// The longest sleep before the clock is read again, because it may be set meanwhile.
    private static let longestSleep = Duration.seconds(60)

    let pattern: RecordingPattern
    let host: ChannelHost
    private let bus: EventBus
    private let logger: Logger
    let clock: Clock
    private let fileSystem: FileSystem
    /// Called after each change of the list. It must not wait or call back.
    private let observe: @Sendable () -> Void
    /// Holds the lock of the directory.
    private let directory: Descriptor
    let state: Mutex<State>

    /// - Parameter pattern: the paths of the recordings. `{title}` is the recording's name.
    package convenience init(
        _ pattern: RecordingPattern, host: ChannelHost, logger: Logger, bus: EventBus
    ) throws(RelayError) {
        do throws(RecordingFile.Failure) {
            try self.init(pattern, host: host, logger: logger, bus: bus, clock: .wall)
        } catch {
            throw RelayError(recordingsIn: pattern.root, of: "--recordings", error)
        }
    }

    init(
        _ pattern: RecordingPattern, host: ChannelHost, logger: Logger, bus: EventBus, clock: Clock = .wall,
        on fileSystem: FileSystem = .system, observe: @escaping @Sendable () -> Void = {}
    ) throws(RecordingFile.Failure) {
        (self.pattern, self.host, self.logger, self.bus) = (pattern, host, logger, bus)
        (self.clock, self.fileSystem, self.observe) = (clock, fileSystem, observe)
        try RecordingFile.makeDirectory(of: Self.listPath(pattern))
        directory = try Descriptor(pattern.root, O_RDONLY | O_DIRECTORY)
        guard flock(directory.raw, LOCK_EX | LOCK_NB) == 0 else { throw .inUse(path: pattern.root) }
        var schedule = try Self.readList(Self.listPath(pattern), logger)
        Self.finishRemovals(in: &schedule, pattern)
        state = Mutex(State(schedule: schedule))
    }

    static func listPath(_ pattern: RecordingPattern) -> String { pattern.root + "/.recordings.json" }

    /// Reads the list. Unreadable recordings are left out, and the file is then set aside.
    private static func readList(
        _ path: String, _ logger: Logger
    ) throws(RecordingFile.Failure) -> RecordingSchedule {
        guard unsafe access(path, F_OK) == 0 else { return RecordingSchedule() }
        let file = URL(filePath: path)
        guard let bytes = try? Data(contentsOf: file),
            let schedule = try? JSONDecoder().decode(RecordingSchedule.self, from: bytes)
        else {
            DamagedFile.setAside(file, logger)
            return RecordingSchedule()
        }
        guard !schedule.isOfLaterFormat else { throw .laterFormat(path: path) }
        if schedule.droppedCount > 0 {
            DamagedFile.setAside(file, logger)
            logger.error("\(schedule.droppedCount) recordings of \(path) cannot be read and are left out")
            if let list = try? JSONEncoder().encode(schedule) { try? RecordingFile.replace(path, with: Array(list)) }
        }
        return schedule
    }

    /// Continues the recordings that earlier processes left.
    package func start() {
        state.withLock { state in
            for recording in state.schedule.recordings where !recording.isOver { launch(recording.id, &state) }
            state.sweeping = Task { await sweepRepeatedly() }
        }
    }

    /// Leaves all recordings to the next process. Recordings that are being finished are not waited for.
    package func close() async {
        let open = state.withLock { state in
            state.isClosed = true
            state.sweeping?.cancel()
            for task in state.tasks.values { task.cancel() }
            return state.tasks.filter { state.schedule[$0.key]?.state != .finishing }.values
        }
        for task in open { await task.value }
        _ = flock(directory.raw, LOCK_UN)
    }

    var recordings: [RequestedRecording] { state.withLock { $0.schedule.recordings } }

    subscript(id: Int) -> RequestedRecording? { state.withLock { $0.schedule[id] } }

    func launch(_ id: Int, _ state: inout State) {
        guard !state.isClosed else { return }
        state.tasks[id] = Task { [self] in
            await run(id)
            self.state.withLock { $0.tasks[id] = nil }
        }
    }

    private func sweepRepeatedly() async {
        repeat {
            await continueSeries()
            for channel in Set(recordings.filter(\.isOver).map(\.channel)).sorted() {
                let retention = host.directory[channel].map { RecordingRetention($0.options) }
                recordRemoval(await MediaPool.finishing.perform { [self] in sweep(channel, retention) })
            }
        } while (try? await clock.sleep(clock.now().advanced(by: Self.sweepPause))) != nil
    }

    /// Removes the expired recordings of a channel. Waits for the disk.
    ///
    /// They leave the list first: if the process ends in between, the next one finds them expired again. A list that could not
    /// be stored on a full disk is stored again afterwards.
    /// - Returns: the paths of the removed recordings, without a suffix.
    func sweep(_ channel: String, _ retention: RecordingRetention?) -> [String] {
        retention?.sweep(pattern, channel: channel) { paths in
            forget(paths)
            try? write()
        } ?? []
    }

    private func forget(_ paths: [String]) {
        state.withLock { $0.schedule.remove(withFiles: Set(paths.map(base))) }
        observe()
    }

    func recordRemoval(_ paths: [String]) {
        for path in paths { logger.info("Recording removed: \(path)") }
        guard !paths.isEmpty else { return }
        forget(paths)
        Task { await store() }
    }

    private func save() async throws(RecordingFile.Failure) {
        try await MediaPool.recordings.perform { [self] () throws(RecordingFile.Failure) in try write() }
    }

    /// Writes the list. Waits for the disk.
    private func write() throws(RecordingFile.Failure) {
        // Read here, so that the last file written contains the newest state.
        let (schedule, isClosed) = state.withLock { ($0.schedule, $0.isClosed) }
        guard !isClosed else { throw .closed }
        try Self.write(schedule, pattern)
    }

    static func write(_ schedule: RecordingSchedule, _ pattern: RecordingPattern) throws(RecordingFile.Failure) {
        guard let list = try? JSONEncoder().encode(schedule) else { return }
        try RecordingFile.replace(listPath(pattern), with: Array(list))
    }

    /// Changes a recording as the API shows it.
    func apply(_ id: Int, _ change: (inout RequestedRecording) -> Void) {
        state.withLock { $0.schedule.update(id, change) }
        observe()
    }

    /// Changes a recording, and stores the list.
    func update(_ id: Int, _ change: (inout RequestedRecording) -> Void) {
        self.change { $0.update(id, change) }
    }

    /// Changes the list, and stores it.
    func change(_ change: (inout RecordingSchedule) -> Void) {
        state.withLock { change(&$0.schedule) }
        observe()
        Task { await store() }
    }

    /// Stores the list if possible. Otherwise an older list stays; the journals of recordings contain the rest.
    func store() async {
        do throws(RecordingFile.Failure) { try await save() } catch {
            if error != .closed { logger.warning("The list of recordings cannot be stored: \(error.message)") }
        }
    }
}

extension RelayError {
    /// The error of a directory in which recordings cannot be kept, and that an option names.
    package init(recordingsIn directory: String, of option: String, _ failure: RecordingFile.Failure) {
        self.init(
            .cannotWrite, "Recordings cannot be kept in \(directory): \(failure.message)",
            advice: "Give another \(option), or correct what is said")
    }
}

// MARK: - Requests

extension RecordingService {
    enum Problem: Error, Equatable, Sendable {
        case unknownChannel(String)
        case refused(RecordingSchedule.Refusal)
        /// The rewind contains no media of a past range. The dates are those that the rewind contains.
        case notInRewind(Range<ProgramDateTime>?)
        /// The list cannot be stored.
        case storage(RecordingFile.Failure)
        /// The recording is being given its last form.
        case finishing
        /// The channel is recorded continuously.
        case continuous
    }

    /// - Parameters:
    ///   - name: the name for people; nil: the channel's name.
    func add(
        channel slug: String, name: String?, range: (start: ProgramDateTime, end: ProgramDateTime), isKept: Bool,
        includesSlate: Bool = true, repetition: RecordingRepetition? = nil
    ) async throws(Problem) -> RequestedRecording {
        guard let channel = host.directory[slug] else { throw .unknownChannel(slug) }
        do throws(RecordingFile.Failure) {
            try await MediaPool.recordings.perform { [self] () throws(RecordingFile.Failure) in
                try RecordingFile.check(directory: pattern.root, on: fileSystem)
            }
        } catch {
            // A full disk may have room later.
            if error != .full { throw .storage(error) }
        }
        let now = clock.now()
        if range.end <= now {
            let dates = host.running(slug)?.state.snapshot?.dates
            guard let dates, dates.first < range.end, range.start < dates.end else {
                throw .notInRewind(dates.map { $0.first..<max($0.first, $0.end) })
            }
        }
        let added = state.withLock { state in
            Result { () throws(RecordingSchedule.Refusal) in
                try state.schedule.add(
                    channel: slug, name: name ?? channel.name, range: range, isKept: isKept,
                    includesSlate: includesSlate, repetition: repetition, at: now)
            }
        }
        let recording: RequestedRecording
        do throws(RecordingSchedule.Refusal) { recording = try added.get() } catch { throw .refused(error) }
        do throws(RecordingFile.Failure) { try await save() } catch {
            state.withLock { $0.schedule.remove(recording.id) }
            throw .storage(error)
        }
        bus.publish(
            .recordingPlan(
                recording: recording.id, name: recording.name, start: recording.startDate, end: recording.endDate),
            channel: slug)
        state.withLock { launch(recording.id, &$0) }
        return recording
    }

    /// Ends a recording, or forgets one that has finished or has not begun.
    /// - Parameter removesFiles: whether the files of a finished recording are removed.
    /// - Returns: false if the recording does not exist.
    func remove(_ id: Int, removesFiles: Bool) async throws(Problem) -> Bool {
        guard let recording = self[id] else { return false }
        if recording.state == .finishing { throw .finishing }
        let removal = Removal(of: id, in: pattern)
        if recording.isOver {
            let files = removesFiles ? recording.files.map { path($0.base) } : nil
            // Removing files comes first, because the list cannot be stored on a full disk.
            await MediaPool.recordings.perform { [journal = journalPath(recording)] in
                RecordingFile.forget(journal)
                if let files { removal.perform(files) }
            }
        }
        state.withLock { state in
            if recording.isOver {
                state.schedule.remove(id)
            } else {
                state.schedule.update(id) { $0.end(at: clock.now()) }
            }
        }
        do throws(RecordingFile.Failure) { try await save() } catch {
            state.withLock { $0.schedule.restore(recording) }
            throw .storage(error)
        }
        removal.end()
        // A recording that is about to be launched has no task yet, and ends by itself.
        if !recording.isOver, let task = state.withLock({ $0.tasks[id] }) {
            task.cancel()
            if recording.files == nil { await task.value }
        }
        return true
    }

    /// Marks a recording as kept, so that retention never removes it, or removes the mark.
    func keep(_ id: Int, _ isKept: Bool) async throws(Problem) -> RequestedRecording? {
        guard let known = self[id] else { return nil }
        apply(id) { $0.isKept = isKept }
        do throws(RecordingFile.Failure) {
            if let recording = self[id] { try await mark(recording) }
            try await save()
        } catch {
            apply(id) { $0.isKept = known.isKept }
            try? await mark(known)
            throw .storage(error)
        }
        return self[id]
    }

    /// Writes the mark beside the files, or removes it.
    func mark(_ recording: RequestedRecording) async throws(RecordingFile.Failure) {
        guard let base = recording.files?.base else { return }
        try await MediaPool.recordings.perform { [path = path(base)] () throws(RecordingFile.Failure) in
            try RecordingRetention.mark(path, isKept: recording.isKept)
        }
    }

    /// The path of a recording's files without a suffix.
    func path(_ base: String) -> String { pattern.path(ofBase: base) }

    /// The path of a file below the root.
    func base(_ path: String) -> String {
        String(pattern.root == "." ? path[...] : path.dropFirst(pattern.root.count).drop { $0 == "/" })
    }
}

// MARK: - Recording

extension RecordingService {
    private func run(_ id: Int) async {
        guard let recording = self[id] else { return }
        var writer: RecordingWriter?
        if recording.state != .finishing, !recording.isEnded,
            await wait(until: recording.startDate.advanced(by: .zero - Self.lead))
        {
            if recording.repetition != nil { await continueSeries() }
            await record(recording, with: &writer)
        }
        let isEnded = self[id]?.isEnded ?? true
        if isEnded || !Task.isCancelled { await finish(recording, writer, isEnded: isEnded) }
    }

    /// - Returns: false if the task is canceled before.
    private func wait(until date: ProgramDateTime) async -> Bool {
        while true {
            let now = clock.now()
            guard now < date else { return !Task.isCancelled }
            let next = min(date, now.advanced(by: Self.longestSleep))
            guard (try? await clock.sleep(next)) != nil else { return false }
        }
    }

    /// Records the available media of the range, over all runs of the channel.
    private func record(_ recording: RequestedRecording, with writer: inout RecordingWriter?) async {
        while !Task.isCancelled {
            let overdue = recording.endDate.advanced(by: Self.grace)
            switch await host.waitUntilRunning(recording.channel, isStream: true) {
            case .running(let running):
                host.handle(.streamOpened(running.run))
                defer { host.handle(.streamClosed(running.run)) }
                if case .paused? = self[recording.id]?.state { report(.resumed(writer?.file), of: recording) }
                let timer = Task { if await wait(until: overdue) { running.state.publications.signal() } }
                defer { timer.cancel() }
                let end = await RecordingWriter.follow(running.state, with: &writer) {
                    overdue <= clock.now()
                } open: {
                    (publication) async throws(RecordingFile.Failure) in
                    try await MediaPool.recordings.perform { [self] () throws(RecordingFile.Failure) in
                        try open(recording, publication)
                    }
                } report: {
                    report($0, of: recording)
                }
                // A channel that has ended publishes nothing more.
                if end != nil || running.state.isOver && recording.endDate <= clock.now() { return }
            case .refused(let refusal, let status):
                guard !Task.isCancelled else { return }
                pause(recording, writer?.file, refusal.reason(status).viewerText)
            }
            let now = clock.now()
            if overdue <= now { return }
            try? await clock.sleep(min(overdue, now.advanced(by: Self.shortestPause)))
        }
    }

    private func journalPath(_ recording: RequestedRecording) -> String {
        // No channel has such a name.
        "\(pattern.root)/.api-\(recording.id).recording"
    }

    /// The file that an earlier process or run of the channel left; nil if there is none. Waits for the disk.
    func reopen(_ recording: RequestedRecording) throws(RecordingFile.Failure) -> RecordingFile? {
        let path = journalPath(recording)
        guard let known = RecordingFile.journal(at: path), pattern.isBelowRoot(known.plan.path) else { return nil }
        // The file may belong to a recording with the same number in a list that was moved away.
        let plan = known.plan
        guard plan.channel == recording.channel, plan.start == recording.startDate, plan.end == recording.endDate
        else { return nil }
        guard RecordingFile.hasMedia(known) else {
            RecordingFile.forget(path)
            return nil
        }
        return try RecordingFile(known, at: path, on: fileSystem)
    }

    /// Begins the file of a recording, or continues it. Waits for the disk.
    /// - Returns: nil if nothing of its range is published.
    private func open(
        _ recording: RequestedRecording, _ publication: ChannelState.Publication
    ) throws(RecordingFile.Failure) -> RecordingWriter? {
        let first = publication.firstMediaSequence
        if let file = try reopen(recording) { return RecordingWriter(file, from: first) }
        guard let date = publication.snapshot.firstEntry(endingAfter: recording.startDate)?.programDateTime,
            date < recording.endDate
        else { return nil }
        let options = host.directory[recording.channel]?.options
        let plan = RecordingPlan(
            channel: recording.channel, title: recording.name,
            path: RecordingFile.freePath(
                pattern.path(
                    channel: recording.channel, title: recording.name, start: date,
                    by: options?.recordingClock ?? .utc)),
            format: pattern.format, start: recording.startDate, end: recording.endDate,
            includesSlate: recording.includesSlate != false,
            ads: options?.recordingAds ?? .keep)
        let file = try RecordingFile(
            RecordingJournal(plan), at: journalPath(recording), on: fileSystem,
            targetDuration: publication.snapshot.index.targetDuration)
        return RecordingWriter(file, from: first)
    }

    private func report(_ report: RecordingWriter.Report, of recording: RequestedRecording) {
        let id = recording.id
        switch report {
        case .opened(let file, let isNew):
            update(id) { $0.begin(base(String(file.mediaPath.dropLast(3))), file.journal) }
            publish(
                isNew
                    ? .recordingStart(file: file.mediaPath, recording: id)
                    : .recordingResume(file: file.mediaPath, recording: id), of: recording)
            log(recording, isNew ? "started: \(file.mediaPath)" : "resumed: \(file.mediaPath)")
        case .appended(let file):
            // The journal of the recording contains these counts too.
            apply(id) { $0.count(file.journal) }
        case .paused(let file, let failure): pause(recording, file, failure.message)
        case .resumed(let file):
            update(id) { $0.state = file == nil ? .planned : .recording }
            publish(.recordingResume(file: file?.mediaPath, recording: id), of: recording)
            log(recording, "continues")
        }
    }

    private func pause(_ recording: RequestedRecording, _ file: RecordingFile?, _ reason: String) {
        guard self[recording.id]?.state != .paused(reason: reason) else { return }
        update(recording.id) { $0.state = .paused(reason: reason) }
        publish(.recordingPause(file: file?.mediaPath, recording: recording.id, reason: reason), of: recording)
        log(recording, "paused: \(reason)", .error)
    }

    func publish(_ content: EventContent, of recording: RequestedRecording) {
        bus.publish(content, channel: recording.channel)
    }

    func log(_ recording: RequestedRecording, _ text: String, _ level: Logger.Level = .info) {
        logger.log(level: level, "Recording \(recording.id) of \(recording.channel) \(text)")
    }
}
