import PlaylistRules

// MARK: - Splice commands: each in one date range, at the frame of its splice

extension Oracle {
    mutating func judgeSplices() {
        guard history.has(.spliceCommands) else { return }
        var ranges: [String: [String: String]] = [:]
        for version in record.versions {
            for range in version.playlist.ranges {
                ranges[range["ID"] ?? "", default: [:]].merge(range) { first, _ in first }
            }
        }
        let numbers = published.enumerated().compactMap { number, frame in frame.source.map { ($0, number) } }
        let numberAtPlace = Dictionary(numbers) { first, _ in first }
        var firstOfSegment: [Int: PublishedFrame] = [:]
        for frame in published where firstOfSegment[frame.segment] == nil { firstOfSegment[frame.segment] = frame }
        for segment in broadcast.segments.dropFirst() {
            guard let signal = segment.splice, !segment.isAfterPause,
                let first = places[segment.index].first,
                let frame = published(first, after: segment.index - 1, numberAtPlace),
                let start = firstOfSegment[frame.segment],
                let date = record.segments[frame.segment].text.date.flatMap({ Self.milliseconds($0) })
            else { continue }
            judge(signal, ranges, at: date + Double(frame.time - start.time) / 90, frame)
        }
    }

    /// The published first frame of a splice, if all frames since the section were published by the same process without
    /// a break.
    private func published(_ place: Int, after segment: Int, _ numbers: [Int: Int]) -> PublishedFrame? {
        guard let number = numbers[place], !ownArrivals[segment].isEmpty, !cuts.contains(segment) else { return nil }
        var before = place
        while before > 0, source[before - 1].segment == segment {
            before -= 1
            guard numbers[before] == number - (place - before) else { return nil }
        }
        let (one, last) = (published[number - (place - before)], published[number])
        let isUnbroken = !record.segments[one.segment...last.segment].contains(where: \.text.isGap)
        return isUnbroken && record.segments[one.segment].life == record.segments[last.segment].life ? last : nil
    }

    private mutating func judge(
        _ signal: SpliceSignal, _ ranges: [String: [String: String]], at date: Double, _ frame: PublishedFrame
    ) {
        let at = record.segments[frame.segment].at
        let begin = broadcast.segments.compactMap(\.splice).first { $0.event == signal.event && $0.kind == .out }
        guard ranges.values.contains(where: { $0["SCTE35-OUT"] == begin?.text }) || signal.kind == .out else { return }
        let attribute = signal.kind == .out ? "SCTE35-OUT" : "SCTE35-IN"
        let found = ranges.filter { $0.value[attribute] == signal.text }
        guard found.count == 1, let range = found.first?.value else {
            return find(.marker, at: at, "event \(signal.event) has \(found.count) ranges with \(attribute)")
        }
        guard let start = range["START-DATE"].flatMap({ Self.milliseconds($0.replacing("\"", with: "")) }) else {
            return find(.marker, at: at, "event \(signal.event) has no date")
        }
        let duration = range["DURATION"].flatMap(Double.init).map { $0 * 1000 }
        let published = signal.kind == .out ? start : start + (duration ?? 0)
        if signal.kind == .in, duration == nil {
            return find(.marker, at: at, "event \(signal.event) ends, and has no duration")
        }
        if abs(published - date) > Limits.markerTolerance {
            find(.marker, at: at, "event \(signal.event), \(attribute), is \(Int(published - date)) ms late")
        }
    }
}

extension Limits {
    /// Dates are whole milliseconds, and a splice is where its frame is.
    static let markerTolerance = 50.0
}
