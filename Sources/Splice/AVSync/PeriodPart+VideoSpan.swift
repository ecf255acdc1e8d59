import Media

extension PeriodPart {
    /// Video span for which `AudioVideoMatcher` finds the audio.
    var videoSpan: AudioVideoMatcher.VideoSpan {
        let times = units.lazy.map(\.pts)
        let first = times.min() ?? .zero
        return AudioVideoMatcher.VideoSpan(
            start: first, end: (times.max() ?? first) + frameDuration, discontinuitySequence: discontinuitySequence,
            beginsPeriod: signal != nil, clockStart: signal != nil ? clockStart : nil, hasNoAudio: hasNoAudio)
    }
}
