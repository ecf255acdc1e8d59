import Media

/// A PES packet or a section that is sent as a whole. Its bytes are made when they are written.
struct TransportUnit {
    enum Kind: Equatable {
        case video(isRandomAccessPoint: Bool)
        case audio
        case other
    }

    let pid: UInt16
    /// The decode time of the video with which the unit is sent.
    let time: Ticks
    let kind: Kind
    /// Bytes of `payload`.
    let byteCount: Int
    /// Bytes at the beginning of `payload` that are not spread over more packets than necessary: the header of a PES
    /// packet, or all of a section.
    let headerSize: Int
    /// Makes the bytes. The payload of a section includes pointer_field and stuffing.
    let payload: () -> [UInt8]

    init(pid: UInt16, time: Ticks, kind: Kind, packet: PESPacketWriter) {
        self.pid = pid
        self.time = time
        self.kind = kind
        byteCount = packet.headerSize + packet.payloadSize
        headerSize = packet.headerSize
        payload = { packet.bytes }
    }

    /// A splice_info_section in packets of its own.
    init(section: [UInt8], at time: Ticks) {
        let bytes = TransportPacketWriter.payload(ofSection: section)
        pid = TransportPID.spliceInformation
        self.time = time
        kind = .other
        byteCount = bytes.count
        headerSize = bytes.count
        payload = { bytes }
    }
}
