import Playlist
import Support

/// Numbers the segments of one track, so that each keeps its number as long as it is listed.
///
/// A segment is known by its period and its time, since URLs may carry tokens. If the presentation timeline begins at
/// another time, it has to have the same path as well: a packager that was restarted uses the names of periods again, and
/// one that moves the beginning with each manifest keeps its URLs. A segment that is replaced by others, because
/// its period turned out shorter, keeps its number as a gap: what replaces it has numbers that were never listed.
struct SegmentNumbering: Sendable {
    struct Entry: Sendable {
        fileprivate(set) var segment: PresentedSegment
        let mediaSequence: UInt64
        let isDiscontinuous: Bool
        /// How often the packager was restarted before.
        let restarts: UInt64
        fileprivate(set) var isGap = false
        /// `availabilityStartTime` of the manifest that listed it last, from 1970 on.
        fileprivate var origin: Duration
    }

    /// The segments of the last list, and after them those that the last manifest did not list any more.
    private var entries: [Entry] = []
    /// How far a clock that went back moves the numbers on. No upstream lists so many at once.
    private static let restart: UInt64 = 1_000_000
    /// Some players count in 32 bits.
    private static let mostAtFirst: UInt64 = 1_000_000_000
    /// The shortest segment, for the numbers of media that was never listed.
    private static let shortest = Duration.milliseconds(100)

    /// Numbers the segments of a manifest, in order.
    ///
    /// Times are from 1970 on, so that they outlive the manifest. The first number follows from the time since `origin`, so
    /// that those of another process are about the same.
    mutating func update(with segments: [PresentedSegment], since origin: Duration) -> [Entry] {
        StepCounter.add(entries.count + segments.count)
        let matches = matches(of: segments, since: origin)
        guard let first = matches.first, let last = matches.last else { return restart(with: segments, since: origin) }
        var listed = Array(entries[first.known...last.known])
        for index in listed.indices { listed[index].isGap = true }
        for match in matches {
            let index = match.known - first.known
            // The media was made as the first manifest said.
            let coding = listed[index].segment.coding
            listed[index].segment = segments[match.new]
            listed[index].segment.coding = coding
            (listed[index].origin, listed[index].isGap) = (origin, false)
        }
        let added = segments[(last.new + 1)...]
        var rest = entries[(last.known + 1)...]
        guard !added.isEmpty else {
            entries = listed + rest
            return listed
        }
        for index in rest.indices { rest[index].isGap = true }
        listed += rest
        append(added, to: &listed, since: origin)
        entries = listed
        return listed
    }

    /// The segments that are known, as indices in `entries` and in the new ones, both ascending.
    ///
    /// Times ascend in each period alone: the next one may begin before the last segments of a period that turned out
    /// shorter.
    private func matches(
        of segments: [PresentedSegment], since origin: Duration
    ) -> [(known: Int, new: Int)] {
        var places = Dictionary(grouping: entries.indices) { entries[$0].segment.period }.mapValues { $0[...] }
        var matches: [(known: Int, new: Int)] = []
        for (new, segment) in segments.enumerated() {
            let rest = places[segment.period, default: []].drop { index in
                !isKnown(segment, as: entries[index], since: origin) && entries[index].segment.start < segment.start
            }
            places[segment.period] = rest
            guard let known = rest.first, known > matches.last?.known ?? -1,
                isKnown(segment, as: entries[known], since: origin)
            else { continue }
            matches.append((known, new))
            places[segment.period] = rest.dropFirst()
        }
        return matches
    }

    private func isKnown(_ segment: PresentedSegment, as entry: Entry, since origin: Duration) -> Bool {
        entry.segment.isSame(as: segment) && (entry.origin == origin || entry.segment.hasPath(of: segment))
    }

    /// Numbers segments of which none is known.
    private mutating func restart(with segments: [PresentedSegment], since origin: Duration) -> [Entry] {
        guard let first = segments.first else { return [] }
        let typical = max(Self.shortest, first.duration)
        var number = Self.count(of: first.start - origin, typical) % Self.mostAtFirst
        if let last = entries.last {
            let gap = first.start - last.segment.end
            // A packager that was restarted made nothing in between.
            let hasRestarted = last.origin != origin
            let lost = gap > typical / 2 && !hasRestarted ? max(1, Self.count(of: gap, typical)) : 0
            // What overlaps may be media that was listed already, under other names: dates have to tell.
            let overlaps = first.start < last.segment.end - typical / 2
            number = last.mediaSequence + 1 + (overlaps ? Self.restart : lost)
        }
        let known = entries.last
        entries = []
        append(segments[...], to: &entries, since: origin, after: known, from: number)
        return entries
    }

    private func append(
        _ segments: ArraySlice<PresentedSegment>, to listed: inout [Entry], since origin: Duration,
        after known: Entry? = nil, from number: UInt64? = nil
    ) {
        for segment in segments {
            let last = listed.last ?? known
            let hasRestarted = last.map { $0.origin != origin } ?? false
            listed.append(
                Entry(
                    segment: segment,
                    mediaSequence: listed.last.map { $0.mediaSequence + 1 } ?? number ?? 0,
                    isDiscontinuous: hasRestarted || last?.segment.continues(with: segment) == false,
                    restarts: (last?.restarts ?? 0) + (hasRestarted ? 1 : 0), origin: origin))
        }
    }

    private static func count(of time: Duration, _ typical: Duration) -> UInt64 {
        UInt64(max(0, min(time / typical, 1e12)))
    }
}

extension PresentedSegment {
    /// Whether the next segment is of the same period and has the same init section.
    fileprivate func continues(with next: PresentedSegment) -> Bool {
        period == next.period && (coding == next.coding || map != next.map)
    }

    /// Whether both have the same URL, but for tokens.
    fileprivate func hasPath(of other: PresentedSegment) -> Bool {
        byteRange == other.byteRange && URIReference.withoutQuery(url) == URIReference.withoutQuery(other.url)
    }

    /// Whether both are the same segment of the same period, up to rounding and a revised start.
    fileprivate func isSame(as other: PresentedSegment) -> Bool {
        guard period == other.period else { return false }
        let distance = start < other.start ? other.start - start : start - other.start
        return distance < min(duration, other.duration) / 2
    }
}
