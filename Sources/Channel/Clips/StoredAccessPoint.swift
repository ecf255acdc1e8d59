import LiveRing
import Media
import Mux

/// A stored sample with which decoding may begin.
struct StoredAccessPoint: Sendable {
    /// The most segments that are searched for one.
    static let longestSearch = 8

    /// The index of the listed entry.
    let index: Int
    let fragment: StoredFragment
    /// Its index in the video of the fragment.
    let sample: Int
    /// When it is presented, on the channel's timeline.
    let time: Ticks
}

extension RingSnapshot {
    /// The samples of a listed segment; nil if it is a gap, or cannot be read.
    func fragment(at index: Int) -> StoredFragment? {
        let entry = self.index.listed[index]
        return entry.isGap ? nil : try? StoredFragment(entry, in: self)
    }

    /// The last random access point that is presented by `time`, in a segment or in those that it continues.
    func randomAccessPoint(before time: Ticks, in fragment: StoredFragment, at index: Int) -> StoredAccessPoint? {
        var (fragment, index) = (fragment, index)
        for _ in 0..<StoredAccessPoint.longestSearch {
            let times = fragment.videoTimes
            let samples = fragment.video?.samples ?? []
            if let sample = samples.indices.last(where: { samples[$0].isRandomAccessPoint && times[$0] <= time }) {
                return StoredAccessPoint(index: index, fragment: fragment, sample: sample, time: times[sample])
            }
            guard !fragment.entry.isDiscontinuous, index > self.index.listed.startIndex,
                let before = self.fragment(at: index - 1)
            else { return nil }
            (fragment, index) = (before, index - 1)
        }
        return nil
    }
}
