package import Channel
import Export
import LiveRing
import Media
import Mux
package import Support

/// A program of the guide, or the time before the next program.
package struct GuideProgram: Equatable, Sendable {
    /// nil: the guide has no program at that time.
    let title: String?
    /// The end of the program, or the start of the next one.
    let end: ProgramDateTime

    package init(title: String?, end: ProgramDateTime) { (self.title, self.end) = (title, end) }
}

/// Returns the program at a date; nil if the guide contains none from that date on. Waits for the disk.
package typealias ProgramLookup = @Sendable (ProgramDateTime) -> GuideProgram?

/// Appends the published media of a channel to the file of one recording, on the thread of recordings.
package struct RecordingWriter: Sendable {
    /// The end of a recording whose range is complete.
    package struct End {
        /// The start of the next recording; nil if none follows.
        let next: ProgramDateTime?
    }

    /// A change that is reported to the caller.
    package enum Report {
        case opened(RecordingFile, isNew: Bool)
        /// Media may have been appended.
        case appended(RecordingFile)
        /// The recording cannot be written, and continues when it can be; nil: it has not begun.
        case paused(RecordingFile?, RecordingFile.Failure)
        case resumed(RecordingFile?)
    }

    /// The time between two attempts to write.
    private static let retryPause = Duration.seconds(5)
    /// The media between two queries of the guide, in milliseconds: the guide may change during a program.
    private static let guidePause: Int64 = 60_000

    package let file: RecordingFile
    private var cursor: RecordingCursor
    /// nil: no guide splits the recording.
    private let programs: ProgramLookup?
    /// The position of the recording when the guide was last queried.
    private var guideDate: ProgramDateTime?

    /// - Parameters:
    ///   - clock: that of the split.
    ///   - firstMediaSequence: the first number that this process publishes.
    ///   - programs: the guide, if the recording is split by program.
    package init(
        _ file: RecordingFile, split: RecordingSplit = .never, by clock: LocalClock = .utc,
        from firstMediaSequence: UInt64, programs: ProgramLookup? = nil
    ) {
        (self.file, self.programs) = (file, split == .program ? programs : nil)
        cursor = RecordingCursor(file.journal, split: split, by: clock, from: firstMediaSequence)
    }

    /// Follows a channel until the recording's range is complete, the channel has ended, or the task is canceled.
    /// - Parameters:
    ///   - writer: nil before the recording is open.
    ///   - isOverdue: whether no more media of the range is expected from this run. A change of the result must signal a publication.
    ///   - open: opens the recording, or returns nil if nothing of it is published yet.
    /// - Returns: nil if more of the range may come.
    package static func follow(
        _ state: ChannelState, with writer: inout RecordingWriter?, isOverdue: () -> Bool = { false },
        open: (ChannelState.Publication) async throws(RecordingFile.Failure) -> RecordingWriter?,
        report: (Report) -> Void
    ) async -> End? {
        var failure: RecordingFile.Failure?
        while !Task.isCancelled {
            // In this order, so that the snapshot contains everything published before the end.
            let changes = state.publications.changes
            let isOver = state.isOver
            if let publication = state.publication {
                do throws(RecordingFile.Failure) {
                    if writer == nil {
                        writer = try await open(publication)
                        if let file = writer?.file { report(.opened(file, isNew: file.journal.readByteCount == 0)) }
                    }
                    let end = try await writer?.append(publication.snapshot, of: state)
                    if failure != nil { report(.resumed(writer?.file)) }
                    failure = nil
                    if let file = writer?.file { report(.appended(file)) }
                    if let end = end ?? nil { return end }
                } catch {
                    if failure != error { report(.paused(writer?.file, error)) }
                    failure = error
                }
            }
            if isOver { return nil }
            guard failure == nil else {
                await state.publications.wait(after: changes, until: .now + retryPause)
                try? await Task.sleep(for: retryPause)
                continue
            }
            if isOverdue() { return nil }
            await state.publications.wait(after: changes, until: .now + .seconds(60))
        }
        return nil
    }

    /// Appends the published media.
    /// - Returns: nil if the recording continues.
    private mutating func append(
        _ snapshot: RingSnapshot, of state: ChannelState
    ) async throws(RecordingFile.Failure) -> End? {
        while !Task.isCancelled {
            await findProgramEnd()
            var advanced = cursor
            switch advanced.next(in: snapshot) {
            case .wait: return nil
            case .lose(let loss): try await record([.loss(loss)])
            case .append(let entry):
                if !(try await append(entry, in: snapshot, of: state)) {
                    let length = entry.programDateTimeEnd.milliseconds(since: entry.programDateTime)
                    try await record([
                        .loss(RecordingLoss(.unreadable, at: entry.programDateTime, milliseconds: length))
                    ])
                }
                advanced.advance(over: entry)
            case .finish(let date):
                try await recordBreaks(snapshot)
                return End(next: date)
            }
            cursor = advanced
        }
        return nil
    }

    /// Looks up the end of the program during which the recording started.
    private mutating func findProgramEnd() async {
        let segments = file.journal.segments
        guard let programs, let start = segments.first?.date, let date = segments.last?.dateEnd else { return }
        if let guideDate, date.milliseconds(since: guideDate) < Self.guidePause { return }
        guideDate = date
        cursor.setProgramEnd(await MediaPool.recordings.perform { programs(start)?.end })
    }

    /// - Returns: false if the segment cannot be read.
    private func append(
        _ entry: RingEntry, in snapshot: RingSnapshot, of state: ChannelState
    ) async throws(RecordingFile.Failure) -> Bool {
        guard let (segment, source) = try? await state.transportSegment(of: entry, in: snapshot),
            let start = segment.chunks.first?.start
        else { return false }
        var clock = file.journal.clock
        let placement = clock.append(
            from: start, lasting: segment.chunks.reduce(.zero) { $0 + $1.duration })
        let (pause, moved) = await state.transportStreams.place(segment, of: source, at: placement)
        let (parts, position) = ([pause, moved.bytes].filter { !$0.isEmpty }, clock.end ?? .zero)
        let isDiscontinuous = entry.transportStream?.isDiscontinuous ?? false && !file.journal.segments.isEmpty
        try await MediaPool.recordings.perform { [file] () throws(RecordingFile.Failure) in
            try file.append(parts, isDiscontinuous: isDiscontinuous) { end in
                RecordedSegment(entry, end: end, shift: placement.shift, clock: position)
            }
        }
        if file.journal.segments.count.isMultiple(of: 10) { try await recordBreaks(snapshot) }
        return true
    }

    /// Records which media is missing at the end of the requested range.
    package mutating func recordRemainder() async throws(RecordingFile.Failure) {
        if let loss = cursor.loseRemainder() { try await record([.loss(loss)]) }
    }

    private func record(_ lines: [RecordingJournal.Line]) async throws(RecordingFile.Failure) {
        try await MediaPool.recordings.perform { [file] () throws(RecordingFile.Failure) in try file.record(lines) }
    }

    /// Records the breaks that are known now.
    func recordBreaks(_ snapshot: RingSnapshot) async throws(RecordingFile.Failure) {
        try await MediaPool.recordings.perform { [file] () throws(RecordingFile.Failure) in
            let journal = file.journal
            guard let first = journal.segments.first?.date, let last = journal.segments.last?.dateEnd,
                let oldest = snapshot.dates?.first, oldest < last
            else { return }
            // Breaks are judged by the media around them, and the older half of the rewind has too little before it.
            let half = oldest.advanced(byMilliseconds: last.milliseconds(since: oldest) / 2)
            let start = max(oldest <= first ? first : half, last.advanced(byMilliseconds: -7_200_000))
            let known = snapshot.adBreaks(.between(start: start, end: last)) ?? []
            try file.record(journal.changes(to: known, from: start))
        }
    }
}
