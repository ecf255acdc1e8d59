import Demux
import Media
import Mux
import Transcode

/// Leading pictures of a period's first frame: decoded after it, presented before it, and predicted from frames that were
/// never sent or belong to another period.
struct LeadingPictures: Equatable, Sendable {
    /// Longest time for which they decode before the period is presented: the composition delay of the channel.
    static let longestDecoding = Ticks.milliseconds(200)

    /// In decoding order.
    private(set) var units: [TimedVideo] = []

    mutating func append(_ unit: TimedVideo) { units.append(unit) }

    /// Whether frames after them may not be decodable without them: one is a reference picture.
    ///
    /// Without it the decoder's buffer of reference pictures differs, whether the frames after it refer to that picture or
    /// not (ISO/IEC 14496-10 §8.2.5.2). A picture that is no reference changes nothing.
    var isNeeded: Bool { units.contains(where: \.packet.isReference) }

    /// Presents each picture for a tick, where the earliest was to be presented, and `first` from then on.
    ///
    /// A decoder that begins with `first` knows that it cannot show the others. A decoder that goes on from another period
    /// does not, and would show its errors.
    mutating func conceal(after first: inout TimedVideo) {
        guard let start = units.map(\.pts).min(), let last = units.last else { return }
        let length = last.dts - first.dts
        for (rank, index) in units.indices.sorted(by: { units[$0].pts < units[$1].pts }).enumerated() {
            units[index].pts = start + Ticks(Int64(rank))
            guard length > Self.longestDecoding else { continue }
            // Decoded in the time that is left before the period is presented.
            let delay = (units[index].dts - first.dts).count * Self.longestDecoding.count / length.count
            units[index].dts = first.dts + Ticks(delay)
        }
        first.pts = start + Ticks(Int64(units.count))
    }
}
