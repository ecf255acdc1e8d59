/// Which guide each of our channels gets its programs from, decided guide by guide: no more is kept of a guide than of our
/// channels.
struct GuideSelection: Sendable {
    private(set) var best: [Int: (guide: Int, candidate: GuideIndex.Candidate)] = [:]

    /// - Parameter guide: index of the guide, greater than those before: of two that know a channel equally well, the
    ///   first counts.
    mutating func add(_ index: GuideIndex, guide: Int) {
        for (channel, candidate) in index.candidates
        where best[channel].map({ candidate.rank < $0.candidate.rank }) ?? true {
            best[channel] = (guide, candidate)
        }
    }
}
