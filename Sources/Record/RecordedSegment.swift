import Export
import LiveRing
import Media
package import Support

/// A segment of the ring in a recording that is open: where its bytes are in the file, and where its time is.
struct RecordedSegment: Equatable, Sendable {
    let mediaSequence: UInt64
    /// The number of the last of its bytes in the file, the clock packets before it included.
    let end: Int
    /// The time of its first frame on the channel's timeline, when it was published.
    let start: Ticks
    let duration: Ticks
    /// How much earlier its times are in the file.
    let shift: Ticks
    /// Where the clock of the file stands after it, on the timeline of the file.
    let clock: Ticks
    let date: ProgramDateTime

    init(_ entry: RingEntry, end: Int, shift: Ticks, clock: Ticks) {
        mediaSequence = entry.mediaSequence
        self.end = end
        start = entry.presented.lowerBound
        duration = Ticks(entry.duration)
        (self.shift, self.clock) = (shift, clock)
        date = entry.programDateTime
    }

    var dateEnd: ProgramDateTime { date.advanced(by: duration.duration) }

    /// Its presentation on the timeline of the file, which begins where the channel's did.
    var presented: Range<Ticks> { start - shift..<start - shift + duration }
}

/// Media that a recording does not have.
struct RecordingLoss: Equatable, Sendable {
    enum Reason: String, Sendable {
        /// The upstream did not deliver it.
        case missing
        /// It left the rewind before it could be written: the disk was full, or the process did not run.
        case evicted
        /// Its file could not be read.
        case unreadable
    }

    let reason: Reason
    let date: ProgramDateTime
    let milliseconds: Int64

    init(_ reason: Reason, at date: ProgramDateTime, milliseconds: Int64) {
        (self.reason, self.date, self.milliseconds) = (reason, date, milliseconds)
    }
}

/// The source, the path and the form of a recording, which are known from its beginning on.
package struct RecordingPlan: Equatable, Sendable {
    package var channel: String?
    package var title: String?
    /// The path of its files, without a suffix.
    package var path: String
    package var format: RecordingFormat
    /// nil: from the first segment that is published.
    package var start: ProgramDateTime?
    /// Where the range ends that somebody asked for; nil if nobody did.
    package var end: ProgramDateTime?
    /// Whether it has the slate of outages; otherwise they are missing media.
    package var includesSlate: Bool
    package var ads: RecordingAds

    package init(
        channel: String? = nil, title: String? = nil, path: String, format: RecordingFormat,
        start: ProgramDateTime? = nil, end: ProgramDateTime? = nil, includesSlate: Bool = true,
        ads: RecordingAds = .keep
    ) {
        (self.channel, self.title, self.path, self.format) = (channel, title, path, format)
        (self.start, self.end, self.includesSlate, self.ads) = (start, end, includesSlate, ads)
    }
}

/// The record of a recording that is not finished: a line for each fact, so that a kill costs the last line at most.
package struct RecordingJournal: Equatable, Sendable {
    enum Line: Equatable, Sendable {
        case segment(RecordedSegment)
        case loss(RecordingLoss)
        /// A break as it is known from now on. Of two with one start, the later line counts.
        case adBreak(AdBreak)
        /// The break that starts there is none.
        case noBreak(ProgramDateTime)
        /// Nothing is appended any more.
        case closed
    }

    package let plan: RecordingPlan
    private(set) var segments: [RecordedSegment] = []
    private(set) var losses: [RecordingLoss] = []
    package private(set) var isClosed = false
    /// The bytes of the text from which the journal was read, as far as they are whole lines.
    private(set) var readByteCount = 0
    private var breaksByStart: [ProgramDateTime: AdBreak] = [:]

    package init(_ plan: RecordingPlan) { self.plan = plan }

    var breaks: [AdBreak] { breaksByStart.values.sorted { $0.start < $1.start } }

    /// The clock of the file after its last segment.
    var clock: ClientClock {
        segments.last.map { ClientClock(after: $0.clock, shift: $0.shift) } ?? ClientClock()
    }

    /// The total duration of the media that it does not have.
    var lostMilliseconds: Int64 { losses.reduce(0) { $0 &+ $1.milliseconds } }

    /// The bytes of the file that the journal knows of.
    package var byteCount: Int { segments.last?.end ?? 0 }

    mutating func record(_ line: Line) {
        switch line {
        case .segment(let segment): segments.append(segment)
        case .loss(let loss): losses.append(loss)
        case .adBreak(let found): breaksByStart[found.start] = found
        case .noBreak(let start): breaksByStart[start] = nil
        case .closed: isClosed = true
        }
    }

    /// The lines by which the breaks become those that are known now.
    /// - Parameter known: all breaks that begin at `date` or later.
    func changes(to known: [AdBreak], from date: ProgramDateTime) -> [Line] {
        let starts = Set(known.map(\.start))
        return known.filter { breaksByStart[$0.start] != $0 }.map(Line.adBreak)
            + breaksByStart.keys.filter { $0 >= date && !starts.contains($0) }.sorted().map(Line.noBreak)
    }

    /// Drops what follows the end of a file that is shorter than the journal says, as after a power loss.
    mutating func truncate(to byteCount: Int) {
        guard let first = segments.first(where: { $0.end > byteCount }) else { return }
        segments.removeAll { $0.end > byteCount }
        losses.removeAll { $0.date >= first.date }
    }
}

