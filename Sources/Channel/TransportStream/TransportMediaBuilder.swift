import Media
import Mux
import Transcode

/// Makes the media of a segment's transport stream from what was published: in the channel's codecs, without gaps.
struct TransportMediaBuilder {
    /// A random access point that stands in for video in a foreign codec.
    struct Still: Equatable, Sendable {
        let configuration: VideoConfiguration
        let payload: [UInt8]
    }

    /// What the transport stream of a segment has instead of the published media.
    struct Replacements: Equatable, Sendable {
        /// Video frames in a foreign codec, or of a channel of audio alone, that are not in the transport stream.
        var foreignFrames = 0
        /// Random access points that stand in for these, or that are sent again while they stand.
        var stills = 0
        /// Audio frames in a foreign codec: encoded again, or not in the transport stream.
        var foreignAudioFrames = 0
        /// Frames that they were encoded into.
        var encodedAudioFrames = 0
        var silentFrames = 0
    }

    /// Between two stills.
    private static let stillInterval = Ticks.milliseconds(200)
    /// Longest time between two frames, if the first may be sent again. PTS come every 0.7 s (ISO/IEC 13818-1 §2.7.4),
    /// and players that join need a frame soon.
    private static let longestStanding = Ticks.milliseconds(600)

    private var silence = SilentFrameCache()

    /// The media of a segment; nil if it has none.
    /// - Parameters:
    ///   - stored: the samples of the segment.
    ///   - compositionDelay: presentation time − decode time of the first video frame of every period.
    ///   - still: the latest random access point before the segment in the channel's codec; nil if there is none.
    ///   - leadIn: the end of the audio of the segment before, if that is in a foreign codec and encoded again.
    mutating func media(
        of stored: StoredMedia, _ state: TransportStreamState, compositionDelay: Ticks, still: Still?,
        leadIn: TransportMedia.Audio? = nil
    ) -> (media: TransportMedia, replacements: Replacements)? {
        guard let times = Self.times(of: stored, state.program, compositionDelay: compositionDelay) else { return nil }
        var replacements = Replacements()
        let video = Self.video(of: stored, state.program, times, still: still, &replacements)
        let audio = audio(of: stored, state, times, leadIn, &replacements)
        var media = TransportMedia(
            decoding: times.decoding, presentationStart: times.presentationStart, video: video,
            audio: audio.map { [$0] } ?? [])
        media.timedMetadata = stored.messages.filter { $0.message.scheme == EventMessage.id3Scheme }
            .map { ($0.time, $0.message.data) }
        return (media, replacements)
    }

    private typealias Times = (decoding: Range<Ticks>, presentationStart: Ticks)

    private static func times(
        of stored: StoredMedia, _ program: TransportProgram, compositionDelay: Ticks
    ) -> Times? {
        if let first = stored.video?.samples.first {
            let start = program.video == nil ? first.presentationTime : first.decodeTime
            return (start..<start + stored.duration, first.presentationTime)
        }
        guard let first = stored.audio?.frames.first else { return nil }
        let start = program.video == nil ? first.time : first.time - compositionDelay
        return (start..<start + stored.duration, first.time)
    }

    private static func video(
        of stored: StoredMedia, _ program: TransportProgram, _ times: Times, still: Still?,
        _ replacements: inout Replacements
    ) -> TransportMedia.Video? {
        if let video = stored.video, video.configuration.codec == program.video {
            return repeatingStills(of: video, until: times.decoding.upperBound, &replacements)
        }
        replacements.foreignFrames = stored.video?.samples.count ?? 0
        guard program.video != nil, let still, still.configuration.codec == program.video else { return nil }
        let (start, end) = (times.decoding.lowerBound.count, times.decoding.upperBound.count)
        let delay = times.presentationStart - times.decoding.lowerBound
        let samples = stride(from: start, to: end, by: Int(stillInterval.count)).map { time in
            TransportMedia.VideoSample(
                decodeTime: Ticks(time), presentationTime: Ticks(time) + delay, isRandomAccessPoint: true,
                payload: still.payload[...])
        }
        replacements.stills = samples.count
        return TransportMedia.Video(configuration: still.configuration, samples: samples)
    }

