import Media

// Measures how long a transport stream plays, by the timestamps of its PES packets. Used only if nothing else tells where
// the body ends: cut between two transport packets, its structure is whole.

extension [UInt8] {
    /// Whether the bytes are a clear transport stream that plays for much shorter than `duration`.
    ///
    /// The last PES packet of each stream counts as nothing, and EXTINF may be rounded, so half a second or an eighth of
    /// the duration may be missing.
    package func isShort(of duration: Duration) -> Bool {
        guard let playingTime = transportPlayingTime else { return false }
        return playingTime + Swift.max(.milliseconds(500), duration / 8) < duration
    }

    /// The longest time between two timestamps of one stream (ISO/IEC 13818-1 §2.4.3.7); nil for another format, or
    /// without timestamps.
    private var transportPlayingTime: Duration? {
        let packetSize = PacketStride.packetSize
        guard count >= packetSize, count % packetSize == 0, self[0] == PacketStride.syncByte else { return nil }
        var spans: [UInt16: TimestampSpan] = [:]
        for offset in stride(from: 0, to: count, by: packetSize) {
            guard self[offset] == PacketStride.syncByte else { return nil }
            guard let time = timestamp(ofPacketAt: offset) else { continue }
            let pid = UInt16(self[offset + 1] & 0x1F) << 8 | UInt16(self[offset + 2])
            spans[pid, default: TimestampSpan(first: time)].extend(to: time)
        }
        return spans.values.map(\.length).max().map { .microseconds($0 * 100 / 9) }
    }

    /// Returns the PTS of the PES packet that begins in the packet at `offset`; nil if none does.
    private func timestamp(ofPacketAt offset: Int) -> Int64? {
        guard self[offset + 1] & 0x40 != 0, self[offset + 3] & 0xD0 == 0x10 else { return nil }
        let end = offset + PacketStride.packetSize
        let payload = offset + 4 + (self[offset + 3] & 0x20 != 0 ? 1 + Int(self[offset + 4]) : 0)
        guard payload + 14 <= end, self[payload..<payload + 3].elementsEqual([0, 0, 1]),
            self[payload + 6] & 0xC0 == 0x80, self[payload + 7] & 0x80 != 0
        else { return nil }
        let bytes = self[payload + 9..<payload + 14].map { Int64($0) }
        let high = (bytes[0] >> 1 & 7) << 30
        let middle = bytes[1] << 22 | (bytes[2] >> 1) << 15
        return high | middle | bytes[3] << 7 | bytes[4] >> 1
    }
}

/// The timestamps of one stream, which count modulo 2³³.
private struct TimestampSpan {
    private let first: Int64
    private var earliest: Int64 = 0
    private var latest: Int64 = 0

    init(first: Int64) { self.first = first }

    /// Time from the earliest to the latest, in 90 kHz ticks.
    var length: Int64 { latest - earliest }

    mutating func extend(to time: Int64) {
        let wrap: Int64 = 1 << 33
        let ahead = (time - first) & (wrap - 1)
        let distance = ahead < wrap / 2 ? ahead : ahead - wrap
        earliest = min(earliest, distance)
        latest = max(latest, distance)
    }
}
