/// Why an engine did not do what it was asked.
package struct EngineError: Error, Equatable, Sendable {
    package enum Reason: Equatable, Sendable {
        /// No member of the engine answered.
        case unreachable(String)
        /// An answer of 4xx or 5xx, or one that cannot be read.
        case refused(status: Int, words: String)
        /// The engine fails the probe, as `what` says.
        case unfit(String)
    }

    package let reason: Reason

    package init(_ reason: Reason) { self.reason = reason }

    /// One sentence about the failure.
    package var message: String {
        switch reason {
        case .unreachable(let words): "The engine of the fleet cannot be reached\(words.isEmpty ? "" : " (\(words))")."
        case .refused(let status, let words): "The engine of the fleet refuses a request (\(status) \(words))."
        case .unfit(let what): "The engine cannot coordinate a fleet: \(what)"
        }
    }
}

/// The engine that stores the records of a fleet.
package protocol FleetEngine: Sendable {
    /// Writes the node's own record unless a newer one of the node is there, then reads all records.
    /// - Parameter sentAt: when the request is sent, which the view carries.
    func beat(_ record: NodeRecord, sentAt: Duration) async throws(EngineError) -> FleetView

    /// Creates a record if its key is absent, and reads it back if the answer is anything but a success.
    /// - Returns: whether the record of that epoch is this one; nil if that is unknown, or if there is none.
    func create(_ record: OwnerRecord) async -> Bool?

    /// Removes the records of nodes.
    func removeNodes(_ nodes: [String]) async

    /// Removes all records of a subject.
    func removeSubject(_ subject: String) async
}

/// Finds out whether an engine creates a record once.
///
/// Several object stores accept a second creation, and some do so only if the requests come at the same time.
package enum EngineProbe {
    private static let rivals: UInt64 = 8

    /// - Parameter name: differs for each probe.
    package static func run(_ engine: some FleetEngine, name: String) async throws(EngineError) {
        let subject = "@probe-\(name)"
        @Sendable func record(_ attempt: UInt64, _ epoch: UInt64) -> OwnerRecord {
            OwnerRecord(subject: subject, epoch: epoch, node: "probe", attempt: attempt, base: 0)
        }
        let failure = await judge(engine, record)
        await engine.removeSubject(subject)
        if let failure { throw failure }
    }

    private static func judge(
        _ engine: some FleetEngine, _ record: @escaping @Sendable (UInt64, UInt64) -> OwnerRecord
    ) async -> EngineError? {
        guard let first = await engine.create(record(1, 1)) else {
            return EngineError(.unreachable("a record cannot be created"))
        }
        guard first else { return EngineError(.unfit("a new record was not created")) }
        if await engine.create(record(2, 1)) != false {
            return EngineError(.unfit("it creates a record that is there already."))
        }
        let winners = await withTaskGroup(of: Bool.self) { group in
            for attempt in 1...rivals { group.addTask { await engine.create(record(attempt, 2)) == true } }
            return await group.reduce(0) { $0 + ($1 ? 1 : 0) }
        }
        if winners > 1 {
            return EngineError(.unfit("of \(rivals) requests that create a record at once, it accepts \(winners)."))
        }
        return winners == 1 ? nil : EngineError(.unfit("it accepts none of several requests that create a record."))
    }
}
