package import Media

/// The program of a channel: its elementary streams, which stay the same for the life of the channel.
package struct TransportProgram: Hashable, Sendable {
    /// One audio stream; its PID follows from its position.
    package struct Audio: Hashable, Sendable {
        package let codec: TransportAudioCodec
        /// ISO 639-2 code of three letters; nil if unknown.
        package let language: String?

        package init(codec: TransportAudioCodec, language: String? = nil) {
            self.codec = codec
            self.language = language
        }
    }

    /// nil for a channel of audio alone.
    package let video: VideoConfiguration.Codec?
    /// The main audio first.
    package let audio: [Audio]

    package init(video: VideoConfiguration.Codec?, audio: [Audio]) {
        self.video = video
        self.audio = audio
    }

    /// The PID that carries PCR.
    var clockPID: UInt16 { video == nil ? TransportPID.audio(0) : TransportPID.video }
}
