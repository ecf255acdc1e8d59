package import Media

/// The program of a channel: its elementary streams, which stay the same for the life of the channel.
package struct TransportProgram: Hashable, Sendable {
    /// nil for a channel of audio alone.
    package let video: VideoConfiguration.Codec?
    package let audio: TransportAudioCodec

    /// The PID that carries PCR.
    var clockPID: UInt16 { video == nil ? TransportPID.audio : TransportPID.video }
}

/// The packet identifiers of the program. They never change: players that find another PID after a splice lose the
/// stream.
enum TransportPID {
    static let programAssociation: UInt16 = 0x0000
    static let programMap: UInt16 = 0x1000
    static let video: UInt16 = 0x0100
    static let audio: UInt16 = 0x0101
    static let timedMetadata: UInt16 = 0x0102
    static let spliceInformation: UInt16 = 0x0103
    /// The PID of the first stream of private data; the PIDs of the others follow.
    static let privateData: UInt16 = 0x0110
    /// The PID of the first audio beside the leading one; the PIDs of the others follow.
    static let furtherAudio: UInt16 = 0x0130
}
