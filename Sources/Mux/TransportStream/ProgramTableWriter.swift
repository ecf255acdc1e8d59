import Media

/// Writes the sections of the program (ISO/IEC 13818-1 §2.4.4). Each fits one packet, unless there is private data.
struct ProgramTableWriter {
    private static let programNumber: UInt16 = 1

    private let program: TransportProgram
    private let privateData: [PrivateDataStream]
    /// The audio tracks beside the leading one. The language of the leading audio is `language`.
    private let audioTracks: [TransportAudioTrack]
    private let language: LanguageTag

    init(
        _ program: TransportProgram, privateData: [PrivateDataStream] = [], audioTracks: [TransportAudioTrack] = [],
        language: LanguageTag = .unknown
    ) {
        self.program = program
        self.privateData = privateData
        self.audioTracks = audioTracks
        self.language = language
    }

    /// The payload of the PAT's packet: pointer_field, section and stuffing.
    var programAssociation: [UInt8] {
        Self.payload(
            tableID: 0x00, identifier: 1, version: 0,
            Self.words(Self.programNumber, 0xE000 | TransportPID.programMap))
    }

    /// The payload of the PMT's packets.
    /// - Parameter audioChanges: how often the audio's configuration changed. Each change gives another version, in
    ///   which the language descriptor is toggled, because VLC otherwise keeps its decoder at the old rate. Each
    ///   additional audio track or stream of private data gives another version, too.
    func programMap(audioChanges: Int) -> [UInt8] {
        let information = Self.registration("CUEI") + Self.metadataPointer
        var streams = videoStream + audioStream(isToggled: audioChanges % 2 == 1) + Self.metadataStream
        streams += Self.stream(0x86, TransportPID.spliceInformation, [])
        for (index, stream) in privateData.enumerated() {
            streams += Self.stream(0x06, TransportPID.privateData + UInt16(index), stream.descriptor)
        }
        for (index, track) in audioTracks.enumerated() {
            streams += Self.audioStream(
                track.codec, TransportPID.furtherAudio + UInt16(index),
                Self.language(track.changes % 2 == 1 ? .unknown : track.identity.language, track.identity.kind))
        }
        let changes = audioTracks.reduce(audioChanges + privateData.count) { ($0 + 1 + $1.changes) % 32 }
        return Self.payload(
            tableID: 0x02, identifier: Self.programNumber, version: UInt8(changes % 32),
            Self.words(0xE000 | program.clockPID, 0xF000 | UInt16(information.count)) + information + streams)
    }

    private var videoStream: [UInt8] {
        switch program.video {
        case .h264: Self.stream(0x1B, TransportPID.video, [])
        case .hevc: Self.stream(0x24, TransportPID.video, [])
        case .mpeg2: Self.stream(0x02, TransportPID.video, [])
        case nil: []
        }
    }

    /// - Parameter isToggled: whether the entry contains the other language descriptor: the one of an unknown language
    ///   instead of a known language or of none.
    private func audioStream(isToggled: Bool) -> [UInt8] {
        let known = language == .unknown ? [] : Self.language(language, .main)
        return Self.audioStream(
            program.audio, TransportPID.audio, isToggled ? Self.language(.unknown, .main) : known)
    }

    private static func audioStream(_ codec: TransportAudioCodec, _ pid: UInt16, _ language: [UInt8]) -> [UInt8] {
        stream(codec.streamType, pid, (codec.registration.map(registration) ?? []) + language)
    }

    /// ISO_639_language_descriptor (§2.6.18).
    private static func language(_ tag: LanguageTag, _ kind: AudioTrackIdentity.Kind) -> [UInt8] {
        descriptor(0x0A, Array(tag.iso639.utf8) + [kind.rawValue])
    }

    /// Timed ID3 (ISO/IEC 13818-1 §2.6.60).
    private static let metadataStream = stream(
        0x15, TransportPID.timedMetadata,
        descriptor(0x26, [0xFF, 0xFF] + Array("ID3 ".utf8) + [0xFF] + Array("ID3 ".utf8) + [0, 0x0F]))

    /// metadata_pointer_descriptor (§2.6.58), which names this program.
    private static let metadataPointer = descriptor(
        0x25, [0xFF, 0xFF] + Array("ID3 ".utf8) + [0xFF] + Array("ID3 ".utf8) + [0, 0x1F] + words(programNumber))

    private static func stream(_ type: UInt8, _ pid: UInt16, _ descriptors: [UInt8]) -> [UInt8] {
        [type] + words(0xE000 | pid, 0xF000 | UInt16(descriptors.count)) + descriptors
    }

    private static func registration(_ identifier: String) -> [UInt8] { descriptor(0x05, Array(identifier.utf8)) }

    private static func descriptor(_ tag: UInt8, _ body: [UInt8]) -> [UInt8] { [tag, UInt8(body.count)] + body }

    private static func words(_ values: UInt16...) -> [UInt8] {
        values.flatMap { [UInt8($0 >> 8), UInt8(truncatingIfNeeded: $0)] }
    }

    /// The only section of a table, with current_next_indicator 1, as the payload of whole packets.
    private static func payload(tableID: UInt8, identifier: UInt16, version: UInt8, _ body: [UInt8]) -> [UInt8] {
        // identifier, version, section_number, last_section_number, body, CRC_32
        let length = UInt16(2 + 1 + 2 + body.count + 4)
        let section = [tableID] + words(0xB000 | length, identifier) + [0xC1 | version << 1, 0, 0] + body
        return TransportPacketWriter.payload(ofSection: section + SectionCRC.bytes(of: section))
    }
}
