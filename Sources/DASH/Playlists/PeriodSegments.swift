package import Playlist
package import Support

/// One segment of a representation, in the place that its period gives it.
package struct PresentedSegment: Equatable, Sendable {
    /// The `key` of its period.
    package var period: String
    /// On the presentation timeline.
    package var start: Duration
    package var duration: Duration
    /// Absolute.
    package var url: String
    package var byteRange: ByteRange?
    package var map: MediaInitialization?
    package var keys: [SegmentKey] = []
    package var coding = DASHManifest.Coding()

    var end: Duration { start + duration }
}

struct PeriodSegments {
    let period: DASHManifest.Period
    let representation: DASHManifest.Representation
    /// Which base URL is used.
    let alternative: Int
    /// The segment index; nil: it is not needed, or not there yet.
    var index: SegmentIndex?
    /// The end of the available media on the presentation timeline; nil if all is available.
    let available: Duration?

    /// How much a clock may be behind that of the server. Segments that a timeline lists are believed that much earlier.
    static let clockTolerance = Duration.seconds(10)
    /// Bytes of the URLs of one list, all together.
    private static let urlBytes = 64 << 20
    /// Starts after this time are beyond every channel.
    private static let latest = Duration.seconds(Int64(ManifestNumber.seconds.range.upperBound))

    private var addressing: SegmentAddressing { representation.addressing }
    private var baseURL: String {
        representation.baseURLs[min(alternative, representation.baseURLs.count - 1)]
    }

    /// The range of the segment index, if it is needed to list the segments.
    var indexRequest: SegmentIndexRequest? {
        let requests = representation.indexRequests
        return requests.isEmpty ? nil : requests[min(alternative, requests.count - 1)]
    }

    /// The index that is needed and not there.
    var missingIndex: SegmentIndexRequest? { index == nil ? indexRequest : nil }

    /// Where the last available segment ends; nil if there is none.
    var edge: Duration? {
        switch addressing.times {
        case .timeline(let runs):
            guard let last = runs.last else { return nil }
            let count = last.count ?? openCount(of: last)
            return clipped(offset(last.start) + addressing.duration(last.duration.multiplied(by: count)))
        case .constant(let length): return clipped(addressing.duration(length.multiplied(by: constantCount(length))))
        case .indexed:
            // All of it is there before its index is.
            return index.map { $0.entries.last.map { clipped(offset($0.start + $0.duration)) } } ?? period.end
        }
    }

    /// Whether nothing but the clock says which segments there are.
    var needsDate: Bool {
        switch addressing.times {
        case .timeline(let runs): runs.contains { $0.count == nil }
        case .constant: true
        case .indexed: false
        }
    }

    /// When the next segment becomes available by the clock alone; nil if none does.
    var nextAvailability: Duration? {
        guard case .constant(let length) = addressing.times, available != nil else { return nil }
        let count = constantCount(length)
        let reached = period.start + addressing.duration(length.multiplied(by: count))
        if let end = period.end, reached >= end - .milliseconds(1) { return nil }
        if case .list(let references) = addressing.segments, count >= references.count { return nil }
        if let last = addressing.endNumber, addressing.startNumber + count > last { return nil }
        return reached + addressing.duration(length) - lead(length)
    }

    /// Whether nothing is added to the period but by another manifest.
    var isComplete: Bool {
        switch addressing.times {
        case .timeline(let runs): runs.last?.count != nil || period.end.map { $0 <= available ?? $0 } ?? false
        case .constant: period.end != nil && nextAvailability == nil
        case .indexed: true
        }
    }

    /// Appends the segments that end after `lower`, or all, up to `limit` of all. Returns false if there are more.
    func append(to segments: inout [PresentedSegment], after lower: Duration?, limit: Int) -> Bool {
        let limit = min(limit, Self.urlBytes / max(1, longestURL))
        let map = initialization
        switch addressing.times {
        case .timeline(let runs):
            for run in runs {
                StepCounter.add(1)
                guard append(run, map, to: &segments, after: lower, limit: limit) else { return segments.count < limit }
            }
        case .constant(let length):
            // The media times of `$Time$` begin with the presentation time offset.
            let run = TimelineRun(
                start: addressing.presentationTimeOffset, duration: length, count: constantCount(length), index: 0)
            _ = append(run, map, to: &segments, after: lower, limit: limit)
        case .indexed: appendIndexed(map, to: &segments, limit: limit)
        }
        return segments.count < limit
    }

    /// Appends the segments of a run. Returns false after the last segment of the period.
    private func append(
        _ run: TimelineRun, _ map: MediaInitialization?, to segments: inout [PresentedSegment], after lower: Duration?,
        limit: Int
    ) -> Bool {
        let count = run.count ?? openCount(of: run)
        let lower = max(lower ?? period.start, period.start)
        let passed = addressing.units(in: lower - offset(run.start)) / run.duration
        for step in min(passed, count)..<count {
            let (start, next) = (
                offset(run.start + run.duration.multiplied(by: step)),
                offset(run.start + run.duration.multiplied(by: step + 1))
            )
            guard start < Self.latest, !isAfterEnd(start), isAvailable(start, to: next), segments.count < limit else {
                return false
            }
            let number = addressing.startNumber + run.index + step
            if let last = addressing.endNumber, number > last { return false }
            guard next > lower else { continue }
            StepCounter.add(1)
            let place = run.index + step
            guard
                let reference = reference(
                    place: place, number: number, time: run.start + run.duration.multiplied(by: step))
            else { return false }
            segments.append(segment(reference, from: start, to: clipped(next, after: start), map))
        }
        return true
    }

