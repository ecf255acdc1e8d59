/// The configuration of one encoder: all that an init section says, and the PIDs.
struct MediaFormat: Hashable {
    /// Size in macroblocks of 16 × 16.
    var width: Int
    var height: Int
    /// Ticks of 90 kHz.
    var frameDuration: Int
    /// Whether every second frame is a B picture, so that decoding order differs from the order of presentation.
    var reorders: Bool
    /// Frames from one IDR picture to the next.
    var group: Int
    var sampleRate: Int
    var channels: Int
    var videoPID: Int
    var audioPID: Int
    var audioPID2: Int { audioPID + 1 }

    /// Formats of programs and creatives. The first one is that of a plain channel, with few frames so that histories are
    /// many.
    static let all: [MediaFormat] = [
        MediaFormat(
            width: 10, height: 6, frameDuration: 7500, reorders: false, group: 12, sampleRate: 24_000, channels: 2,
            videoPID: 256, audioPID: 257),
        // The same size, and other parameter sets.
        MediaFormat(
            width: 10, height: 6, frameDuration: 3600, reorders: true, group: 25, sampleRate: 48_000, channels: 2,
            videoPID: 256, audioPID: 257),
        MediaFormat(
            width: 8, height: 5, frameDuration: 3000, reorders: false, group: 30, sampleRate: 44_100, channels: 2,
            videoPID: 481, audioPID: 482),
        MediaFormat(
            width: 12, height: 7, frameDuration: 3003, reorders: true, group: 30, sampleRate: 48_000, channels: 1,
            videoPID: 256, audioPID: 257),
        // The same parameter sets, and other PIDs.
        MediaFormat(
            width: 10, height: 6, frameDuration: 7500, reorders: false, group: 24, sampleRate: 32_000, channels: 2,
            videoPID: 300, audioPID: 301),
    ]

    /// Ticks of a group of pictures.
    var groupDuration: Int { group * frameDuration }

    /// Ticks of an audio frame, rounded down.
    var audioFrameDuration: Int { 1024 * 90_000 / sampleRate }

    /// Ticks from the beginning of the content to audio frame `number`, rounded down.
    func audioTime(_ number: Int) -> Int { number * 1024 * 90_000 / sampleRate }

    /// The first audio frame at or after `ticks`.
    func audioFrame(from ticks: Int) -> Int {
        var number = ticks * sampleRate / (1024 * 90_000)
        while audioTime(number) < ticks { number += 1 }
        return number
    }

    /// AudioSpecificConfig (ISO/IEC 14496-3 §1.6.2.1) of AAC-LC.
    var audioConfiguration: [UInt8] {
        let word = 2 << 11 | Self.rateIndex(sampleRate) << 7 | channels << 3
        return [UInt8(word >> 8), UInt8(word & 0xFF)]
    }

    static func rateIndex(_ rate: Int) -> Int { [48_000: 3, 44_100: 4, 32_000: 5, 24_000: 6][rate] ?? 3 }
}
