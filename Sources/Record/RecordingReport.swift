import Export
import LiveRing
import Media
import Mux
import Playlist
import Support

/// The breaks and the losses of a recording that is closed, on the timeline of its file.
struct RecordingReport: Sendable {
    /// A break in the file, from its first frame to the frame after it.
    struct Break: Equatable, Sendable {
        let evidence: AdBreak.Evidence
        let range: Range<Ticks>
    }

    let journal: RecordingJournal
    /// Where the file begins, on the timeline of `RecordedSegment.presented`.
    let origin: Ticks
    private(set) var duration: Ticks
    /// In order; none touches another.
    private(set) var breaks: [Break]
    /// The parts of the recording that were cut out of the file; nil: none were.
    private(set) var cuts: RecordedCuts?

    /// - Returns: nil if nothing was recorded.
    init?(_ journal: RecordingJournal) {
        guard let first = journal.segments.first, let last = journal.segments.last else { return nil }
        self.journal = journal
        let (begin, end) = (first.presented.lowerBound, last.presented.upperBound)
        (origin, duration) = (begin, end - begin)
        var breaks: [Break] = []
        for found in journal.breaks {
            let start = max(.zero, Self.time(of: found.start, in: journal.segments) - begin)
            let end = found.end.map { Self.time(of: $0, in: journal.segments) - begin } ?? end - begin
            guard start < min(end, self.duration) else { continue }
            let range = start..<min(end, self.duration)
            if let before = breaks.last, before.range.upperBound >= range.lowerBound {
                let joined = before.range.lowerBound..<max(before.range.upperBound, range.upperBound)
                breaks[breaks.count - 1] = Break(evidence: before.evidence, range: joined)
            } else {
                breaks.append(Break(evidence: found.evidence, range: range))
            }
        }
        self.breaks = breaks
    }

    /// Whether nothing but one break was recorded.
    var isOneBreak: Bool { breaks.map(\.range) == [Ticks.zero..<duration] }

    /// The breaks, on the timeline of the recording's transport stream.
    var wantedCuts: [Range<Ticks>] {
        breaks.map { origin + $0.range.lowerBound..<origin + $0.range.upperBound }
    }

    /// The report of a file without the breaks.
    func cut(by cuts: RecordedCuts) -> RecordingReport {
        var report = self
        (report.cuts, report.breaks) = (cuts, [])
        report.duration = duration - cuts.hidden(before: origin + duration)
        return report
    }

    /// The time of a date on the timeline of the file. A date of missing media is where the next media is.
    private static func time(of date: ProgramDateTime, in segments: [RecordedSegment]) -> Ticks {
        guard let index = segments.lastIndex(where: { $0.date <= date }) else {
            return segments.first?.presented.lowerBound ?? .zero
        }
        let segment = segments[index]
        let time = segment.presented.lowerBound + .milliseconds(date.milliseconds(since: segment.date))
        guard index + 1 < segments.count else { return min(time, segment.presented.upperBound) }
        // A date is rounded to milliseconds.
        let next = segments[index + 1]
        return time + .milliseconds(1) > segment.presented.upperBound ? next.presented.lowerBound : time
    }

    /// `Commercial` and `Programme` in turn; none if there is no break, or none any more.
    var chapters: [MovieWriter.Chapter] {
        guard let first = breaks.first else { return [] }
        var chapters: [MovieWriter.Chapter] = []
        if first.range.lowerBound > .zero { chapters.append(.init(start: .zero, title: "Programme")) }
        for found in breaks {
            chapters.append(.init(start: found.range.lowerBound, title: "Commercial"))
            if found.range.upperBound < duration {
                chapters.append(.init(start: found.range.upperBound, title: "Programme"))
            }
        }
        return chapters
    }

    var date: ProgramDateTime { journal.segments.first?.date ?? ProgramDateTime(millisecondsSince1970: 0) }

    var title: String { journal.plan.title ?? journal.plan.channel ?? "liverelay" }
}

// MARK: - Files beside the recording

extension RecordingReport {
    /// MPlayer's edit decision list, in which Kodi and Jellyfin take 3 for a commercial break.
    var editDecisionList: String {
        breaks.map { "\(Self.seconds($0.range.lowerBound)) \(Self.seconds($0.range.upperBound)) 3\n" }.joined()
    }

    /// ffmpeg's metadata.
    var metadata: String {
        var lines = [
            ";FFMETADATA1", "title=\(Self.escaped(title))", "creation_time=\(date.text)",
        ]
        if let channel = journal.plan.channel { lines.append("network=\(Self.escaped(channel))") }
        let chapters = chapters
        for (index, chapter) in chapters.enumerated() {
            let end = index + 1 < chapters.count ? chapters[index + 1].start : duration
            lines += [
                "[CHAPTER]", "TIMEBASE=1/1000", "START=\(Self.milliseconds(chapter.start))",
                "END=\(Self.milliseconds(end))", "title=\(chapter.title)",
            ]
        }
        return lines.joined(separator: "\n") + "\n"
    }

    /// - Parameters:
    ///   - file: the name of the recording.
    ///   - cutFile: the name of the file without breaks; nil if there is none beside `file`.
    ///   - note: why it has another form than was asked for; nil if it has not.
    func document(file: String, cutFile: String? = nil, note: String?) -> String {
        var object = JSONObject()
        object.add("file", file)
        object.add("channel", journal.plan.channel)
        object.add("title", title)
        object.add("start", date.text)
        object.add("end", journal.segments.last?.dateEnd.text)
        object.add("seconds", seconds: Self.double(duration))
        object.add("cutFile", cutFile)
        object.add("note", note)
        object.add(
            "breaks",
            list: breaks.map { found in
                var object = JSONObject(["evidence": found.evidence.rawValue])
                object.add("start", seconds: Self.double(found.range.lowerBound))
                object.add("end", seconds: Self.double(found.range.upperBound))
                return object
            })
        if let cuts {
            object.add(
                "cuts",
                list: cuts.cuts.map { cut in
                    let hidden = cut.hidden.upperBound - cut.hidden.lowerBound
                    var object = JSONObject()
                    object.add("position", seconds: Self.double(position(at: cut.hidden.lowerBound)))
                    object.add("seconds", seconds: Self.double(hidden))
                    return object
                })
        }
        object.add(
            "lost",
            list: journal.losses.map { loss in
                var object = JSONObject(["reason": loss.reason.rawValue, "date": loss.date.text])
                object.add("position", seconds: Self.double(position(of: loss.date)))
                object.add("seconds", seconds: Double(loss.milliseconds) / 1000)
                return object
            })
        return object.text + "\n"
    }

    private func position(of date: ProgramDateTime) -> Ticks {
        position(at: Self.time(of: date, in: journal.segments))
    }

    /// The position in the file of a time of the recording.
    private func position(at time: Ticks) -> Ticks {
        min(duration, max(.zero, time - origin - (cuts?.hidden(before: time) ?? .zero)))
    }

    private static func double(_ time: Ticks) -> Double { Double(time.count) / Double(Ticks.perSecond) }

    private static func milliseconds(_ time: Ticks) -> Int64 { time.count.rescaled(1000, over: Ticks.perSecond) }

    private static func seconds(_ time: Ticks) -> String {
        DecimalSeconds.text(.milliseconds(milliseconds(time)), decimals: 3)
    }

    private static func escaped(_ text: String) -> String {
        text.map { "=;#\\".contains($0) ? "\\\($0)" : $0.isNewline ? " " : String($0) }.joined()
    }
}
