/// The measurements of ETSI TR 101 290 §5.2 that `TransportChecker` makes, by their numbers there.
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
    case clockAccuracy = "2.4"
    case presentationTime = "2.5"
    case conditionalAccess = "2.6"
    case bufferUnderflow = "3.3"
    case dataDelay = "3.10"

    /// The name in TR 101 290.
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
        case .clockAccuracy: "PCR_accuracy_error"
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
