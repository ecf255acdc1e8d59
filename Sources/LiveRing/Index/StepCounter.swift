import Synchronization

/// Counts the elements that are read or copied, for tests of what a publish costs. Release builds count nothing.
final class StepCounter: Sendable {
    #if DEBUG
        @TaskLocal static var current: StepCounter?
    #endif

    private let count = Atomic(0)

    var steps: Int { count.load(ordering: .relaxed) }

    static func add(_ steps: Int) {
        #if DEBUG
            current?.count.add(steps, ordering: .relaxed)
        #endif
    }
}
