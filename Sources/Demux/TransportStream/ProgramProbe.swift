import Media
import Metering

/// Detects streams without tables, by the stream_id of their PES packets and the bytes of the payload.
struct ProgramProbe {
    /// Video by PID, and the PIDs in the order of their first PES packets.
    private var video: [UInt16: VideoProbe] = [:]
    private var videoPIDs: [UInt16] = []
    private var audio: ProgramSelection.Stream?

    init(_ bytes: [UInt8], blocks: [PacketBlock]) throws(MediaError) {
        for block in blocks where !block.hasBadSyncBytes {
            try MediaError.checkCancellation()
            StepCounter.add(block.count)
            for index in 0..<block.count {
                let packet = TransportPacket(bytes, at: block[index])
                guard packet.isReadable else { continue }
                if packet.startsUnit {
                    readHeader(of: packet, bytes)
                } else {
                    video[packet.pid]?.scan(bytes, in: packet.payload)
                }
            }
        }
    }

    /// Returns the first video and audio streams that are supported.
    /// - Throws: If there is none.
    func selection(tracks: TrackSelection) throws(MediaError) -> ProgramSelection {
        let formats = tracks == .audio ? [] : videoPIDs.compactMap { pid in video[pid]?.format.map { (pid, $0) } }
        let supported = formats.lazy.compactMap { pid, format in
            format.codec.map { ProgramSelection.Stream(pid: pid, kind: .video($0)) }
        }
        var selection = ProgramSelection(
            programNumber: 0, video: supported.first, audio: tracks == .video ? nil : audio)
        let unsupported = formats.compactMap(\.1.unsupportedType)
        selection.unsupportedVideo = unsupported.compactMap(StreamTypeName.name(of:))
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
