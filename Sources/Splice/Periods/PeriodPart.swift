import Demux
import Media
import Mux
import Transcode

/// Pictures of one run from one upstream segment, in decoding order.
struct PeriodPart: Equatable, Sendable {
    /// Set when the run begins with the first of them.
    var signal: DiscontinuityDetector.Signal?
    private(set) var units: [TimedVideo]
    /// Its upstream segment has no sound and promises none: what comes later is of another programme.
    var hasNoSound = false
    /// What one picture of it lasts.
    private(set) var frameDuration: Ticks
    /// The upstream segment it begins in did not begin with a sync sample.
    let isCutMidGOP: Bool
    let mediaSequence: UInt64
    let discontinuitySequence: UInt64
    /// Presentation time of the first picture since the signal, also when it could not be shown.
    private(set) var clockStart: Ticks
    /// Milliseconds since 1970 of the first picture, where the upstream said so.
    private(set) var programDateTime: Int64?
    /// Its upstream segment begins with it.
    private(set) var opensSegment: Bool
    /// What its upstream segment carries beside it, in order.
    var metadata: [TimedMetadata] = []

    init(
        signal: DiscontinuityDetector.Signal?, first: TimedVideo, frameDuration: Ticks,
        from origin: SegmentOrigin
    ) {
        self.signal = signal
        self.frameDuration = frameDuration
        units = [first]
        clockStart = origin.clockStart ?? first.pts
        isCutMidGOP = origin.isCutMidGroup
        mediaSequence = origin.mediaSequence
        discontinuitySequence = origin.discontinuitySequence
        programDateTime = origin.date
        opensSegment = origin.isAtStart
    }

    mutating func append(_ unit: TimedVideo, frameDuration: Ticks) {
        units.append(unit)
        self.frameDuration = frameDuration
    }

    /// Where it asks for its sound.
    var videoSpan: AudioVideoMatcher.VideoSpan {
        let times = units.lazy.map(\.pts)
        let first = times.min() ?? .zero
        return AudioVideoMatcher.VideoSpan(
            start: first, end: (times.max() ?? first) + frameDuration, discontinuitySequence: discontinuitySequence,
            beginsRun: signal != nil, clockStart: signal != nil ? clockStart : nil, hasNoAudio: hasNoSound)
    }

    /// Ticks that so many pictures last together: finer than a tick a picture.
    var meanFrameDuration: (ticks: Int64, pictures: Int64) {
        guard units.count > 1 else { return (frameDuration.count, 1) }
        return ((playingDuration - frameDuration).count, Int64(units.count - 1))
    }

    /// From the first picture decoded to the end of the last.
    var playingDuration: Ticks {
        guard let first = units.first, let last = units.last else { return .zero }
        return last.dts - first.dts + frameDuration
    }

    /// It was one picture, and what that lasts is known since another one followed.
    mutating func update(frameDuration: Ticks) { self.frameDuration = frameDuration }

    /// It is a run's first picture alone, and shown at another time than it is decoded: others may be shown before it.
    var mayFollowLeadingFrames: Bool { signal != nil && units.count == 1 && units[0].pts != units[0].dts }

    /// A leading picture of the run's first one was left out: that one is decoded in its place, so that decoding has no
    /// hole where showing has none.
    mutating func dropLeading(_ unit: TimedVideo) {
        clockStart = min(clockStart, unit.pts)
        let step = unit.dts - units[0].dts
        guard units.count == 1, step > .zero, step <= VideoTimestampUnwrapper.longestFrame else { return }
        units[0].dts = unit.dts
    }

    /// Splits off what is presented at or after `time`, from the first sync sample there on, as another run.
    /// - Returns: nil when no sync sample follows. All of a piece that goes on may be split off; one that begins a run
    ///   keeps its first picture, so that splitting comes to an end.
    mutating func split(at time: Ticks) -> PeriodPart? {
        let candidates = units.indices.dropFirst(signal == nil ? 0 : 1)
        guard let cut = candidates.first(where: { units[$0].isSync && units[$0].pts >= time }) else { return nil }
        var rest = self
        rest.units = Array(units[cut...])
        rest.signal = .audioConfiguration
        if let date = programDateTime {
            rest.programDateTime = date + (rest.units[0].pts - units[0].pts).count * 1000 / Ticks.perSecond
        }
        if cut > 0 {
            rest.opensSegment = false
            rest.metadata = []
        }
        units.removeSubrange(cut...)
        return rest
    }
}
