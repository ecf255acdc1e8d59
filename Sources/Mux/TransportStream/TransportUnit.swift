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

    init(pid: UInt16, time: Ticks, kind: Kind, payload: [UInt8]) {
        self.pid = pid
        self.time = time
        self.kind = kind
        self.payload = payload
    }

    /// A splice_info_section.
    init(section: [UInt8], at time: Ticks) {
        self.init(pid: TransportPID.spliceInformation, time: time, kind: .other, payload: [0] + section)
    }
}
