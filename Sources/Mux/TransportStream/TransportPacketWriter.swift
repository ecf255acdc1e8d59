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
    /// The PIDs whose next packet skips values of the continuity counter.
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

    /// If the storage is too small, reserves an eighth more, so that the storage also suffices for somewhat larger
    /// segments.
    mutating func reserveCapacity(_ byteCount: Int) {
        if bytes.capacity < byteCount { bytes.reserveCapacity(byteCount + byteCount / 8) }
    }

    /// Skips `count` values of the continuity counter of a PID. The PID's next packet announces the skip in an
    /// adaptation field, so the packet must have room for one (ISO/IEC 13818-1 §2.4.3.5).
    mutating func skipCounter(of pid: UInt16, by count: Int) {
        guard count > 0 else { return }
        counts[pid, default: 0] += count
        skipped.insert(pid)
    }

    /// Appends a PES packet or a section.
    /// - Parameters:
    ///   - payload: the bytes; the payload of a section begins with the pointer_field.
    ///   - clock: PCR of the first packet.
    ///   - isRandomAccessPoint: sets random_access_indicator in the first packet.
    ///   - extra: number of additional packets over which the payload is spread. Each packet after the first carries at
    ///     least one byte, so the payload must contain a byte for each.
    mutating func append(
        _ payload: [UInt8], on pid: UInt16, clock: Ticks? = nil, isRandomAccessPoint: Bool = false, extra: Int = 0
    ) {
        let field = AdaptationField(
            clock: clock, isRandomAccessPoint: isRandomAccessPoint, isDiscontinuous: skipped.remove(pid) != nil)
        let count = counts[pid, default: 0]
        let packets =
            extra
            + Self.packetCount(
                forPayloadOf: payload.count, hasClock: clock != nil, isRandomAccessPoint: isRandomAccessPoint)
        StepCounter.add(payload.count + packets * PacketStride.packetSize)
        let start = appendPackets(packets)
        // Without a slice for each packet, whose reference would cost more than its bytes do.
        unsafe payload.withUnsafeBytes { payload in
            unsafe bytes.withUnsafeMutableBytes { bytes in
                var sent = 0
                for index in 0..<packets {
                    let field = index == 0 ? field : AdaptationField()
                    let room = Self.payloadSize - field.byteCount
                    // Each of the following packets keeps at least one byte.
                    let size = max(0, min(room, payload.count - sent - (packets - 1 - index)))
                    let header = Self.header(
                        pid, startsUnit: index == 0, counter: count + index, hasField: size < Self.payloadSize,
                        hasPayload: true)
                    let packet = start + index * PacketStride.packetSize
                    unsafe bytes.storeBytes(of: header.bigEndian, toByteOffset: packet, as: UInt32.self)
                    unsafe field.write(to: bytes, at: packet + 4, stuffing: room - size)
                    let end = packet + PacketStride.packetSize
                    unsafe UnsafeMutableRawBufferPointer(rebasing: bytes[end - size..<end])
                        .copyMemory(from: UnsafeRawBufferPointer(rebasing: payload[sent..<sent + size]))
                    sent += size
                }
            }
        }
        counts[pid] = count + packets
    }

    /// Appends packets of 0xFF, which stuffing has.
    /// - Returns: the index of the first.
    private mutating func appendPackets(_ count: Int) -> Int {
        defer { bytes.append(contentsOf: repeatElement(0xFF, count: count * PacketStride.packetSize)) }
        return bytes.count
    }

    /// Returns the smallest number of packets for a payload.
    static func packetCount(forPayloadOf size: Int, hasClock: Bool, isRandomAccessPoint: Bool) -> Int {
        let field = AdaptationField(clock: hasClock ? .zero : nil, isRandomAccessPoint: isRandomAccessPoint)
        return 1 + (max(0, size + field.byteCount - payloadSize) + payloadSize - 1) / payloadSize
    }

    /// Appends a packet without payload that only carries PCR. It does not advance the continuity counter.
    mutating func append(clock: Ticks, on pid: UInt16) {
        let field = AdaptationField(clock: clock)
        let last = counts[pid, default: 0] + Self.counterPeriod - 1
        let header = Self.header(pid, startsUnit: false, counter: last, hasField: true, hasPayload: false)
        let packet = appendPackets(1)
        unsafe bytes.withUnsafeMutableBytes { bytes in
            unsafe bytes.storeBytes(of: header.bigEndian, toByteOffset: packet, as: UInt32.self)
            unsafe field.write(to: bytes, at: packet + 4, stuffing: Self.payloadSize - field.byteCount)
        }
    }

    /// The payload of the packets of a section: pointer_field, section, and stuffing that fills the last packet
    /// (ISO/IEC 13818-1 §2.4.4). The packets have no adaptation field.
    static func payload(ofSection section: [UInt8]) -> [UInt8] {
        let size = (1 + section.count + payloadSize - 1) / payloadSize * payloadSize
        return [0] + section + [UInt8](repeating: 0xFF, count: size - 1 - section.count)
    }

    private static func header(
        _ pid: UInt16, startsUnit: Bool, counter: Int, hasField: Bool, hasPayload: Bool
    ) -> UInt32 {
        let control: UInt8 = (hasField ? 0x20 : 0) | (hasPayload ? 0x10 : 0)
        let high = UInt32(0x47) << 24 | UInt32(startsUnit ? 0x40 : 0) << 16
        return high | UInt32(pid) << 8 | UInt32(control) | UInt32(counter & (counterPeriod - 1))
    }
}

/// The content of adaptation_field() without its stuffing (ISO/IEC 13818-1 §2.4.3.4).
private struct AdaptationField {
    var clock: Ticks?
    var isRandomAccessPoint = false
    var isDiscontinuous = false

    var flags: UInt8 {
        (isDiscontinuous ? 0x80 : 0) | (isRandomAccessPoint ? 0x40 : 0) | (clock == nil ? 0 : 0x10)
    }

    /// Size of the field with its length byte; 0 if the field is empty.
    var byteCount: Int { flags == 0 ? 0 : clock == nil ? 2 : 8 }

    /// Writes the field with its length. The bytes after it are `stuffing` that belongs to it, and 0xFF already.
    @inline(__always)
    func write(to bytes: UnsafeMutableRawBufferPointer, at offset: Int, stuffing: Int) {
        let size = byteCount + stuffing
        guard size > 0 else { return }
        unsafe bytes[offset] = UInt8(size - 1)
        guard size > 1 else { return }
        unsafe bytes[offset + 1] = flags
        guard let clock else { return }
        // program_clock_reference_base of 33 bits, six reserved bits, and an extension of 0 (§2.4.3.5).
        let base = clock.wire.count
        let high = UInt32(truncatingIfNeeded: base >> 1).bigEndian
        unsafe bytes.storeBytes(of: high, toByteOffset: offset + 2, as: UInt32.self)
        unsafe bytes[offset + 6] = UInt8(base & 1) << 7 | 0x7E
        unsafe bytes[offset + 7] = 0
    }
}
