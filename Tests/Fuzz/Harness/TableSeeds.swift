import TestSupport

/// Short transport streams with every table and every kind of elementary stream that a PMT announces.
enum TableSeeds {
    private typealias Builder = TransportStreamBuilder

    static let streams = AudioSeeds.streams.map(audio) + [everyType, programs, alternating, metadata, withoutTables]

    /// Descriptors, registrations, and the beginnings of entries, PES packets and transport packets.
    static let words: [FuzzWord] =
        ["HDMV", "CUEI", "ID3 ", "AC-3", "EAC3", "DTS1", "BSSD", "HEVC", "VC-1", "AV01", "Opus", "AC-4", "drac"].map {
            FuzzWord([0x05, 4] + Array($0.utf8))
        } + [
            [0x0A, 4, 0x65, 0x6E, 0x67, 3], [0x6A, 1, 0], [0x7A, 1, 0], [0x7B, 1, 0], [0x7F, 2, 0x06, 0x04],
            [0x1B, 0xE1, 0x00, 0xF0, 0], [0x24, 0xE1, 0x00, 0xF0, 0], [0x0F, 0xE1, 0x01, 0xF0, 0],
            [0x11, 0xE1, 0x01, 0xF0, 0], [0x87, 0xE1, 0x01, 0xF0, 0], [0x82, 0xE1, 0x01, 0xF0, 0],
            [0x06, 0xE1, 0x01, 0xF0, 3], [0x15, 0xE1, 0x02, 0xF0, 0], [0x86, 0xE1, 0x03, 0xF0, 0],
            [0, 0, 1, 0xE0], [0, 0, 1, 0xC0], [0, 0, 1, 0xBD], [0, 0, 1, 0xFC], [0x47, 0x40, 0, 0x10],
            [0x47, 0x50, 0, 0x10], [0, 0x00, 0xB0, 0x0D, 0, 1, 0xC1, 0, 0], [0, 0x02, 0xB0, 0x12, 0, 1, 0xC1, 0, 0],
            [0, 0xFC, 0x30],
        ]

    private static let video = Builder.Stream(pid: 0x100, type: 0x1B)
    /// A delimiter and an IDR slice without parameter sets.
    private static let frame: [UInt8] =
        [0, 0, 0, 1, 0x09, 0xF0, 0, 0, 0, 1, 0x65, 0x88] + Array(repeating: 0x33, count: 40)

    /// Two PES packets of an audio stream beside video.
    private static func audio(_ stream: AudioSeeds.Stream) -> [UInt8] {
        var builder = Builder()
        builder.tables([video, Builder.Stream(pid: 0x101, type: stream.type, descriptors: stream.descriptors)])
        for number in 0..<2 {
            let pts = Int64(number) * 3600
            builder.pes(pid: 0x100, pts: pts, frame)
            builder.pes(pid: 0x101, streamID: 0xBD, pts: pts, isBounded: true, stream.bytes)
        }
        return builder.bytes
    }

    /// A PMT of several packets with a stream of each type, and each descriptor that is read.
    private static var everyType: [UInt8] {
        let types: [UInt8] = [
            0x1B, 0x24, 0x03, 0x04, 0x0F, 0x11, 0x81, 0x87, 0x82, 0x8A, 0x80, 0x84, 0x85, 0x86, 0x15, 0x02, 0x33,
        ]
        let descriptors: [[UInt8]] = words.prefix(18).map(\.bytes)
        let streams =
            types.enumerated().map { Builder.Stream(pid: 0x100 + UInt16($0), type: $1) }
            + descriptors.enumerated().map { Builder.Stream(pid: 0x180 + UInt16($0), type: 0x06, descriptors: $1) }
        var builder = Builder()
        builder.tables(streams)
        builder.pes(pid: 0x100, pts: 0, frame)
        builder.tables(streams)
        return builder.bytes
    }

    /// Three programs, whose PMTs precede the PAT, follow it, and are missing.
    private static var programs: [UInt8] {
        var builder = Builder()
        builder.map([video], program: 1, mapPID: 0x1000)
        builder.association([(1, 0x1000), (2, 0x1001), (3, 0x1002)])
        builder.map([Builder.Stream(pid: 0x200, type: 0x24)], program: 2, mapPID: 0x1001)
        builder.map([Builder.Stream(pid: 0x200, type: 0x24)], program: 2, mapPID: 0x1001, isIntact: false)
        builder.pes(pid: 0x100, pts: 0, dts: 0, frame)
        builder.pes(pid: 0x200, pts: 0, frame)
        return builder.bytes
    }

    /// Tables that change with each packet.
    private static var alternating: [UInt8] {
        var builder = Builder()
        for number in 0..<6 {
            let pid: UInt16 = number.isMultiple(of: 2) ? 0x100 : 0x110
            builder.tables([Builder.Stream(pid: pid, type: 0x1B), Builder.Stream(pid: pid + 1, type: 0x0F)])
            builder.pes(pid: pid, pts: Int64(number) * 3600, frame)
        }
        return builder.bytes
    }

    /// Splice information, ID3 tags, and packets with errors, losses and scrambling between them.
    private static var metadata: [UInt8] {
        var builder = Builder()
        builder.tables([video, Builder.Stream(pid: 0x102, type: 0x15), Builder.Stream(pid: 0x103, type: 0x86)])
        builder.pes(pid: 0x100, pts: 8_589_934_000, dts: 8_589_930_400, frame)
        for section in MetadataEntries.sections {
            var section = section
            SectionRepair.seal(0..<section.count, of: &section)
            builder.sections([section], pid: 0x103)
        }
        builder.pes(
            pid: 0x102, streamID: 0xBD, pts: 0, isBounded: true,
            Array("ID3\u{4}\0\0\0\0\0\u{0C}TXXX\0\0\0\u{2}\0\0\0\0".utf8))
        builder.packet(pid: 0x100, payload: frame, hasError: true)
        builder.packet(pid: 0x100, payload: frame, isScrambled: true)
        builder.skip(3, pid: 0x100)
        builder.packet(pid: 0x100, payload: frame, announcesDiscontinuity: true)
        builder.repeatLastPacket()
        builder.pes(pid: 0x100, pts: 1800, frame)
        return builder.bytes
    }

    private static var withoutTables: [UInt8] {
        var builder = Builder()
        for number in 0..<3 {
            builder.pes(pid: 0x100, pts: Int64(number) * 3600, frame)
            builder.pes(pid: 0x101, streamID: 0xC0, pts: Int64(number) * 3600, AudioSeeds.streams[0].bytes)
        }
        return builder.bytes
    }
}
