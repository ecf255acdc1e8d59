import Support

/// Counts what a parser drops beyond its limits.
struct LimitMeter: Equatable, Sendable {
    let limits: PlaylistLimits
    /// The number of dropped units by limit.
    private(set) var dropped: [PlaylistLimit: Int] = [:]

    init(_ limits: PlaylistLimits) { self.limits = limits }

    mutating func drop(_ limit: PlaylistLimit, count: Int = 1) { dropped[limit, default: 0] += count }

    /// Appends an element, unless the array has reached a limit.
    mutating func append<Element>(_ element: Element, to elements: inout [Element], limit: PlaylistLimit) {
        if elements.count < limits[limit] { elements.append(element) } else { drop(limit) }
    }

    /// Throws at every few thousand lines if the task was canceled.
    static func checkCancellation(at line: PlaylistLine) throws(PlaylistError) {
        guard line.number & 0xFFF == 0, StepCounter.isTaskCanceled() else { return }
        throw PlaylistError(.canceled, .extm3u, line: line.number)
    }
}
