import Media

/// Maps one period to the channel's continuous timeline.
///
/// The frame presented first is presented where the video of the previous period ended. The decode time of the first
/// frame precedes that by one constant for the life of the channel. So decode *and* presentation times are continuous
/// across discontinuities, the only layout that every player accepts.
struct PeriodTimeline: Equatable, Sendable {
    /// Composition offset of every period's first sample; at least the largest reorder delay met in practice.
    static let compositionDelay = Ticks.milliseconds(200)

    /// Earliest presentation time of the period, and decode time of its first frame, on the source's clock.
    let sourcePresentation: Ticks
    let sourceDecode: Ticks
    let outputPresentation: Ticks
    /// Offset of the period's audio from `outputPresentation` in the audio timescale. An audio-only period is placed to
    /// the sample.
    private let audioOffset: Int64

    /// - Parameter earliest: presentation time of the period's earliest leading picture; nil if it has none.
    init(first: TimedVideo, presentedFrom earliest: Ticks? = nil, at outputPresentation: Ticks) {
        sourcePresentation = earliest ?? first.pts
        sourceDecode = first.dts
        self.outputPresentation = outputPresentation
        audioOffset = 0
    }

    /// Maps an audio-only period whose first frame has the time `source` and begins at `audioTime`.
    init(firstAudio source: Ticks, at audioTime: Int64) {
        sourcePresentation = source
        sourceDecode = source
        outputPresentation = Self.ticks(ofAudioTime: audioTime)
        audioOffset = audioTime - Self.audioTime(outputPresentation)
    }

    func presentation(of source: Ticks) -> Ticks { source - sourcePresentation + outputPresentation }

    /// Returns the decode time on the channel's timeline; below 0 only for a frame before the period.
    func decode(of source: Ticks) -> Ticks { source - sourceDecode + outputPresentation - Self.compositionDelay }

    /// Time from the decode time of the period's first frame to its earliest presentation time, on the source's clock.
    var reordering: Ticks { sourcePresentation - sourceDecode }

    /// Smallest composition offset that an intact frame of this period can have. Below 0 only if the reorder delay
    /// exceeds `compositionDelay`.
    var leastOffset: Int64 {
        min(0, (Self.compositionDelay - reordering).count)
    }

    /// Returns the presentation time in the audio timescale, to the nearest unit.
    func audioTime(of source: Ticks) -> Int64 { Self.audioTime(presentation(of: source)) + audioOffset }

    /// Converts 90 kHz ticks to the audio timescale, to the nearest unit.
    static func audioTime(_ time: Ticks) -> Int64 {
        time.count.rescaled(TrackTimescale.audio, over: Ticks.perSecond)
    }

    /// Converts a time in the audio timescale to the nearest tick.
    static func ticks(ofAudioTime time: Int64) -> Ticks {
        Ticks(time.rescaled(Ticks.perSecond, over: TrackTimescale.audio))
    }
}
