import Media

/// A PES packet or a section that is sent as a whole. Its bytes are made when they are written.
struct TransportUnit {
    enum Kind: Equatable {
        case video(isRandomAccessPoint: Bool)
        case audio
        case other
    }

    let pid: UInt16
    /// The decode time of the video beside which it is sent.
    let time: Ticks
    let kind: Kind
    /// Bytes that `append` appends.
    let byteCount: Int
    /// Bytes at its beginning that are not spread over more packets than they need: the header of a PES packet, all of a
    /// section.
    let headerSize: Int
    private let content: Content

    private enum Content {
        case packet(PESPacketWriter)
        /// With its pointer_field and stuffing.
        case section([UInt8])
    }

    init(pid: UInt16, time: Ticks, kind: Kind, packet: PESPacketWriter) {
        self.pid = pid
        self.time = time
        self.kind = kind
        byteCount = packet.headerSize + packet.payloadSize
        headerSize = packet.headerSize
        content = .packet(packet)
    }

    /// A splice_info_section in packets of its own.
    init(section: [UInt8], at time: Ticks) {
        let bytes = TransportPacketWriter.payload(ofSection: section)
        pid = TransportPID.spliceInformation
        self.time = time
        kind = .other
        byteCount = bytes.count
        headerSize = bytes.count
        content = .section(bytes)
    }

    /// Appends the bytes of the unit.
    func append(to bytes: inout [UInt8]) {
        switch content {
        case .packet(let packet): packet.append(to: &bytes)
        case .section(let section): bytes += section
        }
    }
}
