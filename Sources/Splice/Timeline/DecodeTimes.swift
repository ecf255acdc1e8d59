import Media

/// Decode times (`tfdt`) of one fragment: each track begins where the fragment before it ended.
///
/// Only the first video frame and the first audio frame of a channel set these times; after that they are sums of sample
/// durations.
struct DecodeTimes: Equatable, Sendable {
    let position: TimelinePosition

    /// Returns the video decode time of a fragment that begins with `first`, in the video timescale.
    func video(from first: TimedVideo, on timeline: PeriodTimeline) -> Int64 {
        position.videoDecodeTime ?? timeline.decode(of: first.dts).count
    }

    /// Returns the audio decode time in the audio timescale; `first` applies to the first audio of a channel.
    static func audio(after next: Int64?, first: @autoclosure () -> Int64) -> Int64 { next ?? first() }

    /// Returns the position after a fragment with video.
    /// - Parameters:
    ///   - video: end of its video samples in the video timescale.
    ///   - audio: end of its audio samples in the audio timescale.
    func position(afterVideo video: Int64, audio: Int64?) -> TimelinePosition {
        var next = position
        next.videoDecodeTime = video
        next.audioDecodeTime = audio
        next.fragmentSequence &+= 1
        return next
    }

    /// Returns the position after an audio-only fragment that ends at `end` in the audio timescale. The video decode time
    /// advances as well, so that later video keeps its distance.
    func position(afterAudioOnly end: Int64) -> TimelinePosition {
        var next = position
        next.audioDecodeTime = end
        next.presentationEnd = PeriodTimeline.ticks(ofAudioTime: end)
        let delayed = (next.presentationEnd - TimelinePosition.compositionDelay).count
        next.videoDecodeTime = max(position.videoDecodeTime ?? 0, delayed)
        next.fragmentSequence &+= 1
        return next
    }
}

/// Last guard before the muxer: decode times rise by at least a tick, and no frame is presented before it could be
/// decoded. A clean source leaves the count of changes at 0.
struct TimestampSanitizer: Equatable, Sendable {
    /// Counts of samples whose decode or presentation time was changed.
    private(set) var counts = SpliceCounts()
    private var last: Int64?

    /// Makes the next sample decode at `time`, wherever the source places it.
    mutating func anchor(at time: Int64) { last = time - 1 }

    /// - Returns: the decode time to write, and a presentation time at least `leastOffset` after it.
    mutating func admit(decode: Int64, presentation: Int64, leastOffset: Int64) -> (decode: Int64, presentation: Int64)
    {
        let admittedDecode = last.map { max(decode, $0 + 1) } ?? decode
        let admittedPresentation = max(presentation, admittedDecode + leastOffset)
        if admittedDecode != decode || admittedPresentation != presentation {
            counts[.adjustedTimestamps] += 1
        }
        last = admittedDecode
        return (admittedDecode, admittedPresentation)
    }
}
