import ArgumentParser
import Channel
import ChannelList
import Media
import Transcode

struct AudioOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            .audio,
            discussion: """
                copy: audio that players accept in fragmented MP4 and in transport streams is copied, other audio is \
                transcoded to AAC, and so is another codec in a channel of AAC. bridge: all audio is transcoded to AAC. \
                uniform: audio that differs from the channel's first audio is \
                transcoded to its format, for players that read one init section only. drop: no audio.
                """, valueName: "mode"))
    var audio = AudioPolicy.copy

    @Option(help: ArgumentHelp(.audioTracks, valueName: "which"))
    var audioTracks = AudioTrackChoice.all

    @Flag(
        inversion: .prefixedNo,
        help: ArgumentHelp(.fillSilence))
    var fillSilence = true

    var configuration: AudioSettings { AudioSettings(policy: audio, fillsSilence: fillSilence, tracks: audioTracks) }
}

extension AudioPolicy: ExpressibleByArgument {}

extension AudioTrackChoice: ExpressibleByArgument {
    init?(argument: String) { self.init(argument) }

    var defaultValueDescription: String { text }
}
