/// Entries that become visible after the own record with them was written and read.
struct EntryAdmission: Equatable, Sendable {
    private struct Pending: Equatable {
        let number: UInt64
        /// The counter of the first own record with the entry; nil: not written yet.
        var counter: UInt64?
    }

    private var pending: [String: Pending] = [:]
    /// The newest entry of each channel that may be visible.
    private var visible: [String: PublishedMark] = [:]

    /// Begins with what another owner published last.
    mutating func begin(_ channel: String, after mark: PublishedMark?) { visible[channel] = mark }

    mutating func prepare(_ channel: String, _ number: UInt64) { pending[channel] = Pending(number: number) }

    /// Records that the own record of that counter has the entries that were ready.
    mutating func write(_ counter: UInt64) {
        for channel in pending.keys where pending[channel]?.counter == nil { pending[channel]?.counter = counter }
    }

    /// Admits the entry of a channel if the record of that counter has it.
    /// - Returns: the number of the entry; nil if none becomes visible.
    mutating func admit(_ channel: String, readAt counter: UInt64, newest mark: PublishedMark?) -> UInt64? {
        guard let entry = pending[channel], let written = entry.counter, written <= counter else { return nil }
        pending[channel] = nil
        visible[channel] = mark
        return entry.number
    }

    /// Channels with an entry that is not visible yet, in order.
    var channels: [String] { pending.keys.sorted() }

    /// Withdraws an entry that was recorded and that no viewer saw.
    /// - Parameter mark: the newest entry in the own record, which becomes the newest visible one.
    mutating func withdraw(_ channel: String, from mark: inout PublishedMark?) {
        if pending.removeValue(forKey: channel) != nil { mark = visible[channel] }
    }
}
