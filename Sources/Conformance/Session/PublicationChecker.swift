import Support

/// Judges what a channel publishes while it runs: each version of its playlist, and each segment. A pure value, whose size
/// has a bound.
///
/// Silence is not judged (rule 11), because nobody asks between two versions.
package struct PublicationChecker: Sendable {
    /// How much of a segment is read.
    package enum Depth: Sendable {
        /// The boxes, which cost next to nothing.
        case boxes
        case frames
    }

    /// A rule that a publication broke.
    package struct Breach: Equatable, Sendable {
        package let rule: Rule
        /// For people; without secrets.
        package let text: String
        package let count: Int
    }

    /// A segment of fragmented MP4, and its init section.
    package struct Segment {
        /// The bytes before the payload, with the header of mdat.
        let header: [UInt8]
        let payload: [ArraySlice<UInt8>]
        let initialization: [UInt8]

        package init(header: [UInt8], payload: [ArraySlice<UInt8>], initialization: [UInt8]) {
            (self.header, self.payload, self.initialization) = (header, payload, initialization)
        }
    }

    /// The segments of a version whose every successor is judged. Of longer ones every second is judged, or every third,
    /// and so on, so that the cost of a segment does not grow with the playlist.
    private static let longestList = 24
    private static let url = "live.m3u8"
    private static let mostListed = 256
    private static let mostMeasured = 8

    private var playlist = PlaylistRecord(url: Self.url, mostListed: Self.mostListed)
    private var media = MediaRecord(url: Self.url, mostMeasured: Self.mostMeasured, mostScaled: 1)
    /// The lengths of ad breaks are announced by the upstream.
    private var log = FindingLog(excluded: [.publicationPace, .breakLength])
    /// The occurrences of each finding that were returned.
    private var counts: [String: Int] = [:]

    private let depth: Depth
    /// Versions that are not judged before the next one that is.
    private var skippedVersions = 0

    package init(_ depth: Depth) { self.depth = depth }

    var rememberedSegments: Int { playlist.listed.count + media.measured.count }

    /// Called for each version.
    /// - Parameter segments: the number that it lists.
    /// - Returns: whether it is judged.
    package mutating func isJudged(listing segments: Int, isLast: Bool) -> Bool {
        guard skippedVersions == 0 || isLast else {
            skippedVersions -= 1
            return false
        }
        skippedVersions = segments / Self.longestList
        return true
    }

    /// Judges a version.
    /// - Parameters:
    ///   - text: of the playlist.
    ///   - segment: the last one that it lists; nil for a gap, and for a version without a new segment.
    /// - Returns: what the version and its segment broke.
    package mutating func append(_ text: [UInt8], segment: Segment?) -> [Breach] {
        let time = AnswerTime(requested: .zero, received: .zero)
        _ = playlist.append(text, finalURL: Self.url, at: time, into: &log)
        if let segment, let current = playlist.current, let listed = current.segments.last, !listed.isGap {
            media.isIndependent = current.hasIndependentSegments
            media.targetDuration = .seconds(current.targetDuration ?? 1)
            if let facts = facts(of: segment) {
                media.append(listed, facts, into: &log)
            } else {
                log.add(.transfers, "not-media", of: Self.url, at: FindingPlace(), "a segment is no media")
            }
        }
        return dequeueBreaches()
    }

    private func facts(of segment: Segment) -> SegmentFacts? {
        switch depth {
        case .boxes:
            SegmentReader.readBoxes(
                segment.header, payloadBytes: segment.payload.reduce(0) { $0 + $1.count },
                initialization: segment.initialization)
        case .frames:
            SegmentReader.read(
                segment.payload.reduce(into: segment.header) { $0 += $1 }, initialization: segment.initialization)
        }
    }

    private mutating func dequeueBreaches() -> [Breach] {
        log.sorted.compactMap { finding in
            let known = counts.updateValue(finding.count, forKey: finding.identifier) ?? 0
            guard finding.count > known else { return nil }
            return Breach(rule: finding.rule, text: finding.message, count: finding.count - known)
        }
    }
}