    private func appendIndexed(_ map: MediaInitialization?, to segments: inout [PresentedSegment], limit: Int) {
        for entry in index?.entries ?? [] {
            StepCounter.add(1)
            let (start, end) = (offset(entry.start), offset(entry.start + entry.duration))
            guard start < Self.latest, !isAfterEnd(start), segments.count < limit else { return }
            guard end > period.start else { continue }
            let reference = SegmentAddressing.Reference(byteRange: entry.byteRange)
            segments.append(segment(reference, from: start, to: end, map))
        }
    }

    private func segment(
        _ reference: SegmentAddressing.Reference, from start: Duration, to end: Duration, _ map: MediaInitialization?
    ) -> PresentedSegment {
        PresentedSegment(
            period: period.key, start: start, duration: end - start, url: url(reference),
            byteRange: reference.byteRange, map: map, keys: representation.protection.map { [$0] } ?? [],
            coding: representation.coding)
    }

    // MARK: - Times

    private func offset(_ mediaTime: UInt64) -> Duration {
        guard let index else { return period.start + addressing.offset(mediaTime) }
        // An index has a timescale of its own.
        var clock = addressing
        clock.timescale = index.timescale
        return period.start - addressing.offset(0).magnitude + clock.duration(mediaTime)
    }

    /// A segment that begins with the end of the period, but for rounding, is none of it.
    private func isAfterEnd(_ start: Duration) -> Bool {
        period.end.map { start >= $0 - .milliseconds(1) } ?? false
    }

    private func isAvailable(_ start: Duration, to end: Duration) -> Bool {
        guard let available, case .timeline = addressing.times else { return true }
        return end - min(addressing.availabilityTimeOffset, end - start) <= available + Self.clockTolerance
    }

    /// How much earlier than its end a segment is listed, in units of the timescale. Before it begins it is not live, however
    /// early it may be requested.
    private func lead(_ length: UInt64) -> Duration {
        min(addressing.availabilityTimeOffset, addressing.duration(length))
    }

    private func clipped(_ time: Duration) -> Duration { period.end.map { min($0, time) } ?? time }

    /// The last segment of one duration ends with its period.
    private func clipped(_ end: Duration, after start: Duration) -> Duration {
        guard case .constant = addressing.times, let last = period.end, last > start else { return end }
        return min(end, last)
    }

    /// Segments of one duration that are available. Those of a list are as many as it has.
    private func constantCount(_ length: UInt64) -> UInt64 {
        var count = UInt64.max / 2
        if let available {
            let time = available + lead(length) - period.start
            count = addressing.units(in: time) / length
        }
        if let end = period.end {
            let units = addressing.units(in: end - period.start)
            count = min(count, units / length + (units % length > 0 ? 1 : 0))
        }
        if case .list(let references) = addressing.segments { count = min(count, UInt64(references.count)) }
        if let last = addressing.endNumber {
            count = min(count, last < addressing.startNumber ? 0 : last - addressing.startNumber + 1)
        }
        // Without an end and a clock nothing says how many there are.
        return count == .max / 2 ? 0 : count
    }

    /// Segments of a run without an end: up to the end of the period, or as far as the clock goes.
    private func openCount(of run: TimelineRun) -> UInt64 {
        let bounds = [period.end, available.map { $0 + lead(run.duration) }].compactMap { $0 }
        guard let end = bounds.min() else { return 0 }
        let units = addressing.units(in: end - offset(run.start))
        let isLast = period.end.map { $0 <= end } ?? false
        return units / run.duration + (isLast && units % run.duration > 0 ? 1 : 0)
    }

    // MARK: - Names

    private func reference(place: UInt64, number: UInt64, time: UInt64) -> SegmentAddressing.Reference? {
        switch addressing.segments {
        case .template(let template):
            let text = template.text(
                id: representation.id, bandwidth: representation.bandwidth, number: number, time: time)
            return SegmentAddressing.Reference(uri: text)
        case .list(let references): return place < references.count ? references[Int(place)] : nil
        case .index: return nil
        }
    }

    /// Bytes of the longest URL that is made for a segment. That of an index is the base URL, which all share.
    private var longestURL: Int {
        switch addressing.segments {
        case .template: baseURL.utf8.count + representation.longestURL
        case .list: baseURL.utf8.count
        case .index: 0
        }
    }

    private func url(_ reference: SegmentAddressing.Reference) -> String {
        reference.uri.map { URIReference.resolve($0, against: baseURL) } ?? baseURL
    }

    private var initialization: MediaInitialization? {
        switch addressing.initialization {
        case nil: nil
        case .template(let template):
            MediaInitialization(
                uri: url(.init(uri: template.text(id: representation.id, bandwidth: representation.bandwidth))))
        case .reference(let reference):
            MediaInitialization(uri: url(reference), byteRange: reference.byteRange)
        }
    }
}

/// A segment index that a playlist needs.
package struct SegmentIndexRequest: Hashable, Sendable {
    package let url: String
    package let byteRange: ByteRange
}

extension DASHManifest.Representation {
    /// The ranges of its segment index, one for each base URL; empty if it needs none.
    var indexRequests: [SegmentIndexRequest] {
        guard case .index(let range) = addressing.segments else { return [] }
        return baseURLs.map { SegmentIndexRequest(url: $0, byteRange: range) }
    }
}

extension UInt64 {
    /// The product, or the largest media time if it does not fit.
    fileprivate func multiplied(by other: UInt64) -> UInt64 {
        let (product, overflows) = multipliedReportingOverflow(by: other)
        return overflows ? ManifestNumber.mediaTime.range.upperBound : Swift.min(product, 1 << 61)
    }
}

extension Duration {
    fileprivate var magnitude: Duration { self < .zero ? .zero - self : self }
}
