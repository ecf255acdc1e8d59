import Channel

/// How well a channel did, from best to worst.
enum ChannelHealth: Int, Comparable, Sendable {
    case live = 1
    case late, outage, failed

    /// nil while nothing can be said.
    init?(_ state: RelayStatus.State) {
        switch state {
        case .opening, .ended: return nil
        case .live: self = .live
        case .late: self = .late
        case .outage: self = .outage
        case .failed: self = .failed
        }
    }

    static func < (left: ChannelHealth, right: ChannelHealth) -> Bool { left.rawValue < right.rawValue }
}

/// The worst health of each channel in each five minutes of the last 24 hours.
struct HealthHistory: Codable, Equatable, Sendable {
    static let cellCount = 288
    static let cell = Duration.seconds(300)

    private struct Cells: Codable, Equatable, Sendable {
        /// One byte for each cell, at the cell's number modulo `cellCount`; 0 where the channel did not run.
        var levels = [UInt8](repeating: 0, count: HealthHistory.cellCount)
        /// The number of the newest cell.
        var newest: Int

        /// Clears the cells that have passed since the newest one.
        mutating func advance(to number: Int) {
            guard number > newest else { return }
            for passed in max(newest + 1, number - HealthHistory.cellCount + 1)...number {
                levels[passed % HealthHistory.cellCount] = 0
            }
            newest = number
        }

        /// The levels up to a cell, the oldest first, as digits.
        func text(until number: Int) -> String {
            var cells = self
            cells.advance(to: number)
            let first = number - HealthHistory.cellCount + 1
            let levels = (first...number).map { $0 < 0 ? 0 : cells.levels[$0 % HealthHistory.cellCount] }
            return levels.map { "\($0)" }.joined()
        }
    }

    private var channels: [String: Cells] = [:]

    /// - Parameter time: since the history began; never less than before.
    mutating func record(_ healths: [String: ChannelHealth], at time: Duration) {
        let number = Self.number(at: time)
        for (name, health) in healths {
            var cells = channels.removeValue(forKey: name) ?? Cells(newest: number)
            cells.advance(to: number)
            let place = number % Self.cellCount
            cells.levels[place] = max(cells.levels[place], UInt8(health.rawValue))
            channels[name] = cells
        }
        // A channel that left the list is forgotten after a day.
        channels = channels.filter { number - $0.value.newest < Self.cellCount }
    }

    /// The cells of each channel that ran, the oldest first: `0` it did not run, `1` live, `2` late, `3` outage,
    /// `4` failed.
    func texts(at time: Duration, of isListed: (String) -> Bool) -> [String: String] {
        let number = Self.number(at: time)
        return channels.filter { isListed($0.key) }.mapValues { $0.text(until: number) }
    }

    private static func number(at time: Duration) -> Int { Int(time / cell) }
}
