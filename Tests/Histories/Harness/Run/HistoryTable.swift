import PlaylistRules

/// What happened in a history, as a table for people: time, what the origin did, what was published, what is wrong.
struct HistoryTable {
    private struct Row {
        let at: Int
        let order: Int
        let text: String
    }

    let run: FinishedHistory

    var text: String {
        let history = run.broadcast.history
        var rows = history.events.map {
            Row(
                at: $0.at, order: 0,
                text: "THING      \($0.thing.rawValue)\($0.duration > 0 ? " for \($0.duration) ms" : "")")
        }
        for segment in run.broadcast.segments where segment.end > -5000 { rows.append(row(of: segment)) }
        for reload in run.log.reloads {
            rows.append(
                Row(at: reload.at, order: 2, text: "  playlist of \(reload.listed)\(reload.hasEnded ? ", ended" : "")"))
        }
        for attempt in run.log.attempts {
            rows.append(
                Row(
                    at: attempt.askedAt, order: 3,
                    text: "  asked for \(attempt.segment), \(attempt.outcome) at \(Self.seconds(attempt.answeredAt))"))
        }
        for (number, connection) in run.log.streams.connections.enumerated() {
            rows += self.rows(of: connection, number)
        }
        for file in run.record.subtitles {
            let cues = file.cues.map { "\(Self.name($0.identity.content)) \($0.identity.frame) at \($0.start)" }
            rows.append(
                Row(at: file.at, order: 6, text: "subtitles  #\(file.number): \(cues.joined(separator: ", "))"))
        }
        for section in run.log.initSections {
            rows.append(Row(at: section.at, order: 3, text: "  init section \(section.name)"))
        }
        for (at, text) in run.record.events { rows.append(Row(at: at, order: 4, text: "  event \(text.prefix(320))")) }
        for life in run.record.lives {
            rows.append(Row(at: life.start, order: 0, text: "PROCESS    starts"))
            rows.append(
                Row(
                    at: life.end, order: 9,
                    text: "PROCESS    ends, \(life.state), lost \(life.lost), \(life.counts.joined(separator: ", "))"))
        }
        for segment in run.record.segments { rows.append(row(of: segment)) }
        for segment in run.record.languages {
            rows.append(Row(at: segment.at, order: 6, text: "language   #\(segment.number): \(audio(of: segment))"))
        }
        for (rendition, attempts) in run.log.audioAttempts {
            for attempt in attempts {
                rows.append(
                    Row(
                        at: attempt.askedAt, order: 3,
                        text:
                            "  asked for \(attempt.segment) of \(rendition), \(attempt.outcome) at \(Self.seconds(attempt.answeredAt))"
                    ))
            }
        }
        for finding in run.judgement.findings {
            rows.append(Row(at: finding.at, order: 8, text: "WRONG      \(finding.rule.rawValue): \(finding.text)"))
        }
        rows.sort { ($0.at, $0.order) < ($1.at, $1.order) }
        return "history \(history)\n" + rows.map { "\(Self.seconds($0.at))  \($0.text)\n" }.joined()
    }

    private func rows(of connection: StreamConnection, _ number: Int) -> [Row] {
        guard let stream = run.broadcast.stream, let last = connection.parts.last else {
            return [Row(at: connection.askedAt, order: 3, text: "  connection \(number) brings nothing")]
        }
        let received = connection.received
        let reach = connection.askedAt - stream.time(of: received.lowerBound)
        return [
            Row(
                at: connection.askedAt, order: 3,
                text: "  connection \(number) begins \(reach) ms back, in \(place(received.lowerBound, stream))"),
            Row(
                at: last.at, order: 3,
                text: "  connection \(number) brought its last bytes, in \(place(received.upperBound, stream))"),
        ]
    }

    private func place(_ offset: Int, _ stream: BroadcastStream) -> String {
        guard let unit = stream.units.last(where: { $0.bytes.lowerBound <= offset }) else { return "nothing" }
        let video = stream.units.last { unit in
            guard unit.bytes.lowerBound <= offset, case .video = unit.content else { return false }
            return true
        }
        guard let video, case .video(let identity, _) = video.content else { return "segment \(unit.segment)" }
        return "segment \(unit.segment), frame \(identity.frame) of \(Self.name(identity.content))"
    }

