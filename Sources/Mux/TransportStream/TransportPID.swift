/// The packet identifiers of the program. They never change: players that find another PID after a splice lose the
/// stream.
package enum TransportPID {
    package static let programAssociation: UInt16 = 0x0000
    package static let programMap: UInt16 = 0x1000
    package static let video: UInt16 = 0x0100
    package static let timedMetadata: UInt16 = 0x0102
    package static let spliceInformation: UInt16 = 0x0103

    /// - Parameter index: 0 is the channel's main audio.
    package static func audio(_ index: Int) -> UInt16 { index == 0 ? 0x0101 : 0x0110 + UInt16(index) }
}
