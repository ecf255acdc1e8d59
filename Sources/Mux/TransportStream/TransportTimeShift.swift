package import Media

/// Moves the times in packets written by `TransportStreamMuxer`: PCR, PTS, DTS and pts_adjustment.
package struct TransportTimeShift {
    /// The size of a PES header up to the end of DTS (ISO/IEC 13818-1 §2.4.3.6).
    private static let headerSize = 19

    private let shift: Ticks
    private var bytes: [UInt8]
    /// For each PID, the positions of the bytes of the current PES header or section. A header may be split over
    /// several packets, because chunks are filled up to multiples of 16 packets.
    private var places: [UInt16: [Int]] = [:]

    /// Whole chunks with all times `shift` earlier.
    package static func packets(_ chunks: ArraySlice<UInt8>, earlierBy shift: Ticks) -> [UInt8] {
        guard shift != .zero else { return Array(chunks) }
        var shifter = TransportTimeShift(shift: shift, bytes: Array(chunks))
        for packet in stride(from: 0, to: shifter.bytes.count, by: PacketStride.packetSize) {
            shifter.read(packetAt: packet)
        }
        for pid in Array(shifter.places.keys) { shifter.endUnit(of: pid) }
        return shifter.bytes
    }

    /// Packets that carry only a PCR. They may follow any chunk.
    /// - Parameter times: decode times; PCR is earlier by the lead.
    package static func clock(_ times: Range<Ticks>, of program: TransportProgram) -> [UInt8] {
        let interval = TransportChunkWriter.longestClockInterval.count
        var writer = TransportPacketWriter()
        for time in stride(from: times.lowerBound.count, to: times.upperBound.count, by: Int(interval)) {
            writer.append(clock: Ticks(time) - TransportStreamMuxer.lead, on: program.clockPID)
        }
        return writer.bytes
    }

    /// The size of `clock(_:of:)` for a time of this duration.
    package static func clockByteCount(lasting duration: Ticks) -> Int {
        let interval = TransportChunkWriter.longestClockInterval.count
        return Int((duration.count + interval - 1) / interval) * PacketStride.packetSize
    }

    /// Whole null packets (ISO/IEC 13818-1 §2.4.3.3) of `byteCount` bytes in total.
    package static func nullPackets(_ byteCount: Int) -> [UInt8] {
        var bytes = [UInt8](repeating: 0xFF, count: byteCount)
        for packet in stride(from: 0, to: byteCount - 3, by: PacketStride.packetSize) {
            bytes.replaceSubrange(packet..<packet + 4, with: [0x47, 0x1F, 0xFF, 0x10])
        }
        return bytes
    }

    private init(shift: Ticks, bytes: [UInt8]) {
        self.shift = shift
        self.bytes = bytes
    }

    private mutating func read(packetAt start: Int) {
        let pid = UInt16(bytes[start + 1] & 0x1F) << 8 | UInt16(bytes[start + 2])
        var payload = start + 4
        if bytes[start + 3] & 0x20 != 0 {
            let length = Int(bytes[payload])
            if length >= 7, bytes[payload + 1] & 0x10 != 0 { moveClock(at: payload + 2) }
            payload += 1 + length
        }
        guard bytes[start + 3] & 0x10 != 0, pid != TransportPID.programAssociation, pid != TransportPID.programMap
        else {
            return
        }
        if bytes[start + 1] & 0x40 != 0 { endUnit(of: pid) }
        let limit = pid == TransportPID.spliceInformation ? Int.max : Self.headerSize
        let room = limit - places[pid, default: []].count
        places[pid, default: []] += (payload..<start + PacketStride.packetSize).prefix(max(0, room))
    }

    /// program_clock_reference_base; one bit of it shares a byte with reserved bits and the extension.
    private mutating func moveClock(at place: Int) {
        let base = bytes[place..<place + 4].reduce(Int64(0)) { $0 << 8 | Int64($1) } << 1 | Int64(bytes[place + 4] >> 7)
        let moved = (Ticks(base) - shift).wire.count
        for index in 0..<4 { bytes[place + index] = UInt8(truncatingIfNeeded: moved >> Int64(25 - 8 * index)) }
        bytes[place + 4] = bytes[place + 4] & 0x7F | UInt8(moved & 1) << 7
    }

    private mutating func endUnit(of pid: UInt16) {
        guard let places = places.updateValue([], forKey: pid), !places.isEmpty else { return }
        let unit = places.map { bytes[$0] }
        let moved = pid == TransportPID.spliceInformation ? section(unit) : header(unit)
        for (place, byte) in zip(places, moved) { bytes[place] = byte }
    }

    /// The payload of splice_info_sections: pointer_field, which is 0, section and stuffing.
    private func section(_ unit: [UInt8]) -> [UInt8] {
        guard unit.count > 3 else { return unit }
        let size = 3 + (Int(unit[2] & 0x0F) << 8 | Int(unit[3]))
        guard let section = try? SpliceInfoSection(Array(unit.dropFirst().prefix(size))) else { return unit }
        return [unit[0]] + section.moved(by: .zero - shift).bytes + unit.dropFirst(1 + size)
    }

    private func header(_ unit: [UInt8]) -> [UInt8] {
        var unit = unit
        let flags = unit.count > 7 ? unit[7] >> 6 : 0
        for (field, isPresent) in [(9, flags & 2 != 0), (14, flags == 3)] where isPresent && unit.count >= field + 5 {
            let bytes = unit[field..<field + 5].map(Int64.init)
            let time =
                (bytes[0] >> 1 & 7) << 30 | bytes[1] << 22 | (bytes[2] >> 1) << 15 | bytes[3] << 7 | bytes[4] >> 1
            let moved = PESPacketWriter.timestamp(Ticks(time) - shift, prefix: unit[field] >> 4)
            unit.replaceSubrange(field..<field + 5, with: moved)
        }
        return unit
    }
}

extension TransportSegment {
    /// The segment with all times in its packets earlier by `shift`. The times of the chunks stay the published times.
    package func earlier(by shift: Ticks) -> TransportSegment {
        var segment = self
        segment.bytes = TransportTimeShift.packets(bytes[...], earlierBy: shift)
        return segment
    }
}
