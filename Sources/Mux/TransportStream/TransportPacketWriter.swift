import Media
import Support

/// Splits PES packets and sections into transport packets (ISO/IEC 13818-1 §2.4.3) and counts the packets of each PID.
///
/// The packets of every PID can be filled up to a multiple of 16. The continuity counters then begin at 0 again, so that
/// any chunk may follow any other (ISO/IEC 13818-1 §2.4.3.3).
struct TransportPacketWriter {
    static let payloadSize = 184
    static let counterPeriod = 16

    private(set) var bytes: [UInt8] = []
    /// Packets with payload so far.
    private var counts: [UInt16: Int] = [:]
    /// The PIDs whose next packet does not follow the last one's counter.
    private var skipped: Set<UInt16> = []

    init() {}

    /// - Parameter buffer: an array whose memory is used; empty afterwards.
    init(in buffer: inout [UInt8]) {
        swap(&bytes, &buffer)
        bytes.removeAll(keepingCapacity: true)
    }

    mutating func removeBytes() -> [UInt8] {
        defer { bytes = [] }
        return bytes
    }

    /// Reserves an eighth more where the memory is too small, so that it serves for somewhat larger segments too.
    mutating func reserveCapacity(_ byteCount: Int) {
        if bytes.capacity < byteCount { bytes.reserveCapacity(byteCount + byteCount / 8) }
    }

    /// Skips `count` values of the continuity counter of a PID. Its next packet says so, and has an adaptation field for it:
    /// it must not be full (ISO/IEC 13818-1 §2.4.3.5).
    mutating func skipCounter(of pid: UInt16, by count: Int) {
        guard count > 0 else { return }
        counts[pid, default: 0] += count
        skipped.insert(pid)
    }

    /// Appends a PES packet or a section.
    /// - Parameters:
    ///   - payload: those of a section begin with the pointer_field.
    ///   - clock: PCR of the first packet.
    ///   - isRandomAccessPoint: sets random_access_indicator in the first packet.
    ///   - extra: number of packets over which the payload is spread in addition. Each packet after the first has a byte of
    ///     it at least, so the payload has a byte for each.
    mutating func append(
        _ payload: [UInt8], on pid: UInt16, clock: Ticks? = nil, isRandomAccessPoint: Bool = false, extra: Int = 0
    ) {
        let field = Self.adaptationField(
            clock: clock, isRandomAccessPoint: isRandomAccessPoint, isDiscontinuous: skipped.remove(pid) != nil)
        let firstRoom = Self.firstRoom(field)
        let count = counts[pid, default: 0]
        let packets =
            extra
            + Self.packetCount(
                forPayloadOf: payload.count, hasClock: clock != nil, isRandomAccessPoint: isRandomAccessPoint)
        var sent = 0
        StepCounter.add(payload.count + packets * PacketStride.packetSize)
        for index in 0..<packets {
            let room = index == 0 ? firstRoom : Self.payloadSize
            // Each of the following packets keeps one byte at least.
            let size = max(0, min(room, payload.count - sent - (packets - 1 - index)))
            appendHeader(
                pid, startsUnit: index == 0, counter: count + index, hasField: size < Self.payloadSize, hasPayload: true
            )
            appendAdaptationField(index == 0 ? field : [], stuffing: room - size)
            bytes.append(contentsOf: payload[sent..<sent + size])
            sent += size
        }
        counts[pid] = count + packets
    }

    /// Returns the smallest number of packets for a payload.
    static func packetCount(forPayloadOf size: Int, hasClock: Bool, isRandomAccessPoint: Bool) -> Int {
        let room = firstRoom(
            adaptationField(clock: hasClock ? .zero : nil, isRandomAccessPoint: isRandomAccessPoint))
        return 1 + (max(0, size - room) + payloadSize - 1) / payloadSize
    }

    /// Payload bytes in a first packet with `field`.
    private static func firstRoom(_ field: [UInt8]) -> Int { payloadSize - (field.isEmpty ? 0 : field.count + 1) }

    /// Appends a packet without payload that only carries PCR. It does not advance the continuity counter.
    mutating func append(clock: Ticks, on pid: UInt16) {
        let field = Self.adaptationField(clock: clock, isRandomAccessPoint: false)
        let last = counts[pid, default: 0] + Self.counterPeriod - 1
        appendHeader(pid, startsUnit: false, counter: last, hasField: true, hasPayload: false)
        appendAdaptationField(field, stuffing: Self.payloadSize - field.count - 1)
    }

    private mutating func appendHeader(
        _ pid: UInt16, startsUnit: Bool, counter: Int, hasField: Bool, hasPayload: Bool
    ) {
        let control: UInt8 = (hasField ? 0x20 : 0) | (hasPayload ? 0x10 : 0)
        bytes.append(0x47)
        bytes.append((startsUnit ? 0x40 : 0) | UInt8(pid >> 8))
        bytes.append(UInt8(truncatingIfNeeded: pid))
        bytes.append(control | UInt8(counter & (Self.counterPeriod - 1)))
    }

    /// Appends the length and the field, which ends with `stuffing` bytes. Nothing is appended for an empty field.
    private mutating func appendAdaptationField(_ field: [UInt8], stuffing: Int) {
        let size = (field.isEmpty ? 0 : field.count + 1) + stuffing
        guard size > 0 else { return }
        bytes.append(UInt8(size - 1))
        guard size > 1 else { return }
        bytes.append(contentsOf: field.isEmpty ? [0] : field)
        bytes.append(contentsOf: repeatElement(0xFF, count: size - 1 - max(1, field.count)))
    }

    /// adaptation_field() without its length; empty if there is nothing to carry (§2.4.3.4).
    private static func adaptationField(
        clock: Ticks?, isRandomAccessPoint: Bool, isDiscontinuous: Bool = false
    ) -> [UInt8] {
        guard clock != nil || isRandomAccessPoint || isDiscontinuous else { return [] }
        let flags: UInt8 =
            (isDiscontinuous ? 0x80 : 0) | (isRandomAccessPoint ? 0x40 : 0) | (clock == nil ? 0 : 0x10)
        guard let base = clock?.wire.count else { return [flags] }
        // program_clock_reference_base has 33 bits; six reserved bits and an extension of 0 follow.
        let high = (0..<4).map { UInt8(truncatingIfNeeded: base >> Int64(25 - 8 * $0)) }
        return [flags] + high + [UInt8(base & 1) << 7 | 0x7E, 0]
    }
}
