import Channel
import LiveRing
import Media
import Mux
package import Support

/// A program of the guide, or the time before one.
package struct GuideProgram: Equatable, Sendable {
    /// nil: the guide has no program at that time.
    let title: String?
    /// Where it ends, or the next one begins.
    let end: ProgramDateTime
}

/// Returns the program at a date; nil if the guide has none from there on. It waits for the disk.
package typealias ProgramLookup = @Sendable (ProgramDateTime) -> GuideProgram?

/// Appends what a channel publishes to the file of one recording, on the thread of recordings.
struct RecordingWriter: Sendable {
    /// The end of a recording that has all of its range.
    struct End {
        /// Where another one begins; nil if none does.
        let next: ProgramDateTime?
    }

    /// A change that others may want to know of.
    enum Report {
        case opened(RecordingFile, isNew: Bool)
        /// There may be more in it than before.
        case appended(RecordingFile)
        /// It cannot be written, and goes on once it can; nil: it has not begun.
        case paused(RecordingFile?, RecordingFile.Failure)
        case resumed(RecordingFile?)
    }

    /// Between two attempts to write.
    private static let retryPause = Duration.seconds(5)
    /// Media between two looks at the guide, which may change while a program lasts.
    private static let guidePause: Int64 = 60_000

    let file: RecordingFile
    private var cursor: RecordingCursor
    /// nil: no guide splits the recording.
    private let programs: ProgramLookup?
    /// Where the recording was when the guide was asked last.
    private var guideDate: ProgramDateTime?

    /// - Parameters:
    ///   - firstMediaSequence: of what this process publishes.
    ///   - programs: where the recording is split by program.
    init(
        _ file: RecordingFile, split: RecordingSplit = .never, from firstMediaSequence: UInt64,
        programs: ProgramLookup? = nil
    ) {
        (self.file, self.programs) = (file, split == .program ? programs : nil)
        cursor = RecordingCursor(file.journal, split: split, from: firstMediaSequence)
    }

    /// Follows a channel until the recording has its range, the channel is over, or the task is canceled.
    /// - Parameters:
    ///   - writer: nil before the recording is open.
    ///   - isOverdue: whether nothing more of its range is to come. Who knows that it changed signals a publication.
    ///   - open: opens the recording, or returns nil if nothing is published for it yet.
    /// - Returns: nil if more of its range may come.
    static func follow(
        _ state: ChannelState, with writer: inout RecordingWriter?, isOverdue: () -> Bool = { false },
        open: (ChannelState.Publication) async throws(RecordingFile.Failure) -> RecordingWriter?,
        report: (Report) -> Void
    ) async -> End? {
        var failure: RecordingFile.Failure?
        while !Task.isCancelled {
            // In this order: what is published before the end is in the snapshot.
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

    /// Appends what is published.
    /// - Returns: nil if the recording goes on.
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

    /// Asks the guide where the program ends with which the recording began.
    private mutating func findProgramEnd() async {
        let segments = file.journal.segments
        guard let programs, let start = segments.first?.date, let date = segments.last?.dateEnd else { return }
        if let guideDate, date.milliseconds(since: guideDate) < Self.guidePause { return }
        guideDate = date
        cursor.setProgramEnd(await RecordingThread.perform { programs(start)?.end })
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
        let moved =
            placement.shift == .zero
            ? segment : await state.transportStreams.segment(segment, of: source, earlierBy: placement.shift)
        var bytes = [moved.bytes]
        if !placement.pause.isEmpty, let program = entry.transportStream.flatMap({ TransportStreamState($0)?.program })
        {
            bytes.insert(TransportTimeShift.clock(placement.pause, of: program), at: 0)
        }
        let (parts, position) = (bytes, clock.end ?? .zero)
        let isDiscontinuous = entry.transportStream?.isDiscontinuous ?? false && !file.journal.segments.isEmpty
        try await RecordingThread.perform { [file] () throws(RecordingFile.Failure) in
            try file.append(parts, isDiscontinuous: isDiscontinuous) { end in
                RecordedSegment(entry, end: end, shift: placement.shift, clock: position)
            }
        }
        if file.journal.segments.count.isMultiple(of: 10) { try await recordBreaks(snapshot) }
        return true
    }

    /// Records what is missing at the end of the range that was asked for.
    mutating func recordRemainder() async throws(RecordingFile.Failure) {
        if let loss = cursor.loseRemainder() { try await record([.loss(loss)]) }
    }

    private func record(_ lines: [RecordingJournal.Line]) async throws(RecordingFile.Failure) {
        try await RecordingThread.perform { [file] () throws(RecordingFile.Failure) in try file.record(lines) }
    }

    /// Records the breaks as they are known now.
    func recordBreaks(_ snapshot: RingSnapshot) async throws(RecordingFile.Failure) {
        try await RecordingThread.perform { [file] () throws(RecordingFile.Failure) in
            let journal = file.journal
            guard let first = journal.segments.first?.date, let last = journal.segments.last?.dateEnd,
                let oldest = snapshot.dates?.first, oldest < last
            else { return }
            // Breaks are judged by what is around them, of which the older half of the rewind has too little.
            let half = oldest.advanced(byMilliseconds: last.milliseconds(since: oldest) / 2)
            let start = max(oldest <= first ? first : half, last.advanced(byMilliseconds: -7_200_000))
            let known = snapshot.adBreaks(.between(start: start, end: last)) ?? []
            try file.record(journal.changes(to: known, from: start))
        }
    }
}