// MARK: - Text

extension RecordingJournal {
    private static let mark = "#LIVERELAY-RECORDING:1"

    /// The first lines of the journal.
    var head: String {
        let fields: [(String, String?)] = [
            ("channel", plan.channel), ("title", plan.title), ("path", plan.path), ("format", plan.format.rawValue),
            ("start", plan.start.map { "\($0.millisecondsSince1970)" }),
            ("end", plan.end.map { "\($0.millisecondsSince1970)" }), ("slate", plan.includesSlate ? nil : "out"),
            ("ads", plan.ads == .keep ? nil : plan.ads.rawValue),
        ]
        return ([Self.mark] + fields.compactMap { name, value in value.map { "\(name) \(Self.line($0))" } } + ["-"])
            .joined(separator: "\n") + "\n"
    }

    private static func line(_ text: String) -> String { String(text.map { $0.isNewline ? " " : $0 }) }

    /// Reads a journal as far as its lines are whole; nil if it is none.
    init?(text: String) {
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false).dropLast()
        guard lines.first?[...] == Self.mark[...], let end = lines.firstIndex(of: "-") else { return nil }
        var fields: [Substring: String] = [:]
        for line in lines[..<end].dropFirst() {
            let words = line.split(separator: " ", maxSplits: 1, omittingEmptySubsequences: false)
            if words.count == 2 { fields[words[0]] = String(words[1]) }
        }
        guard let path = fields["path"], let format = fields["format"].flatMap(RecordingFormat.init) else { return nil }
        let date = { (name: Substring) in
            fields[name].flatMap { Int64($0) }.map { ProgramDateTime(millisecondsSince1970: $0) }
        }
        self.init(
            RecordingPlan(
                channel: fields["channel"], title: fields["title"], path: path, format: format, start: date("start"),
                end: date("end"), includesSlate: fields["slate"] != "out",
                ads: fields["ads"].flatMap(RecordingAds.init) ?? .keep))
        readByteCount = lines[...end].reduce(0) { $0 + $1.utf8.count + 1 }
        for text in lines[(end + 1)...] {
            guard let line = Line(text) else { return }
            if case .segment(let segment) = line, segment.end <= byteCount { return }
            record(line)
            readByteCount += text.utf8.count + 1
        }
    }
}

extension RecordingJournal.Line {
    /// Without its line feed.
    var text: String {
        let fields: [String] =
            switch self {
            case .segment(let segment):
                ["S", "\(segment.mediaSequence)", "\(segment.end)"]
                    + [segment.start, segment.duration, segment.shift, segment.clock].map { "\($0.count)" }
                    + ["\(segment.date.millisecondsSince1970)"]
            case .loss(let loss):
                ["L", loss.reason.rawValue, "\(loss.date.millisecondsSince1970)", "\(loss.milliseconds)"]
            case .adBreak(let found):
                [
                    "B", found.evidence.rawValue, "\(found.start.millisecondsSince1970)",
                    found.end.map { "\($0.millisecondsSince1970)" } ?? "-",
                ]
            case .noBreak(let start): ["N", "\(start.millisecondsSince1970)"]
            case .closed: ["E"]
            }
        return fields.joined(separator: " ")
    }

    fileprivate init?(_ text: Substring) {
        let words = text.split(separator: " ", omittingEmptySubsequences: false)
        let number = { (index: Int) in index < words.count ? Int64(words[index]) : nil }
        let date = { (index: Int) in number(index).map { ProgramDateTime(millisecondsSince1970: $0) } }
        switch (words.first, words.count) {
        case ("S", 8):
            guard let segment = RecordedSegment(words.dropFirst().compactMap { Int64($0) }) else { return nil }
            self = .segment(segment)
        case ("L", 4):
            guard let reason = RecordingLoss.Reason(rawValue: String(words[1])), let date = date(2),
                let length = number(3)
            else { return nil }
            self = .loss(RecordingLoss(reason, at: date, milliseconds: length))
        case ("B", 4):
            guard let evidence = AdBreak.Evidence(rawValue: String(words[1])), let start = date(2) else { return nil }
            self = .adBreak(AdBreak(evidence: evidence, id: nil, start: start, end: date(3), parts: []))
        case ("N", 2):
            guard let start = date(1) else { return nil }
            self = .noBreak(start)
        case ("E", 1): self = .closed
        default: return nil
        }
    }
}

extension RecordedSegment {
    fileprivate init?(_ numbers: [Int64]) {
        guard numbers.count == 7, let number = UInt64(exactly: numbers[0]), numbers[1] > 0,
            numbers[2...5].allSatisfy({ $0.magnitude <= UInt64(Ticks.timeline.upperBound) }), numbers[3] > 0
        else { return nil }
        (mediaSequence, end) = (number, Int(numbers[1]))
        (start, duration) = (Ticks(numbers[2]), Ticks(numbers[3]))
        (shift, clock) = (Ticks(numbers[4]), Ticks(numbers[5]))
        date = ProgramDateTime(millisecondsSince1970: numbers[6])
    }
}
