import Demux
package import Media
import Mux
import Transcode

/// Where the channel's timeline stands after what was published: all that a restart needs to go on without going back.
package struct TimelinePosition: Equatable, Sendable {
    /// Decode time of the next video sample, in the video timescale; nil before the first.
    package var videoDecodeTime: Int64?
    /// Decode time of the next audio sample, in the audio timescale; nil before the first.
    package var audioDecodeTime: Int64?
    /// Presentation time at which the picture written so far ends, or the sound of a run without one: where the next run
    /// is placed.
    package var presentationEnd: Ticks
    /// mfhd sequence number of the next fragment.
    package var fragmentSequence: UInt32
    /// What the track of sound is coded as: a run without sound of its own goes on in it; nil when there was none yet.
    package var audio: AudioConfiguration?

    package init(
        videoDecodeTime: Int64?, audioDecodeTime: Int64?, presentationEnd: Ticks, fragmentSequence: UInt32,
        sound: AudioConfiguration? = nil
    ) {
        self.audio = sound
        self.videoDecodeTime = videoDecodeTime
        self.audioDecodeTime = audioDecodeTime
        self.presentationEnd = presentationEnd
        self.fragmentSequence = fragmentSequence
    }

    /// Composition offset of every run's first sample, for the life of a channel.
    package static var compositionDelay: Ticks { PeriodTimeline.compositionDelay }

    /// Nothing was published yet.
    var isInitial: Bool { videoDecodeTime == nil && audioDecodeTime == nil }

    /// Sound without a picture was written up to `end` in the audio timescale. The video's clock goes along, so that a
    /// picture that follows keeps its distance.
    mutating func advanceAudioOnly(to end: Int64) {
        audioDecodeTime = end
        presentationEnd = PeriodTimeline.ticks(ofAudioTime: end)
        videoDecodeTime = max(videoDecodeTime ?? 0, (presentationEnd - Self.compositionDelay).count)
        fragmentSequence &+= 1
    }

    /// Later by time in which nothing was published.
    package func advanced(by missing: Ticks) -> TimelinePosition {
        var later = self
        later.videoDecodeTime = videoDecodeTime.map { $0 + missing.count }
        later.audioDecodeTime = audioDecodeTime.map { $0 + PeriodTimeline.audioTime(missing) }
        later.presentationEnd = presentationEnd + missing
        return later
    }

    /// A channel begins with decode time 0.
    package static let beginning = TimelinePosition(
        videoDecodeTime: nil, audioDecodeTime: nil, presentationEnd: PeriodTimeline.compositionDelay,
        fragmentSequence: 1)
}
