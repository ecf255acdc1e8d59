package import Channel
import Export
import Foundation
import LiveRing
package import Support

/// Records one channel: each recording follows the ring, segment by segment.
///
/// It reads published media only, so it never delays the channel. Until a recording has its last form, its journal
/// stays in the directory of the recordings, and the next process continues it.
package struct ChannelRecorder: Sendable {
    /// How a channel is recorded.
    package struct Settings: Hashable, Sendable {
        package var pattern: RecordingPattern
        package var split: RecordingSplit
        /// The clock of the dates in paths, and of the split.
        package var clock: LocalClock
        /// Whether recordings include slate that fills outages.
        package var includesSlate: Bool
        package var ads: RecordingAds
        package var retention: RecordingRetention
        /// Whether a recording is closed when the channel ends, because no later process continues it.
        package var closesAtEnd: Bool

        package init(
            pattern: RecordingPattern, split: RecordingSplit, clock: LocalClock = .utc, includesSlate: Bool = true,
            ads: RecordingAds = .keep, retention: RecordingRetention = RecordingRetention(), closesAtEnd: Bool
        ) {
            (self.pattern, self.split, self.clock) = (pattern, split, clock)
            (self.includesSlate, self.ads) = (includesSlate, ads)
            (self.retention, self.closesAtEnd) = (retention, closesAtEnd)
        }
    }

    /// A change that an operator may want to know of. Paths are those of files, or of the pattern before there is one.
    package enum Event: Sendable {
        case notSplit
        case opened(path: String, isNew: Bool)
        case paused(path: String, reason: String)
        case resumed(path: String)
        case closed(path: String)
        case finished(path: String, note: String?)
        /// The recording has no last form.
        case kept(path: String, reason: String)
        case removed(path: String)
    }

    let settings: Settings
    /// The channel's slug; nil in a process of one channel.
    let channel: String?
    let title: String?
    /// The list of recordings for the API; nil: none is kept.
    let list: ContinuousRecordings?
    /// nil: there is no guide.
    let programs: ProgramLookup?
    private let observe: @Sendable (Event) -> Void
    var fileSystem = FileSystem.system

    /// The time between two removals of expired recordings.
    private static let sweepPause = Duration.seconds(3600)

    package init(
        _ settings: Settings, channel: String?, title: String?, list: ContinuousRecordings? = nil,
        programs: ProgramLookup? = nil, observe: @escaping @Sendable (Event) -> Void = { _ in }
    ) {
        (self.settings, self.channel, self.title) = (settings, channel, title)
        (self.list, self.programs, self.observe) = (list, programs, observe)
    }

    private var journalName: String { ".\(RecordingPattern.component(channel ?? "liverelay"))-" }

    private static let journalSuffix = ".recording"

    private func journalPath(of start: ProgramDateTime) -> String {
        "\(settings.pattern.root)/\(journalName)\(start.millisecondsSince1970)\(Self.journalSuffix)"
    }

    /// The paths of the journals that earlier processes left, the oldest first.
    private var journals: [String] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: settings.pattern.root)) ?? []
        return names.compactMap { name -> Int64? in
            guard name.hasPrefix(journalName), name.hasSuffix(Self.journalSuffix) else { return nil }
            return Int64(name.dropFirst(journalName.count).dropLast(Self.journalSuffix.count))
        }.sorted().map { journalPath(of: ProgramDateTime(millisecondsSince1970: $0)) }
    }

    /// Removes expired recordings at intervals, until the task is canceled.
    private func sweepRepeatedly() async {
        if let list, let channel {
            await MediaPool.finishing.perform { [pattern = settings.pattern] in list.read(channel, in: pattern) }
        }
        repeat {
            recordRemoval(
                await MediaPool.finishing.perform { settings.retention.sweep(settings.pattern, channel: channel) })
        } while (try? await Task.sleep(for: Self.sweepPause)) != nil
    }

    private func recordRemoval(_ paths: [String]) {
        list?.remove(paths)
        for path in paths { observe(.removed(path: path)) }
    }

    /// Records until the channel ends, or the task is canceled.
    package func run(_ state: ChannelState) async {
        if settings.split == .program, programs == nil { observe(.notSplit) }
        let sweeping = Task { await sweepRepeatedly() }
        defer { sweeping.cancel() }
        var writer: RecordingWriter?
        var next: ProgramDateTime?
        var finishing: [Task<Void, Never>] = []
        while !Task.isCancelled {
            let start = next
            let end = await RecordingWriter.follow(state, with: &writer) {
                (publication) async throws(RecordingFile.Failure) in
                let opened = try await MediaPool.recordings.perform { () throws(RecordingFile.Failure) in
                    try open(publication, from: start)
                }
                for file in opened.left { finishing.append(finish(file)) }
                return opened.writer
            } report: {
                report($0)
            }
            guard let end else { break }
            if let file = writer?.file { finishing.append(finish(file)) }
            (writer, next) = (nil, end.next)
            if next == nil { break }
        }
        // The preceding process may have been killed after the last segment.
        let hasEnded = state.status.state == .ended && state.snapshot?.hasEnded == true
        if settings.closesAtEnd || hasEnded, let file = writer?.file, file.journal.byteCount > 0 {
            if let snapshot = state.snapshot { try? await writer?.recordBreaks(snapshot) }
            finishing.append(finish(file))
        }
        guard settings.closesAtEnd else { return }
        // If the process must end earlier, the next process finishes the recordings.
        for task in finishing { await task.value }
    }

    /// Begins a recording, or continues one that an earlier process left. Waits for the disk.
    /// - Returns: nil if nothing is published yet, and other left recordings that still need their last form.
    private func open(
        _ publication: ChannelState.Publication, from start: ProgramDateTime?
    ) throws(RecordingFile.Failure) -> (writer: RecordingWriter?, left: [RecordingFile]) {
        var left: [RecordingFile] = []
        let follow = { file in
            RecordingWriter(
                file, split: settings.split, by: settings.clock, from: publication.firstMediaSequence,
                programs: programs)
        }
        let targetDuration = publication.snapshot.index.targetDuration
        for path in journals {
            guard let known = RecordingFile.journal(at: path), settings.pattern.isBelowRoot(known.plan.path) else {
                continue
            }
            guard RecordingFile.hasMedia(known) else {
                RecordingFile.forget(path)
                continue
            }
            guard let file = try? RecordingFile(known, at: path, on: fileSystem, targetDuration: targetDuration)
            else { continue }
            guard !known.isClosed, start == nil, continues(known.plan) else {
                left.append(file)
                continue
            }
            return (follow(file), left)
        }
        let number = publication.firstMediaSequence
        let first =
            start.map { publication.snapshot.firstEntry(endingAfter: $0) }
            ?? publication.snapshot.index.listed(from: number).first
        guard let first else { return (nil, left) }
        let date = first.programDateTime
        let title = (settings.split == .program ? programs?(date)?.title : nil) ?? title
        let plan = RecordingPlan(
            channel: channel, title: title,
            path: RecordingFile.freePath(path(title: title, start: date)), format: settings.pattern.format, start: date,
            includesSlate: settings.includesSlate, ads: settings.ads)
        let file = try RecordingFile(
            RecordingJournal(plan), at: journalPath(of: date), on: fileSystem, targetDuration: targetDuration)
        return (follow(file), left)
    }

    private func path(title: String?, start: ProgramDateTime) -> String {
        settings.pattern.path(channel: channel, title: title, start: start, by: settings.clock)
    }

    /// Whether this recorder continues a recording that an earlier process left, because the patterns match.
    private func continues(_ plan: RecordingPlan) -> Bool {
        guard let start = plan.start else { return false }
        let path = path(title: plan.title, start: start)
        return plan.path == path || plan.path.hasPrefix(path + "-")
    }

    private func report(_ report: RecordingWriter.Report) {
        switch report {
        case .opened(let file, let isNew):
            list?.insert(ContinuousRecording(file.journal, in: settings.pattern))
            observe(.opened(path: file.mediaPath, isNew: isNew))
        case .appended(let file): list?.update(file.journal.plan.path) { $0.count(file.journal) }
        case .paused(let file, let failure):
            if let file { list?.update(file.journal.plan.path) { $0.state = .paused(reason: failure.message) } }
            observe(.paused(path: file?.mediaPath ?? settings.pattern.text, reason: failure.message))
        case .resumed(let file):
            if let file { list?.update(file.journal.plan.path) { $0.state = .recording } }
            observe(.resumed(path: file?.mediaPath ?? settings.pattern.text))
        }
    }

    /// Gives a recording its last form while the next recording is being written.
    private func finish(_ file: RecordingFile) -> Task<Void, Never> {
        var recording = ContinuousRecording(file.journal, in: settings.pattern)
        recording.close(file.journal)
        list?.insert(recording)
        observe(.closed(path: file.mediaPath))
        return Task {
            try? await MediaPool.recordings.perform { () throws(RecordingFile.Failure) in try file.close() }
            let (result, removed) = await RecordingFinisher.finish(file) {
                settings.retention.sweep(settings.pattern, channel: channel)
            }
            let path = file.journal.plan.path
            let found = await MediaPool.finishing.perform { RecordingRetention.files(path) }
            recordRemoval(removed)
            switch result {
            case .success(let result)?:
                list?.update(path) { $0.finish(found, note: result.note) }
                observe(.finished(path: result.path, note: result.note))
            case .failure(let error)?:
                list?.update(path) { $0.finish(found, note: error.message) }
                observe(.kept(path: file.mediaPath, reason: error.message))
            case nil: list?.remove([path])
            }
        }
    }
}
