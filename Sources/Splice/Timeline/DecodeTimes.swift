import Media

/// Decode times (`tfdt`) of one fragment: each track begins where the fragment before it ended.
///
/// Only the first video frame and the first audio frame of a channel set these times; after that they are sums of sample
/// durations.
struct DecodeTimes: Equatable, Sendable {
    /// Position of the timeline before the fragment.
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
