import Demux
import Media
import Mux
import Transcode

/// Places one run on the channel's continuous timeline.
///
/// The first picture is shown where the previous run's pictures ended. Decode time precedes it by one constant for the
/// life of the channel, so decode *and* presentation time are continuous over every seam, which is the only layout that
/// every player takes.
struct PeriodTimeline: Equatable, Sendable {
    /// Composition offset of every run's first sample; at least the largest reorder delay met in practice.
    static let compositionDelay = Ticks.milliseconds(200)

    /// Presentation and decode time of the run's first picture on its source's clock.
    let sourcePresentation: Ticks
    let sourceDecode: Ticks
    /// Where that picture is shown on the channel's timeline.
    let outputPresentation: Ticks
    /// What the run's sound lies behind that tick, in the audio timescale: a run of sound alone is placed to the sample.
    private let audioOffset: Int64

    init(first: TimedVideo, at outputPresentation: Ticks) {
        sourcePresentation = first.pts
        sourceDecode = first.dts
        self.outputPresentation = outputPresentation
        audioOffset = 0
    }

    /// A run of sound alone, whose first frame has the time `source` and begins at `audioTime`.
    init(firstAudio source: Ticks, at audioTime: Int64) {
        sourcePresentation = source
        sourceDecode = source
        outputPresentation = Self.ticks(ofAudioTime: audioTime)
        audioOffset = audioTime - Self.audioTime(outputPresentation)
    }

    /// Presentation time on the channel's timeline.
    func presentation(of source: Ticks) -> Ticks { source - sourcePresentation + outputPresentation }

    /// Decode time on the channel's timeline; below 0 only for a picture that nothing was asked of yet.
    func decode(of source: Ticks) -> Ticks { source - sourceDecode + outputPresentation - Self.compositionDelay }

    /// From the decode time of the run's first picture to its presentation, on its source's clock.
    var reordering: Ticks { sourcePresentation - sourceDecode }

    /// The smallest composition offset that an undisturbed picture of this run can have: below 0 only when its reorder
    /// delay is larger than the constant.
    var leastOffset: Int64 {
        min(0, (Self.compositionDelay - reordering).count)
    }

    /// Presentation time in the audio timescale, to the nearest tick.
    func audioTime(of source: Ticks) -> Int64 { Self.audioTime(presentation(of: source)) + audioOffset }

    /// 90 kHz ticks in the audio timescale, to the nearest tick.
    static func audioTime(_ time: Ticks) -> Int64 {
        let (numerator, denominator): (Int64, Int64) = (TrackTimescale.audio, Ticks.perSecond)
        let scaled = time.count * numerator
        return (scaled >= 0 ? scaled + denominator / 2 : scaled - denominator / 2) / denominator
    }

    /// A time in the audio timescale, 0 or more, to the nearest tick.
    static func ticks(ofAudioTime time: Int64) -> Ticks {
        let (seconds, rest) = time.quotientAndRemainder(dividingBy: TrackTimescale.audio)
        return .seconds(seconds) + Ticks((rest * Ticks.perSecond + TrackTimescale.audio / 2) / TrackTimescale.audio)
    }
}
