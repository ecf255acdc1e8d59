import Support

/// A collection whose copies share their elements.
///
/// It is a radix tree. Changing a vector that has copies copies one path of the tree, so the cost grows only with the
/// height of the tree. Elements are appended at the end, and removed at both ends. The index of an element never
/// changes.
package struct PersistentVector<Element: Sendable>: Sendable {
    private var root = VectorNode<Element>()
    /// The number of levels above the leaves.
    private var height = 0
    package private(set) var startIndex = 0
    package private(set) var endIndex = 0

    package init() {}

    package mutating func append(_ element: Element) {
        if endIndex >> (VectorNode<Element>.bits * (height + 1)) > 0 {
            root = VectorNode(children: [root])
            height += 1
        }
        root.append(element, at: endIndex, level: height)
        endIndex += 1
    }

    package mutating func removeFirst(_ count: Int = 1) {
        precondition(0...self.count ~= count)
        let leaf = startIndex >> VectorNode<Element>.bits
        startIndex += count
        if startIndex >> VectorNode<Element>.bits > leaf { root.release(before: startIndex, level: height) }
    }

    package mutating func removeLast(_ count: Int = 1) {
        precondition(0...self.count ~= count)
        endIndex -= count
    }
}

extension PersistentVector: RandomAccessCollection {
    package typealias Indices = Range<Int>
    package typealias SubSequence = PersistentVector

    package subscript(index: Int) -> Element {
        get {
            precondition(startIndex..<endIndex ~= index)
            return root.element(at: index, level: height)
        }
        set {
            precondition(startIndex..<endIndex ~= index)
            root.set(newValue, at: index, level: height)
        }
    }

    package subscript(bounds: Range<Int>) -> PersistentVector {
        precondition(startIndex <= bounds.lowerBound && bounds.upperBound <= endIndex)
        var slice = self
        (slice.startIndex, slice.endIndex) = (bounds.lowerBound, bounds.upperBound)
        return slice
    }

    package func makeIterator() -> Iterator { Iterator(vector: self, index: startIndex) }

    /// Walks from leaf to leaf.
    package struct Iterator: IteratorProtocol {
        fileprivate let vector: PersistentVector
        fileprivate var index: Int
        private var leaf: [Element] = []

        fileprivate init(vector: PersistentVector, index: Int) {
            (self.vector, self.index) = (vector, index)
        }

        package mutating func next() -> Element? {
            guard index < vector.endIndex else { return nil }
            let position = index & VectorNode<Element>.mask
            if leaf.isEmpty || position == 0 { leaf = vector.root.leaf(at: index, level: vector.height) }
            index += 1
            StepCounter.add(1)
            return leaf[position]
        }
    }
}

extension PersistentVector: Equatable where Element: Equatable {
    package static func == (left: PersistentVector, right: PersistentVector) -> Bool { left.elementsEqual(right) }
}

extension PersistentVector: ExpressibleByArrayLiteral {
    package init(arrayLiteral elements: Element...) {
        for element in elements { append(element) }
    }
}

/// A branch or a leaf of the tree of a `PersistentVector`. `level` is the number of levels below a node.
private struct VectorNode<Element: Sendable>: Sendable {
    /// The logarithm of the number of children of a branch, and of elements of a leaf.
    static var bits: Int { 5 }
    static var mask: Int { 1 << bits - 1 }

    var children: [VectorNode] = []
    var elements: [Element] = []

    private static func position(of index: Int, level: Int) -> Int { (index >> (bits * level)) & mask }

    mutating func append(_ element: Element, at index: Int, level: Int) {
        StepCounter.add(1 + Self.mask)
        let position = Self.position(of: index, level: level)
        guard level > 0 else {
            // A vector of which this one was a slice may have had further elements.
            elements.removeLast(max(0, elements.count - position))
            elements.append(element)
            return
        }
        while children.count <= position { children.append(VectorNode()) }
        children[position].append(element, at: index, level: level - 1)
    }

    mutating func set(_ element: Element, at index: Int, level: Int) {
        StepCounter.add(1 + Self.mask)
        let position = Self.position(of: index, level: level)
        guard level > 0 else {
            elements[position] = element
            return
        }
        children[position].set(element, at: index, level: level - 1)
    }

    func element(at index: Int, level: Int) -> Element {
        StepCounter.add(1)
        let position = Self.position(of: index, level: level)
        return level > 0 ? children[position].element(at: index, level: level - 1) : elements[position]
    }

    func leaf(at index: Int, level: Int) -> [Element] {
        level > 0 ? children[Self.position(of: index, level: level)].leaf(at: index, level: level - 1) : elements
    }

    /// Releases the nodes whose elements are all before `index`.
    mutating func release(before index: Int, level: Int) {
        let position = Self.position(of: index, level: level)
        guard level > 0, position < children.count else { return }
        StepCounter.add(1 + Self.mask)
        for earlier in 0..<position where !children[earlier].isEmpty { children[earlier] = VectorNode() }
        children[position].release(before: index, level: level - 1)
    }

    private var isEmpty: Bool { children.isEmpty && elements.isEmpty }
}
