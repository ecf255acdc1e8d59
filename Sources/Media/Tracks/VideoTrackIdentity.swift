/// The identity of a video track of a channel beside the leading one: its place in the bitrate ladder. Another source,
/// or a later master playlist, may fill the place with a variant of another height and bandwidth.
package struct VideoTrackIdentity: Hashable, Sendable {
    /// The most tracks beside the leading one.
    package static let limit = 8

    /// Lines of the frame; 0 if the master playlist does not state the resolution.
    package let height: Int
    /// BANDWIDTH, bits per second.
    package let bandwidth: Int

    /// Numbers outside their ranges become the nearest numbers within them.
    package init(height: Int, bandwidth: Int) {
        self.height = min(max(height, Self.heights.lowerBound), Self.heights.upperBound)
        self.bandwidth = min(max(bandwidth, Self.bandwidths.lowerBound), Self.bandwidths.upperBound)
    }

    /// `720.2500000`: height and bandwidth.
    package var text: String { "\(height).\(bandwidth)" }

    /// nil if `text` cannot have been written by the `text` property.
    package init?(text: some StringProtocol) {
        let fields = text.split(separator: ".", omittingEmptySubsequences: false)
        guard fields.count == 2, let height = Int(fields[0]), let bandwidth = Int(fields[1]) else { return nil }
        self.init(height: height, bandwidth: bandwidth)
        guard self.text == text else { return nil }
    }

    private static let heights = 0...65_535
    private static let bandwidths = 0...1 << 40

    /// The distance between two tracks: by height, then by bandwidth.
    private struct Distance: Comparable {
        var height = 0
        var bandwidth = 0

        static func < (left: Self, right: Self) -> Bool {
            (left.height, left.bandwidth) < (right.height, right.bandwidth)
        }
    }

    private func distance(to other: Self) -> Distance {
        Distance(height: abs(height - other.height), bandwidth: abs(bandwidth - other.bandwidth))
    }

    /// The index of the nearest of `candidates`, the first of several equally near; nil if `candidates` is empty.
    package func nearest(among candidates: [VideoTrackIdentity]) -> Int? {
        candidates.indices.min { distance(to: candidates[$0]) < distance(to: candidates[$1]) }
    }

    /// Returns for each of `tracks` the index of a candidate. Each candidate is used once at most, the order by size is
    /// kept, and the sum of the distances is minimal. nil: too few candidates exist, and they are nearer to other
    /// tracks.
    package static func nearest(to tracks: [VideoTrackIdentity], among candidates: [VideoTrackIdentity]) -> [Int?] {
        let (tracksBySize, candidatesBySize) = (tracks.indicesBySize, candidates.indicesBySize)
        let isSwapped = tracks.count > candidates.count
        let pairs = nearest(
            (isSwapped ? candidatesBySize : tracksBySize).map { (isSwapped ? candidates : tracks)[$0] },
            (isSwapped ? tracksBySize : candidatesBySize).map { (isSwapped ? tracks : candidates)[$0] })
        var found = [Int?](repeating: nil, count: tracks.count)
        for (fewer, more) in pairs.enumerated() {
            let (track, candidate) = isSwapped ? (more, fewer) : (fewer, more)
            found[tracksBySize[track]] = candidatesBySize[candidate]
        }
        return found
    }

    /// Returns for each of the fewer tracks the index of one of `more`. Both are in order of size.
    private static func nearest(_ fewer: [VideoTrackIdentity], _ more: [VideoTrackIdentity]) -> [Int] {
        // sums[i][j]: the least sum for the first i of `fewer` among the first j of `more`; nil if j < i.
        let none = [Distance?](repeating: nil, count: more.count + 1)
        var sums = [[Distance?](repeating: Distance(), count: more.count + 1)]
        for (index, track) in fewer.enumerated() {
            var row = none
            for (other, candidate) in more.enumerated() {
                let distance = track.distance(to: candidate)
                let paired = sums[index][other].map {
                    Distance(height: $0.height + distance.height, bandwidth: $0.bandwidth + distance.bandwidth)
                }
                row[other + 1] = [row[other], paired].compactMap(\.self).min()
            }
            sums.append(row)
        }
        var (pairs, end) = ([Int](), more.count)
        for index in fewer.indices.reversed() {
            while end > 1, sums[index + 1][end - 1] == sums[index + 1][end] { end -= 1 }
            pairs.append(end - 1)
            end -= 1
        }
        return pairs.reversed()
    }
}

extension [VideoTrackIdentity] {
    fileprivate var indicesBySize: [Int] {
        indices.sorted { (self[$0].height, self[$0].bandwidth, $0) < (self[$1].height, self[$1].bandwidth, $1) }
    }
}
