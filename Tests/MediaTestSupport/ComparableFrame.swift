import Support

@testable import Demux
@testable import Media
@testable import Mux
@testable import Splice
@testable import Transcode

/// A frame in a form that the output of both demuxers can be converted to.
struct ComparableFrame: Equatable, Hashable, CustomStringConvertible {
    var pts: Int64?
    var dts: Int64?
    let isSync: Bool
    /// Video: NAL units without delimiters, filler and parameter sets. Audio: the frame without its header.
    let parts: [[UInt8]]

    var description: String { "pts \(pts ?? -1) dts \(dts ?? -1) \(isSync ? "sync " : "")\(parts.map(\.count))" }
}

extension ComparableFrame {
    init(_ packet: VideoPacket) {
        self.init(
            pts: packet.pts?.count, dts: packet.dts?.count, isSync: packet.randomAccess == .instantaneousRefresh,
            parts: Self.units(of: packet).filter { !Self.isDropped($0, codec: packet.configuration.codec) })
    }

    init(_ packet: AudioPacket) {
        self.init(pts: packet.pts?.count, dts: nil, isSync: true, parts: [Array(packet.payload)])
    }

    init(video packet: OraclePacket, codec: VideoConfiguration.Codec) {
        let units = Self.startCodePrefixed(packet.bytes)
        let isSync = units.contains { Self.isRefresh($0, codec: codec) }
        self.init(
            pts: packet.pts, dts: packet.dts, isSync: isSync,
            parts: units.filter { !Self.isDropped($0, codec: codec) })
    }

    /// - Parameter headerSize: 7 for ADTS without protection.
    init(audio packet: OraclePacket, headerSize: Int) {
        self.init(pts: packet.pts, dts: nil, isSync: true, parts: [Array(packet.bytes.dropFirst(headerSize))])
    }

    static func isDropped(_ unit: [UInt8], codec: VideoConfiguration.Codec) -> Bool {
        switch codec {
        case .h264: return [7, 8, 9, 12].contains(unit[0] & 0x1F)
        case .hevc: return [32, 33, 34, 35, 38].contains(unit[0] >> 1)
        case .mpeg2: return unit[0] == 0xB3 || unit[0] == 0xB5 && [1, 2].contains(unit[1] >> 4)
        }
    }

    /// Whether the unit says that everything after it can be decoded. Of MPEG-2 it is the header of a closed group.
    private static func isRefresh(_ unit: [UInt8], codec: VideoConfiguration.Codec) -> Bool {
        switch codec {
        case .h264: unit[0] & 0x1F == 5
        case .hevc: (16...20).contains(unit[0] >> 1)
        case .mpeg2: unit[0] == 0xB8 && unit[4] & 0x40 != 0
        }
    }

    private static func units(of packet: VideoPacket) -> [[UInt8]] {
        packet.configuration.codec == .mpeg2
            ? startCodePrefixed(Array(packet.payload)) : lengthPrefixed(packet.payload)
    }

    static func lengthPrefixed(_ payload: ArraySlice<UInt8>) -> [[UInt8]] {
        var units: [[UInt8]] = []
        var rest = payload
        while rest.count >= 4 {
            let size = rest.prefix(4).reduce(0) { $0 << 8 | Int($1) }
            units.append(Array(rest.dropFirst(4).prefix(size)))
            rest = rest.dropFirst(4 + size)
        }
        return units
    }

    /// Searches byte by byte, as Annex B defines it.
    static func startCodePrefixed(_ bytes: [UInt8]) -> [[UInt8]] {
        var units: [[UInt8]] = []
        var begin: Int?
        var zeros = 0
        for (index, byte) in bytes.enumerated() {
            if byte == 1, zeros >= 2 {
                if let begin { units.append(Array(bytes[begin..<index - 2])) }
                begin = index + 1
            }
            zeros = byte == 0 ? zeros + 1 : 0
        }
        if let begin { units.append(Array(bytes[begin...])) }
        return units.map { unit in Array(unit[..<((unit.lastIndex { $0 != 0 } ?? -1) + 1)]) }.filter { !$0.isEmpty }
    }
}

extension TransportDemuxer {
    /// Returns the joined output of all segments and of `finish`.
    static func all(_ segments: [[UInt8]], tracks: TrackSelection = .both) throws(MediaError) -> DemuxedSegment {
        var demuxer = TransportDemuxer(tracks: tracks)
        var whole = DemuxedSegment()
        for segment in segments { whole.append(try demuxer.feed(segment)) }
        whole.append(try demuxer.finish())
        return whole
    }
}

extension DemuxedSegment {
    mutating func append(_ other: DemuxedSegment) {
        video += other.video
        audio += other.audio
        metadata += other.metadata
        counts += other.counts
        declaresVideo = declaresVideo || other.declaresVideo
        declaresAudio = declaresAudio || other.declaresAudio
    }
}

extension ComparableFrame {
    init(movie packet: OraclePacket, codec: VideoConfiguration.Codec) {
        let units = Self.lengthPrefixed(packet.bytes[...])
        let isSync = units.contains { Self.isRefresh($0, codec: codec) }
        self.init(
            pts: Self.wire(packet.pts, packet.timescale), dts: Self.wire(packet.dts, packet.timescale), isSync: isSync,
            parts: units.filter { !Self.isDropped($0, codec: codec) })
    }

    init(movie packet: OraclePacket) {
        self.init(pts: Self.wire(packet.pts, packet.timescale), dts: nil, isSync: true, parts: [packet.bytes])
    }

    private static func wire(_ time: Int64?, _ timescale: Int64) -> Int64? {
        time.map { Int64((Double($0) * 90_000 / Double(timescale)).rounded()) & (1 << 33 - 1) }
    }
}
