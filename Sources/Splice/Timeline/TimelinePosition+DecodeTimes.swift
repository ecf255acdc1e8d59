import Media

/// Decode times (`tfdt`) of the next fragment's tracks: where the fragment before it ended.
///
/// The first video frame of a channel sets the video time; `AudioTrackAssembler.nextDecodeTime` is the audio time.
extension TimelinePosition {
    /// Returns the video decode time of a fragment that begins with `first`.
    func nextVideoDecodeTime(_ first: TimedVideo, on timeline: PeriodTimeline) -> Int64 {
        videoDecodeTime ?? timeline.decode(of: first.dts).count
    }

    /// Returns the position after a fragment with video.
    /// - Parameters:
    ///   - video: end of its video samples in the video timescale.
    ///   - audio: end of its audio samples in the audio timescale.
    func advanced(video: Int64, audio: Int64?) -> TimelinePosition {
        var next = self
        next.videoDecodeTime = video
        next.audioDecodeTime = audio
        next.fragmentSequence &+= 1
        return next
    }

    /// Returns the position after an audio-only fragment that ends at `end` in the audio timescale. The video decode time
    /// advances as well, so that later video keeps its distance.
    func advancedAudioOnly(to end: Int64) -> TimelinePosition {
        var next = self
        next.audioDecodeTime = end
        next.presentationEnd = PeriodTimeline.ticks(ofAudioTime: end)
        next.videoDecodeTime = max(videoDecodeTime ?? 0, (next.presentationEnd - Self.compositionDelay).count)
        next.fragmentSequence &+= 1
        return next
    }
}
