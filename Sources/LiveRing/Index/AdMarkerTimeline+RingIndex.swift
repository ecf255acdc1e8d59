extension AdMarkerTimeline {
    /// A timeline that continues after the entries of `index`.
    /// - Parameters:
    ///   - index: the entries that an earlier process published.
    ///   - autoReturn: whether the ad break of a splice_info_section ends by itself after its duration.
    package init(resuming index: RingIndex, autoReturn: ([UInt8]) -> Bool = { _ in false }) {
        var ranges = index.openDateRanges
        ranges.merge(dateRangesOf: index.listed)
        self.init(
            publishedRanges: ranges.ranges, channelStart: index.listed.first?.programDateTime, autoReturn: autoReturn)
    }
}
