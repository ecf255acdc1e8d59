import ArgumentParser
import Channel
import Splice
import Transcode

/// Options for the audio.
struct AudioOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "copy, bridge, uniform or drop.",
            discussion: """
                copy: audio that players accept in fragmented MP4 is copied, other audio (MP2) is transcoded to \
                AAC. bridge: all audio is transcoded to AAC. uniform: audio that differs from the channel's first audio is \
                transcoded to its format, for players that read one init section only. drop: no audio.
                """, valueName: "mode"))
    var audio = AudioPolicy.copy

    @Flag(
        inversion: .prefixedNo,
        help: "Insert encoded silence where an ad has no audio, and into audio gaps longer than a frame.")
    var fillSilence = true

    var configuration: AudioSettings { AudioSettings(policy: audio, fillsSilence: fillSilence) }
}

extension AudioPolicy: ExpressibleByArgument {}
