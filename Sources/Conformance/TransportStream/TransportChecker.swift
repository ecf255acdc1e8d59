/// Judges a transport stream by ETSI TR 101 290, priorities 1 and 2, and by the buffer model in its simple form.
///
/// It reads a stream of any length in bounded memory. Time is the stream's own: its PCRs, between which bytes arrive at
/// a constant rate. A file has no times of arrival, so the accuracy of PCRs (2.4) is not judged.
///
/// The module shares only the CRC_32 with the demuxer and the multiplexer, so that a misreading of the standard in one
/// of them is not repeated here.
package struct TransportChecker: Sendable {
    /// Sync bytes in a row that begin a stream (TR 101 290 1.1).
    private static let syncBytesNeeded = 5

    private var rest: [UInt8] = []
    private var place = PacketPlace(number: 0, offset: 0)
    private var hasSync = false
    /// Whether a fault names the bytes that are searched for a packet.
    private var isLossKnown = false
    private var multiplex: MultiplexChecker

    package init(limits: TransportLimits = TransportLimits()) {
        multiplex = MultiplexChecker(limits)
    }

    /// Judges the next bytes of the stream, which may be cut anywhere.
    /// - Returns: The faults that are known now, without those that exceed `TransportLimits.faultsKept`.
    package mutating func check(_ bytes: [UInt8]) -> [TransportFault] {
        let buffer = rest.isEmpty ? bytes : rest + bytes
        let used = read(buffer.span, isLast: false)
        rest = Array(buffer[used...])
        return multiplex.faults.removeAll()
    }

    /// Judges the end of the stream. Nothing may be checked after it.
    package mutating func finish() -> [TransportFault] {
        let last = rest
        rest = []
        let count = last.count - read(last.span, isLast: true)
        if hasSync, count > 0 {
            multiplex.faults.add(.syncLoss, at: place, "the stream ends \(count) bytes after the beginning of a packet")
        } else if place.number == 0 {
            multiplex.faults.add(
                .syncLoss, at: place, "there is no packet: no 5 sync bytes with 188 bytes from one to the next")
        }
        multiplex.finish(at: place)
        return multiplex.faults.removeAll()
    }

    package var report: TransportReport {
        multiplex.report(packets: place.number, bytes: place.offset + rest.count)
    }

    private mutating func read(_ bytes: Span<UInt8>, isLast: Bool) -> Int {
        var position = 0
        while true {
            if hasSync {
                guard position + PacketFields.size <= bytes.count else { return position }
                // The byte after the packet decides whether a wrong sync byte is a loss.
                let isWrong = bytes[position] != PacketFields.syncByte
                if isWrong, !isLast, position + PacketFields.size == bytes.count { return position }
                if isWrong, losesSync(bytes, at: position) { continue }
                multiplex.check(
                    bytes.extracting(position..<(position + PacketFields.size)), at: place)
                place.number += 1
                advance(&position, by: PacketFields.size)
            } else {
                let found = firstPacket(in: bytes, from: position, isLast: isLast)
                hasSync = found.isPacket
                if hasSync { endLoss(after: found.position - position) }
                advance(&position, by: found.position - position)
                guard hasSync else { return position }
            }
        }
    }

    private mutating func advance(_ position: inout Int, by count: Int) {
        position += count
        place.offset += count
    }

    /// - Returns: Whether the packet's sync byte and the next one are wrong.
    private mutating func losesSync(_ bytes: Span<UInt8>, at position: Int) -> Bool {
        multiplex.faults.add(.syncByte, at: place, "the packet begins with \(hex(bytes[position])), not 0x47")
        let next = position + PacketFields.size
        guard next < bytes.count, bytes[next] != PacketFields.syncByte else { return false }
        multiplex.faults.add(.syncLoss, at: place, "two sync bytes in a row are wrong")
        hasSync = false
        isLossKnown = true
        multiplex.forgetPackets()
        return true
    }

    private mutating func endLoss(after skipped: Int) {
        // Bytes may have been skipped by an earlier call, too.
        if !isLossKnown, place.offset + skipped > 0 {
            let beginning = PacketPlace(number: 0, offset: 0)
            multiplex.faults.add(.syncLoss, at: beginning, "\(place.offset + skipped) bytes precede the first packet")
        }
        isLossKnown = true
    }

    /// - Returns: Where a packet begins, or the first byte that later bytes have to decide about.
    private func firstPacket(
        in bytes: Span<UInt8>, from start: Int, isLast: Bool
    ) -> (position: Int, isPacket: Bool) {
        var position = start
        while position < bytes.count {
            let last = position + (Self.syncBytesNeeded - 1) * PacketFields.size
            if hasSyncBytes(bytes, from: position, through: min(last, bytes.count - 1)) {
                if last < bytes.count { return (position, true) }
                if !isLast { return (position, false) }
                if position + PacketFields.size <= bytes.count { return (position, true) }
            }
            position += 1
        }
        return (position, false)
    }

    private func hasSyncBytes(_ bytes: Span<UInt8>, from start: Int, through end: Int) -> Bool {
        var position = start
        while position <= end {
            if bytes[position] != PacketFields.syncByte { return false }
            position += PacketFields.size
        }
        return true
    }
}

func hex(_ value: some BinaryInteger) -> String {
    let digits = String(value, radix: 16)
    return "0x" + (digits.count % 2 == 0 ? digits : "0" + digits)
}
