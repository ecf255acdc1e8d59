package import Media

/// Position of the channel's timeline after the published media; all that a restart needs to continue without going
/// back.
package struct TimelinePosition: Equatable, Sendable {
    /// Decode time of the next video sample (`tfdt`), in the video timescale; nil before the first. Only the first frame of
    /// a channel sets the decode times; after that they are sums of sample durations.
    package var videoDecodeTime: Int64?
    /// Decode time of the next audio sample, in the audio timescale; nil before the first.
    package var audioDecodeTime: Int64?
    /// Presentation time at which the video written so far ends, or the audio of an audio-only period. The next period
    /// begins there.
    package var presentationEnd: Ticks
    /// mfhd sequence number of the next fragment.
    package var fragmentSequence: UInt32
    /// Audio configuration of the track, in which a period without audio continues; nil if there was none yet.
    package var audio: AudioConfiguration?
    /// The audio tracks beside the leading one, in the order in which the channel got them.
    package var audioTracks: [AudioTrackPosition] = []
    /// The video tracks beside the leading one, in the order in which the channel got them. Their clock is the leading one's.
    package var videoTracks: [VideoTrackIdentity] = []

    package init(
        videoDecodeTime: Int64?, audioDecodeTime: Int64?, presentationEnd: Ticks, fragmentSequence: UInt32,
        audio: AudioConfiguration? = nil
    ) {
        self.audio = audio
        self.videoDecodeTime = videoDecodeTime
        self.audioDecodeTime = audioDecodeTime
        self.presentationEnd = presentationEnd
        self.fragmentSequence = fragmentSequence
    }

    /// Composition offset of every period's first sample, for the life of a channel.
    package static var compositionDelay: Ticks { PeriodTimeline.compositionDelay }

    var isInitial: Bool { videoDecodeTime == nil && audioDecodeTime == nil }

    /// Returns the position later by time in which nothing was published.
    package func advanced(by gap: Ticks) -> TimelinePosition {
        var later = self
        later.videoDecodeTime = videoDecodeTime.map { $0 + gap.count }
        later.audioDecodeTime = audioDecodeTime.map { $0 + PeriodTimeline.audioTime(gap) }
        for index in audioTracks.indices { later.audioTracks[index].decodeTime += PeriodTimeline.audioTime(gap) }
        later.presentationEnd = presentationEnd + gap
        return later
    }

    /// Returns the position after a fragment with video. The times are those at which its samples end.
    func advanced(toVideo video: Int64, audio: Int64?) -> TimelinePosition {
        var next = self
        (next.videoDecodeTime, next.audioDecodeTime) = (video, audio)
        next.fragmentSequence &+= 1
        return next
    }

    /// Returns the position after an audio-only fragment that ends at `end` in the audio timescale. The video decode time
    /// advances as well, so that later video keeps its distance.
    func advanced(toAudioAlone end: Int64) -> TimelinePosition {
        let presented = PeriodTimeline.ticks(ofAudioTime: end)
        var next = advanced(
            toVideo: max(videoDecodeTime ?? 0, (presented - Self.compositionDelay).count), audio: end)
        next.presentationEnd = presented
        return next
    }

    /// Longest difference between the tracks' clocks. Frame durations and composition offsets of 32 bits bridge it.
    private static let longestSkew = Ticks.seconds(3600)

    /// The position if its clocks agree; otherwise one whose tracks continue where the presentation ends.
    ///
    /// Published video never leaves the presentation, and published audio is never ahead of it by more than a segment. A
    /// position from a damaged file may say otherwise.
    package var reconciled: TimelinePosition {
        let decodeTime = presentationEnd - Self.compositionDelay
        var position = self
        if let video = videoDecodeTime, abs(video - decodeTime.count) > Self.longestSkew.count {
            position.videoDecodeTime = max(0, decodeTime.count)
        }
        if let audio = audioDecodeTime, audio > PeriodTimeline.audioTime(presentationEnd + Self.longestSkew) {
            position.audioDecodeTime = PeriodTimeline.audioTime(presentationEnd)
        }
        for (index, track) in audioTracks.enumerated()
        where track.decodeTime > PeriodTimeline.audioTime(presentationEnd + Self.longestSkew) {
            position.audioTracks[index].decodeTime = PeriodTimeline.audioTime(presentationEnd)
        }
        return position
    }

    /// Position of a new channel, which begins with decode time 0.
    package static let beginning = TimelinePosition(
        videoDecodeTime: nil, audioDecodeTime: nil, presentationEnd: PeriodTimeline.compositionDelay,
        fragmentSequence: 1)
}

/// Where an audio track beside the leading one continues.
package struct AudioTrackPosition: Equatable, Sendable {
    package let identity: AudioTrackIdentity
    /// The configuration of its last frames.
    package let configuration: AudioConfiguration
    /// Decode time of the next sample, in the audio timescale.
    package var decodeTime: Int64

    package init(identity: AudioTrackIdentity, configuration: AudioConfiguration, decodeTime: Int64) {
        self.identity = identity
        self.configuration = configuration
        self.decodeTime = decodeTime
    }
}