    /// Adds copies of random access points that stand for longer than `longestStanding`.
    private static func repeatingStills(
        of video: TransportMedia.Video, until end: Ticks, _ replacements: inout Replacements
    ) -> TransportMedia.Video {
        let ends = video.samples.dropFirst().map(\.decodeTime) + [end]
        let standing = zip(video.samples, ends).contains { stillCount(of: $0, until: $1) > 0 }
        guard standing else { return video }
        let samples = zip(video.samples, ends).flatMap { sample, end in
            let (count, length) = (stillCount(of: sample, until: end), end - sample.decodeTime)
            replacements.stills += count
            return (0...count).map { sample.moved(by: Ticks(length.count * Int64($0) / Int64(count + 1))) }
        }
        return TransportMedia.Video(
            configuration: video.configuration, samples: samples, beginsGradualRefresh: video.beginsGradualRefresh)
    }

    private static func stillCount(of sample: TransportMedia.VideoSample, until end: Ticks) -> Int {
        let length = end - sample.decodeTime
        guard sample.isRandomAccessPoint, length > longestStanding else { return 0 }
        return Int((length.count - 1) / longestStanding.count)
    }

    private mutating func audio(
        of stored: StoredMedia, _ state: TransportStreamState, _ times: Times, _ leadIn: TransportMedia.Audio?,
        _ replacements: inout Replacements
    ) -> TransportMedia.Audio? {
        let own = ownAudio(of: stored, state, times, leadIn, &replacements)
        guard let own, let leadIn, let target = state.silence, target.codec == .aac,
            stored.audio.map({ state.carries($0.configuration) || !AudioBridge.isContinuous(leadIn, $0) }) ?? true,
            target.hasFormat(of: own.configuration)
        else { return own }
        let ending = AudioBridge(to: target).ending(of: leadIn, before: own.frames.first?.time)
        replacements.encodedAudioFrames += ending.count
        return TransportMedia.Audio(configuration: own.configuration, frames: ending + own.frames)
    }

    /// The audio of the segment itself: as it is, encoded again, or silence.
    private mutating func ownAudio(
        of stored: StoredMedia, _ state: TransportStreamState, _ times: Times, _ leadIn: TransportMedia.Audio?,
        _ replacements: inout Replacements
    ) -> TransportMedia.Audio? {
        if let audio = stored.audio {
            if state.carries(audio.configuration) { return audio }
            replacements.foreignAudioFrames = audio.frames.count
            if let target = state.silence, target.codec == .aac,
                let frames = AudioBridge(to: target).frames(of: audio, after: leadIn)
            {
                replacements.encodedAudioFrames = frames.count
                return TransportMedia.Audio(configuration: target, frames: frames)
            }
        }
        guard let configuration = state.silence, let frame = silence.frame(for: configuration) else { return nil }
        let frames = Self.silence(frame, configuration, at: times)
        replacements.silentFrames = frames.count
        return TransportMedia.Audio(configuration: configuration, frames: frames)
    }

    /// The frames of consecutive segments are on one grid, so that none overlaps another.
    private static func silence(
        _ frame: SilentFrame, _ configuration: AudioConfiguration, at times: Times
    ) -> [TransportMedia.AudioFrame] {
        let end = times.presentationStart + (times.decoding.upperBound - times.decoding.lowerBound)
        let (rate, samples) = (configuration.sampleRate, Int64(frame.samples))
        let first = { (time: Ticks) in time.count.rescaledUp(Int64(rate.hertz), over: samples * Ticks.perSecond) }
        return (first(times.presentationStart)..<first(end)).map { number in
            TransportMedia.AudioFrame(
                time: Ticks(samples: number * samples, sampleRate: rate), payload: frame.payload[...])
        }
    }
}

extension TransportMedia.VideoSample {
    fileprivate func moved(by time: Ticks) -> Self {
        Self(
            decodeTime: decodeTime + time, presentationTime: presentationTime + time,
            isRandomAccessPoint: isRandomAccessPoint, payload: payload)
    }
}

extension StoredMedia {
    /// The last random access point of the segment.
    var still: TransportMediaBuilder.Still? {
        guard let video, let sample = video.samples.last(where: \.isRandomAccessPoint) else { return nil }
        return TransportMediaBuilder.Still(configuration: video.configuration, payload: Array(sample.payload))
    }
}
