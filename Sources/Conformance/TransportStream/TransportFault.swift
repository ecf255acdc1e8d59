/// A violation that `TransportChecker` found, and where.
package struct TransportFault: Equatable, Sendable {
    package let indicator: TransportIndicator
    /// Number of packets before the one at which the fault was noticed.
    package let packet: Int
    /// Number of bytes before that packet.
    package let offset: Int
    /// nil if the fault belongs to no PID.
    package let pid: UInt16?
    /// What was found; one line.
    package let message: String
}

/// A transport packet's position in the stream.
struct PacketPlace: Equatable, Sendable {
    var number: Int
    var offset: Int
}

/// The faults found since the last call of the checker, and how many there were of each kind.
struct FaultLog: Sendable {
    /// Number of faults of one indicator that are kept; later ones are only counted.
    let limit: Int
    private(set) var counts: [TransportIndicator: Int] = [:]
    private var faults: [TransportFault] = []

    init(limit: Int) { self.limit = limit }

    mutating func add(
        _ indicator: TransportIndicator, at place: PacketPlace, pid: UInt16? = nil,
        _ message: @autoclosure () -> String
    ) {
        let count = counts[indicator, default: 0]
        counts[indicator] = count + 1
        guard count < limit else { return }
        faults.append(
            TransportFault(
                indicator: indicator, packet: place.number, offset: place.offset, pid: pid, message: message()))
    }

    /// Removes and returns the kept faults, in the order in which they were found.
    mutating func removeAll() -> [TransportFault] {
        defer { faults = [] }
        return faults
    }
}
