import Media

/// A PES packet or a section that is sent as a whole.
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
    /// A section begins with its pointer_field.
    let payload: [UInt8]
    /// Bytes at its beginning that belong into one packet: the header of a PES packet, the pointer_field of a section.
    let headerSize: Int

    /// - Parameter packet: a PES packet.
    init(pid: UInt16, time: Ticks, kind: Kind, packet: [UInt8]) {
        self.pid = pid
        self.time = time
        self.kind = kind
        payload = packet
        headerSize = PESPacketWriter.headerSize(of: packet)
    }

    /// A splice_info_section.
    init(section: [UInt8], at time: Ticks) {
        pid = TransportPID.spliceInformation
        self.time = time
        kind = .other
        payload = [0] + section
        headerSize = 1
    }
}
