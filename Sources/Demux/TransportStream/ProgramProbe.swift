import Media

/// Detects streams without tables, by the stream_id of their PES packets and the first bytes of the payload.
enum ProgramProbe {
    static func selection(_ bytes: [UInt8], blocks: [PacketBlock], tracks: TrackSelection) -> ProgramSelection? {
        var video: ProgramSelection.Stream?
        var audio: ProgramSelection.Stream?
        for block in blocks where !block.hasBadSyncBytes {
            for index in 0..<block.count {
                let packet = TransportPacket(bytes, at: block[index])
                guard packet.startsUnit, !packet.isScrambled, !packet.hasError else { continue }
                guard let kind = kind(bytes[packet.payload]) else { continue }
                let stream = ProgramSelection.Stream(pid: packet.pid, kind: kind)
                if kind.isVideo { video = video ?? stream } else { audio = audio ?? stream }
            }
        }
        let selectedVideo = tracks == .audio ? nil : video
        let selectedAudio = tracks == .video ? nil : audio
        guard selectedVideo != nil || selectedAudio != nil else { return nil }
        return ProgramSelection(programNumber: 0, video: selectedVideo, audio: selectedAudio)
    }

    private static func kind(_ packet: ArraySlice<UInt8>) -> ElementaryStreamKind? {
        guard case .header(let header) = PESHeader.read(packet) else { return nil }
        let payload = Array(packet.dropFirst(header.size))
        switch header.streamID {
        case 0xE0...0xEF: return video(payload)
        case 0xC0...0xDF, 0xBD: return audio(payload)
        default: return nil
        }
    }

    private static func video(_ payload: [UInt8]) -> ElementaryStreamKind? {
        var units: [NALUnit] = []
        AnnexB.scan(payload, in: payload.indices, into: &units)
        guard let first = units.first, first.end > first.start + 1 else { return nil }
        // An HEVC NAL unit header ends with nuh_temporal_id_plus1, and the first units of a stream are VPS, SPS, PPS or
        // AUD.
        let isHEVC = payload[first.start + 1] == 1 && (32...35).contains(payload[first.start] >> 1)
        return .video(isHEVC ? .hevc : .h264)
    }

    private static func audio(_ payload: [UInt8]) -> ElementaryStreamKind? {
        for framing in [AudioFraming.mpeg, .ac3, .loas] {
            if case .frame = framing.header(payload, at: 0, end: payload.count) { return .audio(framing) }
        }
        return nil
    }
}
