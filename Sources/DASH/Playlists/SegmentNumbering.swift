import Playlist
import Support

/// Numbers the segments of one track, so that each keeps its number as long as it is listed.
///
/// A segment is known by its period and its time, since URLs may carry tokens. A segment that is replaced by others, because
/// its period turned out shorter, keeps its number as a gap: what replaces it has numbers that were never listed.
struct SegmentNumbering: Sendable {
    struct Entry: Sendable {
        fileprivate(set) var segment: PresentedSegment
        let mediaSequence: UInt64
        let isDiscontinuous: Bool
        fileprivate(set) var isGap = false
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
        let matches = matches(of: segments)
        guard let first = matches.first, let last = matches.last else { return restart(with: segments, since: origin) }
        var listed = Array(entries[first.known...last.known])
        for index in listed.indices { listed[index].isGap = true }
        for match in matches {
            listed[match.known - first.known].segment = segments[match.new]
            listed[match.known - first.known].isGap = false
        }
        let added = segments[(last.new + 1)...]
        var rest = entries[(last.known + 1)...]
        guard !added.isEmpty else {
            entries = listed + rest
            return listed
        }
        for index in rest.indices { rest[index].isGap = true }
        listed += rest
        append(added, to: &listed)
        entries = listed
        return listed
    }

    /// The segments that are known, as indices in `entries` and in the new ones, both ascending.
    private func matches(of segments: [PresentedSegment]) -> [(known: Int, new: Int)] {
        var matches: [(known: Int, new: Int)] = []
        var (known, new) = (0, 0)
        while known < entries.count, new < segments.count {
            let (old, other) = (entries[known].segment, segments[new])
            if old.isSame(as: other) {
                matches.append((known, new))
                known += 1
                new += 1
            } else if other.start < old.start {
                new += 1
            } else {
                known += 1
            }
        }
        return matches
    }

    /// Numbers segments of which none is known.
    private mutating func restart(with segments: [PresentedSegment], since origin: Duration) -> [Entry] {
        guard let first = segments.first else { return [] }
        let typical = max(Self.shortest, first.duration)
        var number = Self.count(of: first.start - origin, typical) % Self.mostAtFirst
        if let last = entries.last {
            let gap = first.start - last.segment.end
            let lost = gap > typical / 2 ? max(1, Self.count(of: gap, typical)) : 0
            number = last.mediaSequence + 1 + (first.start < last.segment.start ? Self.restart : lost)
        }
        let known = entries.last
        entries = []
        append(segments[...], to: &entries, after: known, from: number)
        return entries
    }

    private func append(
        _ segments: ArraySlice<PresentedSegment>, to listed: inout [Entry], after known: Entry? = nil,
        from number: UInt64? = nil
    ) {
        for segment in segments {
            let last = listed.last ?? known
            listed.append(
                Entry(
                    segment: segment,
                    mediaSequence: listed.last.map { $0.mediaSequence + 1 } ?? number ?? 0,
                    isDiscontinuous: last.map { $0.segment.period != segment.period } ?? false))
        }
    }

    private static func count(of time: Duration, _ typical: Duration) -> UInt64 {
        UInt64(max(0, min(time / typical, 1e12)))
    }
}

extension PresentedSegment {
    /// Whether both are the same segment of the same period, up to rounding and a revised start.
    fileprivate func isSame(as other: PresentedSegment) -> Bool {
        guard period == other.period else { return false }
        let distance = start < other.start ? other.start - start : start - other.start
        return distance < min(duration, other.duration) / 2
    }
}
