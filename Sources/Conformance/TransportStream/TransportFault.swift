/// A violation that `TransportChecker` found, and where.
package struct TransportFault: Equatable, Sendable {
    package let indicator: TransportIndicator
    /// Number of packets before the one at which the fault was noticed.
    package let packet: Int
    /// Byte offset of that packet in the stream.
    package let offset: Int
    package let pid: UInt16?
    package let message: String
}

/// A transport packet's position in the stream.
struct PacketPlace: Equatable, Sendable {
    var number: Int
    var offset: Int
}

/// The faults found since the last call of the checker, and the number of faults of each kind.
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

/// The measurements of ETSI TR 101 290 §5.2 that `TransportChecker` makes, by their numbers in that document.
package enum TransportIndicator: String, CaseIterable, Sendable {
    case syncLoss = "1.1"
    case syncByte = "1.2"
    case association = "1.3"
    case continuity = "1.4"
    case map = "1.5"
    case missingPID = "1.6"
    case transport = "2.1"
    case checksum = "2.2"
    case clockRepetition = "2.3a"
    case clockDiscontinuity = "2.3b"
    case presentationTime = "2.5"
    case conditionalAccess = "2.6"
    case bufferUnderflow = "3.3"
    case dataDelay = "3.10"

    package var name: String {
        switch self {
        case .syncLoss: "TS_sync_loss"
        case .syncByte: "Sync_byte_error"
        case .association: "PAT_error"
        case .continuity: "Continuity_count_error"
        case .map: "PMT_error"
        case .missingPID: "PID_error"
        case .transport: "Transport_error"
        case .checksum: "CRC_error"
        case .clockRepetition: "PCR_repetition_error"
        case .clockDiscontinuity: "PCR_discontinuity_indicator_error"
        case .presentationTime: "PTS_error"
        case .conditionalAccess: "CAT_error"
        case .bufferUnderflow: "Buffer_error"
        case .dataDelay: "Data_delay_error"
        }
    }

    /// The priority in TR 101 290: 1 is needed for decoding, 2 is to be watched always, 3 depends on the application.
    package var priority: Int {
        switch self {
        case .syncLoss, .syncByte, .association, .continuity, .map, .missingPID: 1
        case .bufferUnderflow, .dataDelay: 3
        default: 2
        }
    }
}

/// The extent of the judged stream, and the number of its faults.
package struct TransportReport: Equatable, Sendable {
    package let packets: Int
    package let bytes: Int
    package let programs: Int
    /// The PID whose PCRs measure the times of the PAT; nil if the stream contains no PCR.
    package let clockPID: UInt16?
    /// The time from the first PCR of that PID to its last one.
    package let duration: Duration
    /// Number of PES packets and sections whose time of arrival was not judged, because no PCR came.
    package let unjudged: Int
    package let counts: [TransportIndicator: Int]

    package var faults: Int { counts.values.reduce(0, +) }
}
