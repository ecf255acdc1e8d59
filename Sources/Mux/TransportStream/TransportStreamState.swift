package import Media

/// The parameters with which a segment of a channel is written as a transport stream.
///
/// The state of every segment is stored with the segment. Each segment therefore gives the same bytes on every request,
/// also in the next process.
package struct TransportStreamState: Equatable, Sendable {
    package let program: TransportProgram
    /// The latest audio in the program's codec, which silence continues; nil if the channel had none so far.
    package private(set) var audio: AudioConfiguration?
    /// How often the sample rate or the number of channels changed.
    package private(set) var audioChanges = 0
    /// How often the parameters changed at all: EXT-X-DISCONTINUITY-SEQUENCE of the playlists with transport streams.
    package private(set) var discontinuities: UInt64 = 0
    /// The streams of DVB subtitles and teletext that the channel has had so far. Each keeps its position, and so its
    /// PID.
    package private(set) var privateDataStreams: [PrivateDataStream] = []
    /// The audio tracks beside the leading one that the channel has had so far. Each keeps its position, and so its
    /// PID.
    package private(set) var audioTracks: [TransportAudioTrack] = []
    /// The language of the leading audio, if the channel has other tracks.
    package private(set) var language = LanguageTag.unknown
    /// The name of the latest segment's init section, which identifies its parameters.
    private var initialization: String

    /// The state of a channel's first segment. The codecs of this segment become the channel's. A channel without
    /// audio, or with audio that players do not support in transport streams, gets AAC.
    package init(video: VideoConfiguration.Codec?, audio: AudioConfiguration?, initialization: String) {
        let codec = audio.flatMap { TransportAudioCodec($0) }
        program = TransportProgram(video: video, audio: codec ?? .aac)
        self.audio = codec == nil ? nil : audio
        self.initialization = initialization
    }

    /// The state of the segment after this one.
    package func followed(by audio: AudioConfiguration?, initialization: String) -> TransportStreamState {
        var next = self
        if initialization != self.initialization { next.discontinuities += 1 }
        next.initialization = initialization
        guard let audio, carries(audio) else { return next }
        if let last = self.audio ?? .transportSilence(program), !last.hasFormat(of: audio) { next.audioChanges += 1 }
        next.audio = audio
        return next
    }

    /// The most streams of private data, and the most bytes of their descriptors: a program map section has room for
    /// 1,024 bytes.
    private static let privateDataLimit = (streams: 32, bytes: 600)

    /// Adds streams of private data that the program does not contain yet, as far as they fit.
    package mutating func insert(_ streams: [PrivateDataStream]) {
        for stream in streams where !privateDataStreams.contains(stream) {
            let bytes = privateDataStreams.reduce(stream.descriptor.count) { $0 + $1.descriptor.count }
            guard privateDataStreams.count < Self.privateDataLimit.streams, bytes <= Self.privateDataLimit.bytes else {
                continue
            }
            privateDataStreams.append(stream)
        }
    }

    /// Records the audio of the tracks beside the leading one.
    /// - Parameter leading: the identity of the leading audio; nil if unknown.
    package mutating func insert(
        _ tracks: [(identity: AudioTrackIdentity, configuration: AudioConfiguration)], leading: AudioTrackIdentity?
    ) {
        if audioTracks.isEmpty { language = leading?.language ?? .unknown }
        for (identity, configuration) in tracks {
            if let index = audioTracks.firstIndex(where: { $0.identity == identity }) {
                audioTracks[index].record(configuration)
            } else if audioTracks.count < AudioTrackChoice.limit,
                let track = TransportAudioTrack(identity, configuration)
            {
                audioTracks.append(track)
            }
        }
        if audioTracks.isEmpty { language = .unknown }
    }

    /// Whether the configuration uses the program's audio codec.
    package func carries(_ audio: AudioConfiguration) -> Bool {
        TransportAudioCodec(audio) == program.audio
    }

    /// The configuration of silent frames: the configuration of the latest audio.
    package var silence: AudioConfiguration? { audio ?? .transportSilence(program) }
}

