/// A queue whose first element is removed in constant time, and released at once.
struct Queue<Element> {
    /// The removed elements are nil; `head` is the index of the first one that is queued.
    private var storage: [Element?] = []
    private var head = 0

    var isEmpty: Bool { head == storage.count }
    var count: Int { storage.count - head }
    var first: Element? { isEmpty ? nil : storage[head] }
    var elements: some Sequence<Element> { storage[head...].lazy.compactMap(\.self) }

    mutating func append(_ element: Element) { storage.append(element) }

    mutating func replaceFirst(with element: Element) { storage[head] = element }

    mutating func popFirst() -> Element? {
        guard !isEmpty else { return nil }
        let element = storage[head]
        storage[head] = nil
        head += 1
        if head * 2 > storage.count {
            storage.removeFirst(head)
            head = 0
        }
        return element
    }
}

extension Queue: Sendable where Element: Sendable {}
