import Support
import Synchronization

/// Texts that all nodes share. Any node may replace them.
///
/// A version of a text is a record that is created once. Of two nodes that replace the same version at once, one succeeds,
/// and the other reads the new version first.
package final class SharedTexts: Sendable {
    /// No channel and no connection of an account has such a name.
    package enum Name: String, CaseIterable, Sendable {
        /// The changes of the list that requests made.
        case channels = "#channels"
        /// The recordings that are planned.
        case recordings = "#recordings"
    }

    /// The newest version of a text that this node knows.
    private struct Version {
        let name: Name
        /// nil: there is no version.
        let record: OwnerRecord?

        var epoch: UInt64 { record?.epoch ?? 0 }
    }

    package enum Failure: Error, Equatable, Sendable {
        case tooLong(limit: Int)
        /// The engine did not say in time which version is the newest.
        case unavailable
        /// Other nodes changed the text each time before this one did.
        case contended
    }

    private struct Known {
        var record: OwnerRecord
        /// When the record was first seen.
        let since: Duration
    }

    private struct State {
        var known: [Name: Known] = [:]
        var observers: [Name: @Sendable () -> Void] = [:]
    }

    /// An engine reads all records at once, and etcd takes 1.5 MB.
    static let longestText = 512 << 10
    /// How long a change waits for the records of the engine.
    private static let patience = Duration.seconds(10)
    private static let pause = Duration.milliseconds(100)
    /// How often a change is made anew because another node was first.
    static let longestContention = 20

    private let engine: any FleetEngine
    private let clock: FleetMember.SleepingClock
    private let state = Mutex(State())

    init(_ engine: any FleetEngine, clock: FleetMember.SleepingClock) { (self.engine, self.clock) = (engine, clock) }

    /// - Parameter observer: called after each change of the text, and at once if there is a text.
    package func observe(_ name: Name, _ observer: @escaping @Sendable () -> Void) {
        let isKnown = state.withLock { state in
            state.observers[name] = observer
            return state.known[name] != nil
        }
        if isKnown { observer() }
    }

    /// The newest text that this node knows; nil: there is none.
    package func newest(_ name: Name) -> String? { version(of: name).record?.content }

    private func version(of name: Name) -> Version {
        Version(name: name, record: state.withLock { $0.known[name]?.record })
    }

    /// Changes a text. If another node is first, the change is made anew, to the text of that node.
    /// - Parameter edit: returns the value of the change, and the new text, or nil if nothing changes.
    package func change<Value>(
        _ name: Name, isolation: isolated (any Actor)? = #isolation,
        _ edit: (_ text: String?) -> (value: Value, text: String?)
    ) async throws(Failure) -> Value {
        for _ in 0..<Self.longestContention {
            let version = version(of: name)
            let (value, text) = edit(version.record?.content)
            guard let text else { return value }
            if try await replace(version, with: text) { return value }
        }
        throw .contended
    }

    /// Replaces a version.
    /// - Returns: false if the version is not the newest one. The newest one is known then.
    private func replace(_ version: Version, with text: String) async throws(Failure) -> Bool {
        guard text.utf8.count <= Self.longestText else { throw .tooLong(limit: Self.longestText) }
        let record = OwnerRecord(
            subject: version.name.rawValue, epoch: version.epoch + 1, node: "-", attempt: .random(in: 1...(1 << 53)),
            base: 0, content: text)
        if await engine.create(record) == true {
            adopt(record, as: version.name)
            return true
        }
        let deadline = clock.now() + Self.patience
        while true {
            let newest = self.version(of: version.name)
            if newest.epoch > version.epoch { return newest.record == record }
            guard clock.now() < deadline, !Task.isCancelled else { throw .unavailable }
            await clock.sleep(clock.now() + Self.pause)
        }
    }

    /// Reads the texts in the newest records. A text that the engine has lost is written again.
    func record(_ view: FleetView) {
        for name in Name.allCases {
            if let found = view.owners[name.rawValue]?.record { adopt(found, as: name) }
            let lost = state.withLock { state -> OwnerRecord? in
                guard let known = state.known[name], view.sentAt > known.since,
                    view.owners[name.rawValue]?.epoch ?? 0 < known.record.epoch
                else { return nil }
                return known.record
            }
            if let lost { Task { await engine.create(lost) } }
        }
    }

    private func adopt(_ record: OwnerRecord, as name: Name) {
        guard record.content != nil else { return }
        let observer = state.withLock { state -> (@Sendable () -> Void)? in
            guard record.epoch > state.known[name]?.record.epoch ?? 0 else { return nil }
            state.known[name] = Known(record: record, since: clock.now())
            return state.observers[name]
        }
        observer?()
    }
}