/// An audio track beside the leading one. Its codec is constant for the life of the channel.
package struct TransportAudioTrack: Equatable, Sendable {
    package let identity: AudioTrackIdentity
    package let codec: TransportAudioCodec
    /// The configuration of the latest segment in the codec.
    package private(set) var configuration: AudioConfiguration
    /// How often the sample rate or the number of channels changed.
    package private(set) var changes = 0

    /// nil if transport streams do not carry the configuration.
    init?(_ identity: AudioTrackIdentity, _ configuration: AudioConfiguration) {
        guard let codec = TransportAudioCodec(configuration) else { return nil }
        self.identity = identity
        self.codec = codec
        self.configuration = configuration
    }

    mutating func record(_ next: AudioConfiguration) {
        guard TransportAudioCodec(next) == codec else { return }
        if !configuration.hasFormat(of: next) { changes = (changes + 1) % TransportStreamState.changeCounts.upperBound }
        configuration = next
    }

    /// `de.0.0:aac/48000/2/1024/1190:0`
    var text: String { "\(identity.text):\(configuration.text):\(changes)" }

    init?(text: Substring) {
        let fields = text.split(separator: ":", omittingEmptySubsequences: false)
        guard fields.count == 3, let identity = AudioTrackIdentity(text: fields[0]),
            let configuration = AudioConfiguration(text: String(fields[1])), let changes = Int(fields[2]),
            TransportStreamState.changeCounts.contains(changes)
        else { return nil }
        self.init(identity, configuration)
        self.changes = changes
    }
}

extension AudioConfiguration {
    /// AAC LC, 48 kHz stereo, for silence in a channel without audio so far; nil if the program's codec is not AAC.
    fileprivate static func transportSilence(_ program: TransportProgram) -> AudioConfiguration? {
        guard program.audio == .aac else { return nil }
        return AudioConfiguration(
            codec: .aac, sampleRate: 48_000, channelCount: 2, samplesPerFrame: 1024,
            decoderSpecificInfo: AudioSpecificConfig.lowComplexity(samplingFrequency: 48_000, channelConfiguration: 2))
    }

    /// Whether audio of that configuration needs no new table for players.
    package func hasFormat(of other: AudioConfiguration) -> Bool {
        sampleRate == other.sampleRate && channelCount == other.channelCount
    }
}

// The text form, which outlives the process: `h264;aac;0;init-….mp4;aac/48000/2/1024/1190`, followed by the streams of
// private data, and by the language with the other audio tracks, if any. It does not contain the number of
// discontinuities.
extension TransportStreamState {
    package var text: String {
        let video =
            switch program.video {
            case .h264: "h264"
            case .hevc: "hevc"
            case .mpeg2: "mpeg2"
            case nil: "none"
            }
        let fields = [video, program.audio.rawValue, String(audioChanges), initialization, audio?.text ?? ""]
        let streams = privateDataStreams.map(\.text).joined(separator: ",")
        let tracks = ([language.text] + audioTracks.map(\.text)).joined(separator: ",")
        let rest = audioTracks.isEmpty ? streams.isEmpty ? [] : [streams] : [streams, tracks]
        return (fields + rest).joined(separator: ";")
    }

    /// nil if `text` cannot have been written by the `text` property.
    package init?(text: String, discontinuities: UInt64) {
        let fields = text.split(separator: ";", omittingEmptySubsequences: false).map(String.init)
        guard (5...7).contains(fields.count), let video = Self.videoCodecs[fields[0]],
            let codec = TransportAudioCodec(rawValue: fields[1]), let changes = Int(fields[2]),
            Self.changeCounts.contains(changes)
        else { return nil }
        program = TransportProgram(video: video, audio: codec)
        audioChanges = changes
        self.discontinuities = discontinuities
        initialization = fields[3]
        audio = AudioConfiguration(text: fields[4])
        if fields.count > 5 { insert(fields[5].split(separator: ",").compactMap { PrivateDataStream(text: $0) }) }
        guard fields.count > 6 else { return }
        let tracks = fields[6].split(separator: ",")
        language = tracks.first.flatMap { LanguageTag($0) } ?? .unknown
        audioTracks = tracks.dropFirst().prefix(AudioTrackChoice.limit).compactMap { TransportAudioTrack(text: $0) }
    }

    /// The accepted values of `audioChanges` in the text form; larger ones could overflow later.
    package static let changeCounts = 0...1 << 52
    private static let videoCodecs: [String: VideoConfiguration.Codec?] = [
        "h264": .h264, "hevc": .hevc, "mpeg2": .mpeg2, "none": VideoConfiguration.Codec?.none,
    ]
}
