import Synchronization

/// Counts the elements that are read or copied, for tests of what a parse or a publish costs. Release builds count
/// nothing.
package final class StepCounter: Sendable {
    #if DEBUG
        @TaskLocal package static var current: StepCounter?
    #endif

    private let count = Atomic(0)

    package init() {}

    package var steps: Int { count.load(ordering: .relaxed) }

    package static func add(_ steps: Int) {
        #if DEBUG
            current?.count.add(steps, ordering: .relaxed)
        #endif
    }
}
