package import Media

/// The media of one segment on the channel's timeline, as the multiplexer needs it.
package struct TransportMedia: Sendable {
    package struct VideoSample: Sendable {
        package let decodeTime: Ticks
        package let presentationTime: Ticks
        package let isRandomAccessPoint: Bool
        /// NAL units, each prefixed with its length in four bytes. Those of a random access point begin with the parameter
        /// sets.
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
        /// The index of its stream among `TransportStreamState.privateDataStreams`.
        package let stream: Int
        package let payload: [UInt8]

        package init(time: Ticks, stream: Int, payload: [UInt8]) {
            self.time = time
            self.stream = stream
            self.payload = payload
        }
    }

    /// From the decode time of the segment's first frame to that of the next segment. Without video, the decode times that
    /// video of the segment would have; in a channel of audio alone, the times of the audio.
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
    /// The audio of `TransportStreamState.audioTracks`, in their order.
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
