import Media

/// Configurations of init sections.
enum InitSample {
    static let video = VideoConfiguration(
        codec: .h264, sequenceParameterSets: [h264Rows[13].nalUnit], pictureParameterSets: [bytes("68ce3c80")])
    static let audio = AudioConfiguration(
        codec: .aac, sampleRate: 48_000, channelCount: 2, samplesPerFrame: 1024, decoderSpecificInfo: [0x11, 0x90])
}
