import Media
import Support

/// Detects streams without tables, by the stream_id of their PES packets and the bytes of the payload.
struct ProgramProbe {
    /// Video by PID, and the PIDs in the order of their first PES packets.
    private var video: [UInt16: VideoProbe] = [:]
    private var videoPIDs: [UInt16] = []
    private var audio: ProgramSelection.Stream?
    private var scrambling: [UInt16: ScramblingMark] = [:]

    init(_ bytes: [UInt8], blocks: [PacketBlock]) throws(MediaError) {
        for block in blocks where !block.hasBadSyncBytes {
            try MediaError.checkCancellation()
            StepCounter.add(block.count)
            for index in 0..<block.count {
                let packet = TransportPacket(bytes, at: block[index])
                guard packet.isIntact, isClear(packet, of: bytes) else { continue }
                if packet.startsUnit {
                    readHeader(of: packet, bytes)
                } else {
                    video[packet.pid]?.scan(bytes, in: packet.payload)
                }
            }
        }
    }

    private mutating func isClear(_ packet: TransportPacket, of bytes: [UInt8]) -> Bool {
        !packet.isMarkedScrambled || scrambling[packet.pid, default: ScramblingMark()].isClear(packet, of: bytes)
    }

    /// Returns the first video and audio streams that are supported.
    /// - Throws: If there is none.
    func selection(tracks: TrackSelection) throws(MediaError) -> ProgramSelection {
        let probes = tracks == .audio ? [] : videoPIDs.compactMap { pid in video[pid].map { (pid, $0) } }
        let supported = probes.lazy.compactMap { pid, probe in
            probe.codec.map { ProgramSelection.Stream(pid: pid, kind: .video($0)) }
        }
        var selection = ProgramSelection(
            programNumber: 0, video: supported.first, audio: tracks == .video ? nil : audio)
        let unsupported = probes.compactMap(\.1.unsupportedType)
        selection.unsupportedVideo = unsupported.compactMap { ElementaryStreamFormat(streamType: $0).name }
        guard selection.streams.isEmpty else { return selection }
        throw MediaError(
            .noSupportedStream(streamTypes: unsupported, names: selection.unsupportedVideo),
            section: "ISO/IEC 13818-1 2.4.4")
    }

    private mutating func readHeader(of packet: TransportPacket, _ bytes: [UInt8]) {
        guard case .header(let header) = PESHeader.read(bytes[packet.payload]) else { return }
        let payload = packet.payload.dropFirst(header.size)
        switch header.streamID {
        case 0xE0...0xEF:
            if video[packet.pid] == nil { videoPIDs.append(packet.pid) }
            video[packet.pid, default: VideoProbe()].beginPacket(bytes, in: payload)
        case 0xC0...0xDF, 0xBD:
            audio = audio ?? Self.framing(Array(bytes[payload])).map { .init(pid: packet.pid, kind: .audio($0)) }
        default: break
        }
    }

    private static func framing(_ payload: [UInt8]) -> AudioFraming? {
        [AudioFraming.mpeg, .ac3, .loas].first { framing in
            if case .frame = framing.header(payload, at: 0, end: payload.count) { true } else { false }
        }
    }
}

/// Tells the video codec of a PID without tables by its start codes.
///
/// H.264 and HEVC have no start code whose next byte has the highest bit set (forbidden_zero_bit); the headers of MPEG-1,
/// MPEG-2 and MPEG-4 video have. Slices of MPEG video look like NAL units, so they prove nothing.
private struct VideoProbe {
    private var counts: [UInt8: Int] = [:]
    /// PES packets that begin as an access unit of H.264 or HEVC does.
    private var accessUnits = 0
    private var announced: VideoConfiguration.Codec?
    private var hasStartCode = false

    private static let mpeg1: UInt8 = 0x01
    private static let mpeg2: UInt8 = 0x02
    private static let mpeg4: UInt8 = 0x10

    /// The codec; nil before a start code, and for MPEG video.
    var codec: VideoConfiguration.Codec? { hasStartCode && unsupportedType == nil ? announced ?? .h264 : nil }

    /// stream_type of MPEG video (ISO/IEC 13818-1 Table 2-34); nil for any other.
    var unsupportedType: UInt8? {
        guard hasStartCode, counts.values.reduce(0, +) > accessUnits else { return nil }
        return [Self.mpeg4, Self.mpeg2].first { counts[$0, default: 0] > 0 } ?? Self.mpeg1
    }

    mutating func beginPacket(_ bytes: [UInt8], in payload: Range<Int>) {
        if let code = AnnexB.nextStartCode(bytes, from: payload.lowerBound, to: payload.upperBound - 2),
            let found = Self.codec(bytes[code + 3], bytes[code + 4])
        {
            accessUnits += 1
            announced = announced ?? found
        }
        scan(bytes, in: payload)
    }

    /// Scans the payload of a transport packet; a start code that two packets share is missed.
    mutating func scan(_ bytes: [UInt8], in payload: Range<Int>) {
        var offset = payload.lowerBound
        var headerEnd: Int?
        while let code = AnnexB.nextStartCode(bytes, from: offset, to: payload.upperBound - 1) {
            hasStartCode = true
            let value = bytes[code + 3]
            if let type = Self.streamType(value) { counts[type, default: 0] += 1 }
            // An MPEG-1 picture header and the first slice; neither is a NAL unit header.
            if value == 0x01, let headerEnd, code <= headerEnd { counts[Self.mpeg1, default: 0] += 1 }
            headerEnd = value == 0x00 ? code + Self.longestHeader : nil
            offset = code + 3
        }
    }

    /// The size of an MPEG-1 picture header with both motion vectors (ISO/IEC 11172-2 §2.4.2.5).
    private static let longestHeader = 10

    /// The stream type whose header has a start code; nil if it proves nothing.
    private static func streamType(_ code: UInt8) -> UInt8? {
        switch code {
        case 0xB3, 0xB8: mpeg1  // sequence header, group of pictures: MPEG-2 too
        case 0xB5: mpeg2  // extension: MPEG-4 too
        case 0xB6: mpeg4  // video object plane
        default: nil
        }
    }

    /// The codec by the first NAL unit header of an access unit; nil for a slice of a picture that refers to others.
    private static func codec(_ first: UInt8, _ second: UInt8) -> VideoConfiguration.Codec? {
        // VPS, SPS, PPS, access unit delimiter and prefix SEI of layer 0 and temporal sub-layer 0.
        if second == 1, first & 0x81 == 0, [32, 33, 34, 35, 39].contains(first >> 1) { return .hevc }
        let isReference = first & 0x60 != 0
        switch first & 0x9F {
        case 5, 7, 8: return isReference ? .h264 : nil  // IDR, SPS, PPS
        case 6, 9: return isReference ? nil : .h264  // SEI, access unit delimiter
        default: return nil
        }
    }
}
