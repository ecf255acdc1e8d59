package import Media

/// The media of one segment on the channel's timeline, as the multiplexer needs it.
package struct TransportMedia: Sendable {
    package struct VideoSample: Sendable {
        package let decodeTime: Ticks
        package let presentationTime: Ticks
        package let isRandomAccessPoint: Bool
        /// NAL units, each prefixed with its length in four bytes. The payload of a random access point begins with the
        /// parameter sets.
        package let payload: ArraySlice<UInt8>

        package init(
            decodeTime: Ticks, presentationTime: Ticks, isRandomAccessPoint: Bool, payload: ArraySlice<UInt8>
        ) {
            self.decodeTime = decodeTime
            self.presentationTime = presentationTime
            self.isRandomAccessPoint = isRandomAccessPoint
            self.payload = payload
        }
    }

    package struct AudioFrame: Sendable {
        package let time: Ticks
        package let payload: ArraySlice<UInt8>

        package init(time: Ticks, payload: ArraySlice<UInt8>) {
            self.time = time
            self.payload = payload
        }
    }

    /// The audio of a track beside the leading one.
    package struct FurtherAudio: Sendable {
        package let frames: [AudioFrame]
        package let configuration: AudioConfiguration

        package init(frames: [AudioFrame], configuration: AudioConfiguration) {
            self.frames = frames
            self.configuration = configuration
        }
    }

    /// A PES packet of DVB subtitles or teletext.
    package struct PrivateDataPacket: Equatable, Sendable {
        package let time: Ticks
        /// The index of the packet's stream in `TransportStreamState.privateDataStreams`.
        package let stream: Int
        package let payload: [UInt8]

        package init(time: Ticks, stream: Int, payload: [UInt8]) {
            self.time = time
            self.stream = stream
            self.payload = payload
        }
    }

    /// From the decode time of the segment's first frame to the decode time of the next segment's first frame. Without
    /// video, the decode times that video in this segment would have; in a channel of audio alone, the times of the
    /// audio.
    package var decoding: Range<Ticks>
    /// The presentation time of the segment's first frame.
    package let presentationStart: Ticks
    /// In decoding order; empty in a channel of audio alone.
    package var video: [VideoSample] = []
    /// Whether a gradual refresh begins with the first sample, which carries its parameter sets and a recovery point
    /// message.
    package var beginsGradualRefresh = false
    package var audio: [AudioFrame] = []
    /// nil if there is no audio.
    package var audioConfiguration: AudioConfiguration?
    /// The audio of each of `TransportStreamState.audioTracks`, in their order.
    package var furtherAudio: [FurtherAudio] = []
    /// Complete ID3 tags, by presentation time.
    package var timedMetadata: [(time: Ticks, tags: [UInt8])] = []
    /// By presentation time.
    package var privateData: [PrivateDataPacket] = []
    /// splice_info_sections whose times are on the channel's timeline, in order.
    package var spliceSections: [[UInt8]] = []

    package init(decoding: Range<Ticks>, presentationStart: Ticks) {
        self.decoding = decoding
        self.presentationStart = presentationStart
    }
}

// Audio that is presented before the segment's first video frame: upstreams cut audio and video by their position in
// the file.
extension TransportMedia {
    /// The longest time that the chunk of early audio takes.
    private static let longestEarlyAudio = Ticks.seconds(1)

    var firstPresentation: Ticks { video.lazy.map(\.presentationTime).min() ?? presentationStart }

    /// The media without the audio frames that end before the first video frame is presented. A file begins with this
    /// media.
    package var withoutEarlyAudio: TransportMedia {
        let start = firstPresentation
        return filteringAudio { frame, duration in frame.time + duration > start }
    }

    /// The audio frames that begin before the first video frame is presented; nil without such frames. A file that ends
    /// before the segment ends with these frames.
    package var earlyAudio: TransportMedia? {
        let start = firstPresentation
        let early = filteringAudio { frame, _ in frame.time < start }
        let times = (early.audio + early.furtherAudio.flatMap(\.frames)).map(\.time)
        guard let first = times.min() else { return nil }
        let duration = min(start - first, Self.longestEarlyAudio)
        var media = TransportMedia(
            decoding: decoding.lowerBound..<decoding.lowerBound + duration, presentationStart: presentationStart)
        (media.audio, media.audioConfiguration) = (early.audio, early.audioConfiguration)
        media.furtherAudio = early.furtherAudio
        return media
    }

    /// - Parameter isKept: called with a frame and its duration.
    private func filteringAudio(_ isKept: (AudioFrame, Ticks) -> Bool) -> TransportMedia {
        func frames(_ frames: [AudioFrame], _ configuration: AudioConfiguration) -> [AudioFrame] {
            let duration = Ticks(samples: Int64(configuration.samplesPerFrame), sampleRate: configuration.sampleRate)
            return frames.filter { isKept($0, duration) }
        }
        var media = self
        if let audioConfiguration { media.audio = frames(audio, audioConfiguration) }
        media.furtherAudio = furtherAudio.map {
            FurtherAudio(frames: frames($0.frames, $0.configuration), configuration: $0.configuration)
        }
        return media
    }
}
