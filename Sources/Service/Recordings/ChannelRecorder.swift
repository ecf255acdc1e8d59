package import Channel
import Foundation
import LiveRing
package import Logging
import Media
import Mux
package import Observability
package import Support

/// Records one channel: each recording follows the ring, segment by segment.
///
/// It reads what is published, so that nothing it does holds the channel up. Until a recording has its last form its journal
/// is in the directory of the recordings, and whoever comes next goes on with it.
package struct ChannelRecorder: Sendable {
    /// How a channel is recorded.
    package struct Settings: Hashable, Sendable {
        package var pattern: RecordingPattern
        package var split: RecordingSplit
        package var retention: RecordingRetention
        /// Whether a recording is closed when the channel ends, because no later process goes on with it.
        package var closesAtEnd: Bool

        package init(
            pattern: RecordingPattern, split: RecordingSplit, retention: RecordingRetention = RecordingRetention(),
            closesAtEnd: Bool
        ) {
            (self.pattern, self.split, self.retention) = (pattern, split, retention)
            self.closesAtEnd = closesAtEnd
        }
    }

    /// Between two attempts to write.
    static let retryPause = Duration.seconds(5)

    let settings: Settings
    /// The channel's slug; nil in a process of one channel.
    let channel: String?
    let title: String?
    let logger: Logger
    let events: RunEvents?
    var reserve = RecordingFile.reserve

    package init(_ settings: Settings, channel: String?, title: String?, logger: Logger, events: RunEvents?) {
        (self.settings, self.channel, self.title) = (settings, channel, title)
        (self.logger, self.events) = (logger, events)
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

    /// Records until the channel ends, or the task is canceled.
    package func run(_ state: ChannelState) async {
        var recording: (file: RecordingFile, cursor: RecordingCursor)?
        var next: ProgramDateTime?
        var failure: RecordingFile.Failure?
        var finishing: [Task<Void, Never>] = []
        while !Task.isCancelled {
            // In this order: what is published before the end is in the snapshot.
            let changes = state.publications.changes
            let isOver = state.isOver
            if let publication = state.publication {
                do throws(RecordingFile.Failure) {
                    if recording == nil {
                        recording = try open(publication, from: next, finishing: &finishing)
                        if recording != nil { next = nil }
                    }
                    let end = try await follow(&recording, in: publication, of: state)
                    if failure != nil { resume(recording?.file, after: &failure) }
                    if let end {
                        if let file = recording?.file { finishing.append(finish(file)) }
                        (recording, next) = (nil, end.next)
                        if end.next == nil { break }
                        continue
                    }
                } catch {
                    pause(recording?.file, on: error, &failure)
                }
            }
            if isOver { break }
            await state.publications.wait(
                after: changes, until: .now + (failure == nil ? .seconds(60) : Self.retryPause))
            if failure != nil { try? await Task.sleep(for: Self.retryPause) }
        }
        guard settings.closesAtEnd else { return }
        if let file = recording?.file, file.journal.byteCount > 0 {
            if let snapshot = state.snapshot { try? recordBreaks(in: file, snapshot) }
            finishing.append(finish(file))
        }
        // If the process is to end before that, the next one finishes them.
        for task in finishing { await task.value }
    }

    private func open(
        _ publication: ChannelState.Publication, from start: ProgramDateTime?, finishing: inout [Task<Void, Never>]
    ) throws(RecordingFile.Failure) -> (RecordingFile, RecordingCursor)? {
        let split = settings.split
        for path in journals {
            guard let known = RecordingFile.journal(at: path), settings.pattern.isBelowRoot(known.plan.path) else {
                continue
            }
            guard RecordingFile.hasMedia(known) else {
                RecordingFile.forget(path)
                continue
            }
            guard let file = try? RecordingFile(known, at: path, reserve: reserve) else { continue }
            if known.isClosed || start != nil || !continues(known.plan) {
                finishing.append(finish(file))
                continue
            }
            events?.resumeRecording(file: file.mediaPath)
            logger.info("Recording resumed: \(file.mediaPath)")
            return (file, RecordingCursor(file.journal, split: split, from: publication.firstMediaSequence))
        }
        let number = publication.firstMediaSequence
        let first =
            start.map { publication.snapshot.firstEntry(endingAfter: $0) }
            ?? publication.snapshot.index.firstEntry(from: number)
        guard let first else { return nil }
        let date = first.programDateTime
        let plan = RecordingPlan(
            channel: channel, title: title,
            path: RecordingFile.freePath(settings.pattern.path(channel: channel, title: title, start: date)),
            format: settings.pattern.format, start: date)
        let file = try RecordingFile(RecordingJournal(plan), at: journalPath(of: date), reserve: reserve)
        events?.startRecording(file: file.mediaPath)
        logger.info("Recording started: \(file.mediaPath)")
        return (file, RecordingCursor(file.journal, split: split, from: publication.firstMediaSequence))
    }

    /// Whether a recording that an earlier process left is one of these, and not of another pattern.
    private func continues(_ plan: RecordingPlan) -> Bool {
        let path = plan.start.map { settings.pattern.path(channel: channel, title: title, start: $0) }
        return path.map { plan.path == $0 || plan.path.hasPrefix($0 + "-") } ?? false
    }

    private struct End {
        let next: ProgramDateTime?
    }

    /// Appends what is published.
    /// - Returns: nil if the recording goes on.
    private func follow(
        _ recording: inout (file: RecordingFile, cursor: RecordingCursor)?, in publication: ChannelState.Publication,
        of state: ChannelState
    ) async throws(RecordingFile.Failure) -> End? {
        guard let file = recording?.file, var cursor = recording?.cursor else { return nil }
        let snapshot = publication.snapshot
        while !Task.isCancelled {
            switch cursor.next(in: snapshot) {
            case .wait: return nil
            case .lose(let loss):
                try file.record(.loss(loss))
                recording?.cursor = cursor
            case .append(let entry):
                if !(try await append(entry, to: file, in: snapshot, of: state)) {
                    let length = entry.programDateTimeEnd.milliseconds(since: entry.programDateTime)
                    try file.record(.loss(RecordingLoss(.unreadable, at: entry.programDateTime, milliseconds: length)))
                }
                cursor.advance(over: entry)
                recording?.cursor = cursor
            case .finish(let next):
                try recordBreaks(in: file, snapshot)
                return End(next: next)
            }
        }
        return nil
    }

    /// - Returns: false if the segment cannot be read.
    private func append(
        _ entry: RingEntry, to file: RecordingFile, in snapshot: RingSnapshot, of state: ChannelState
    ) async throws(RecordingFile.Failure) -> Bool {
        guard let segment = try? await state.transportStreams.segment(of: entry, in: snapshot),
            let start = segment.chunks.first?.start
        else { return false }
        var clock = file.journal.clock
        let placement = clock.append(
            from: start, lasting: segment.chunks.reduce(.zero) { $0 + $1.duration })
        let moved =
            placement.shift == .zero
            ? segment : await state.transportStreams.segment(segment, of: entry, earlierBy: placement.shift)
        var bytes = [moved.bytes]
        if !placement.pause.isEmpty, let program = entry.transportStream.flatMap({ TransportStreamState($0)?.program })
        {
            bytes.insert(TransportTimeShift.clock(placement.pause, of: program), at: 0)
        }
        let (parts, position) = (bytes, clock.end ?? .zero)
        try await RecordingThread.perform { () throws(RecordingFile.Failure) in
            try file.append(parts) { end in
                RecordedSegment(entry, end: end, shift: placement.shift, clock: position)
            }
        }
        if file.journal.segments.count.isMultiple(of: 10) { try recordBreaks(in: file, snapshot) }
        return true
    }

    /// Records the breaks as they are known now.
    private func recordBreaks(in file: RecordingFile, _ snapshot: RingSnapshot) throws(RecordingFile.Failure) {
        let journal = file.journal
        guard let first = journal.segments.first?.date, let last = journal.segments.last?.dateEnd,
            let oldest = snapshot.dates?.first, oldest < last
        else { return }
        // Breaks are judged by what is around them, of which the older half of the rewind has too little.
        let half = oldest.advanced(byMilliseconds: last.milliseconds(since: oldest) / 2)
        let start = max(oldest <= first ? first : half, last.advanced(byMilliseconds: -7_200_000))
        let known = snapshot.adBreaks(.between(start: start, end: last)) ?? []
        for line in journal.changes(to: known, from: start) { try file.record(line) }
    }

    /// Gives a recording its last form, while the next one is written.
    private func finish(_ file: RecordingFile) -> Task<Void, Never> {
        logger.info("Recording closed: \(file.mediaPath)")
        // Whoever reads the journal before its turn has come does not go on with it.
        try? file.record(.closed)
        return Task {
            let (result, removed) = await RecordingThread.finish(file) {
                settings.retention.sweep(settings.pattern, channel: channel)
            }
            for path in removed { logger.info("Recording removed: \(path)") }
            switch result {
            case .success(let result)?:
                events?.endRecording(file: result.path, note: result.note)
                logger.info("Recording finished: \(result.path)")
                if let note = result.note { logger.warning("Recording kept as \(result.path): \(note)") }
            case .failure(let error)?: logger.error("Recording kept as \(file.mediaPath): \(error.message)")
            case nil: break
            }
        }
    }

    private func pause(_ file: RecordingFile?, on error: RecordingFile.Failure, _ failure: inout RecordingFile.Failure?)
    {
        guard failure != error else { return }
        failure = error
        events?.pauseRecording(file: file?.mediaPath ?? settings.pattern.text, reason: error.message)
        logger.error("Recording paused, the channel continues: \(error.message)")
    }

    private func resume(_ file: RecordingFile?, after failure: inout RecordingFile.Failure?) {
        failure = nil
        events?.resumeRecording(file: file?.mediaPath ?? settings.pattern.text)
        logger.info("Recording continues")
    }
}
