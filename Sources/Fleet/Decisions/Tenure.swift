/// The state of one subject between the attempt of this node to take it and its release.
enum Tenure: Equatable, Sendable {
    /// The owner of the epoch before.
    struct Previous: Equatable, Sendable {
        let node: String
        let epoch: UInt64
        /// The counter when this node decided to take the channel; nil: the owner was not silent.
        let counter: UInt64?
    }

    /// `.create` was sent, or its outcome is unknown.
    case creating(OwnerRecord, previous: Previous?)
    /// The record was created at that time. A view that is requested afterwards confirms it.
    case created(OwnerRecord, previous: Previous?, at: Duration)
    case held(OwnerRecord)
    /// `.stop` was sent.
    case stopping(OwnerRecord)
    case released(OwnerRecord, at: Duration)

    var record: OwnerRecord {
        switch self {
        case .creating(let record, _), .created(let record, _, _), .held(let record), .stopping(let record),
            .released(let record, _):
            record
        }
    }

    /// Whether the tenure is about to begin or to end.
    var isOpen: Bool {
        switch self {
        case .creating, .created, .stopping: true
        case .held, .released: false
        }
    }
}
