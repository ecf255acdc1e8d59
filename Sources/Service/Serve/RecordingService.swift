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

    /// How long before its start a recording starts its channel.
    static let lead = Duration.seconds(30)
    /// How long after its end a recording waits for missing media.
    static let grace = Duration.seconds(120)
    /// The time between two removals of expired recordings.
    private static let sweepPause = Duration.seconds(3600)
    /// The time between two attempts to start a channel.
    private static let shortestPause = Duration.seconds(5)
    /// The longest sleep before the clock is read again, because it may be set meanwhile.
    private static let longestSleep = Duration.seconds(60)

    let pattern: RecordingPattern
    let host: ChannelHost
    let bus: EventBus
    private let logger: Logger
    let clock: RecordingClock
    let fileSystem: FileSystem
    private let list: RecordingList
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
        _ pattern: RecordingPattern, host: ChannelHost, logger: Logger, bus: EventBus, clock: RecordingClock = .wall,
        on fileSystem: FileSystem = .system, observe: @escaping @Sendable () -> Void = {}
    ) throws(RecordingFile.Failure) {
        (self.pattern, self.host, self.logger, self.bus) = (pattern, host, logger, bus)
        (self.clock, self.fileSystem, self.observe) = (clock, fileSystem, observe)
        list = RecordingList(of: pattern)
        try RecordingFile.makeDirectory(of: list.path)
        directory = try Descriptor(pattern.root, O_RDONLY | O_DIRECTORY)
        guard flock(directory.raw, LOCK_EX | LOCK_NB) == 0 else { throw .inUse(path: pattern.root) }
        var schedule = try list.read(logger)
        Self.finishRemovals(in: &schedule, pattern, list)
        state = Mutex(State(schedule: schedule))
    }

    /// The path of a recording's files without a suffix.
    func path(_ base: String) -> String { pattern.path(ofBase: base) }

    /// The path of a file below the root.
    func base(_ path: String) -> String {
        String(pattern.root == "." ? path[...] : path.dropFirst(pattern.root.count).drop { $0 == "/" })
    }

    /// Continues the recordings that earlier processes left.
    package func start() {
        state.withLock { state in
            for recording in state.schedule.recordings where !recording.isOver { launch(recording.id, &state) }
            state.sweeping = Task { await sweepRepeatedly() }
        }
        adoptShared()
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

    /// Continues the recordings again, because the next process has failed.
    package func reopen() {
        guard flock(directory.raw, LOCK_EX | LOCK_NB) == 0,
            let schedule = try? list.read(logger)
        else { return logger.error("Recordings cannot be continued: the new process holds \(pattern.root)") }
        state.withLock { state in
            (state.schedule, state.isClosed) = (schedule, false)
            state.tasks = state.tasks.filter { schedule[$0.key]?.state == .finishing }
        }
        start()
    }

    var recordings: [RequestedRecording] { state.withLock { $0.schedule.recordings } }

    subscript(id: Int) -> RequestedRecording? { state.withLock { $0.schedule[id] } }

    func launch(_ id: Int, _ state: inout State) {
        guard !state.isClosed, state.tasks[id] == nil else { return }
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

    func save() async throws(RecordingFile.Failure) {
        try await MediaPool.recordings.perform { [self] () throws(RecordingFile.Failure) in try write() }
    }

    /// Writes the list. Waits for the disk.
    private func write() throws(RecordingFile.Failure) {
        // Read here, so that the last file written contains the newest state.
        let (schedule, isClosed) = state.withLock { ($0.schedule, $0.isClosed) }
        guard !isClosed else { throw .closed }
        try list.write(schedule)
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
            if isElsewhere(recording) {
                if recording.endDate <= clock.now() { return }
                await waitForChannel(of: recording, writer?.file)
                continue
            }
            switch await host.waitUntilRunning(recording.channel, isStream: true) {
            case .running(let running):
                host.handle(.streamOpened(running.run))
                defer { host.handle(.streamClosed(running.run)) }
                if case .paused? = self[recording.id]?.state { report(.resumed(writer?.file), of: recording) }
                let timer = Task { if await wait(until: overdue) { running.state.publications.signal() } }
                defer { timer.cancel() }
                let end = await RecordingWriter.follow(running.state, with: &writer) {
                    overdue <= clock.now() || host.running(recording.channel)?.run != running.run
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
            case .handedOver: return
            }
            let now = clock.now()
            if overdue <= now { return }
            try? await clock.sleep(min(overdue, now.advanced(by: Self.shortestPause)))
        }
    }

    func journalPath(_ recording: RequestedRecording) -> String {
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
            ads: recording.ads ?? options?.recordingAds ?? .keep)
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

    func pause(
        _ recording: RequestedRecording, _ file: RecordingFile?, _ reason: String, _ level: Logger.Level = .error
    ) {
        guard self[recording.id]?.state != .paused(reason: reason) else { return }
        update(recording.id) { $0.state = .paused(reason: reason) }
        publish(.recordingPause(file: file?.mediaPath, recording: recording.id, reason: reason), of: recording)
        log(recording, "paused: \(reason)", level)
    }

    func publish(_ content: EventContent, of recording: RequestedRecording) {
        bus.publish(content, channel: recording.channel)
    }

    func log(_ recording: RequestedRecording, _ text: String, _ level: Logger.Level = .info) {
        logger.log(level: level, "Recording \(recording.id) of \(recording.channel) \(text)")
    }
}