    private static func seconds(_ time: Int) -> String {
        let text = "\(Double(time) / 1000)"
        return String(repeating: " ", count: max(0, 8 - text.count)) + text
    }

    private func row(of segment: Broadcast.Segment) -> Row {
        let parts = segment.parts.map { part in
            Self.name(part.content) + " \(part.frames)"
        }
        var words = parts.joined(separator: " + ")
        if segment.isTagged { words += ", tagged\(segment.taggedFrom > segment.end ? " late" : "")" }
        if segment.isSplice { words += ", splice" }
        if let name = segment.initSection { words += ", init section \(name)" }
        if let fault = segment.fault { words += ", \(fault.thing.rawValue)" }
        if segment.isAfterPause { words += ", after a pause" }
        return Row(at: segment.end, order: 1, text: "broadcast  \(segment.index): \(words)")
    }

    private func row(of segment: PublicationRecord.Segment) -> Row {
        var words = segment.text.isGap ? "gap of \(segment.text.duration) s" : frames(segment) + audio(of: segment)
        if segment.text.isDiscontinuous { words = "discontinuity, " + words }
        let video = segment.initialization?.tracks.first(where: \.isVideo)
        let first = segment.media?.tracks.first { $0.number == video?.number }?.samples.first
        let time = first.flatMap { sample in video.map { Oracle.ticks(sample.presentation, $0.timescale) } }
        words += "; \(segment.text.duration) s from \(time.map { "\($0)" } ?? "-"), \(segment.text.date ?? "no date")"
        return Row(at: segment.at, order: 5, text: "published  #\(segment.number): \(words)")
    }

    private func frames(_ segment: PublicationRecord.Segment) -> String {
        guard let media = segment.media, let video = segment.initialization?.tracks.first(where: \.isVideo) else {
            return segment.error ?? "nothing"
        }
        var spans: [(content: Int, first: Int, last: Int)] = []
        for sample in media.tracks.filter({ $0.number == video.number }).flatMap(\.samples)
            .sorted(by: { $0.presentation < $1.presentation })
        {
            guard let identity = sample.identity else { continue }
            if let last = spans.last, last.content == identity.content, last.last + 1 == identity.frame {
                spans[spans.count - 1].last = identity.frame
            } else {
                spans.append((identity.content, identity.frame, identity.frame))
            }
        }
        return spans.map { "\(Self.name($0.content)) \($0.first)..<\($0.last + 1)" }.joined(separator: " + ")
    }

    /// Number of audio frames, and the first and last ones with their times and durations, ticks.
    private func audio(of segment: PublicationRecord.Segment) -> String {
        guard let track = segment.initialization?.tracks.first(where: { !$0.isVideo }) else { return "" }
        let audio = segment.media?.tracks.filter { $0.number == track.number }.flatMap(\.samples) ?? []
        let ends = (audio.prefix(2) + audio.suffix(2)).map { sample in
            let (time, duration) = (
                Oracle.ticks(sample.presentation, track.timescale), Oracle.ticks(sample.duration, track.timescale)
            )
            return "\(sample.identity.map { "\($0.content & 0x7FFF):\($0.frame)" } ?? "-")@\(time)+\(duration)"
        }
        let silent = audio.count { $0.identity == nil }
        return
            "; \(audio.count) audio frames\(silent == 0 ? "" : ", \(silent) silent") [\(ends.joined(separator: " "))]"
    }

    private static func name(_ content: Int) -> String {
        content >= Broadcast.firstCreative ? "ad \(content - Broadcast.firstCreative)" : "program \(content)"
    }
}

/// A history with everything that is known of its run.
struct FinishedHistory {
    let broadcast: Broadcast
    let log: OriginLog
    let record: PublicationRecord
    let judgement: Judgement
}
