import Support

/// Counts what a parser drops beyond its limits, and the steps that it takes.
struct LimitMeter: Equatable, Sendable {
    let limits: PlaylistLimits
    /// The number of dropped units by limit.
    private(set) var dropped: [PlaylistLimit: Int] = [:]
    /// Lines and attributes read, values substituted, keys compared and elements moved: the work of a parser, whose cost
    /// per step is bounded by the length of a line.
    private(set) var steps = 0

    init(_ limits: PlaylistLimits) { self.limits = limits }

    mutating func drop(_ limit: PlaylistLimit, count: Int = 1) { dropped[limit, default: 0] += count }

    mutating func step(_ count: Int = 1) { steps += count }

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
