/// A large value behind one pointer: what contains it is copied as a pointer is, and so is the code that copies it.
///
/// The value itself is copied when it is changed while it has another owner.
@propertyWrapper
package struct Boxed<Value> {
    /// One element: an array is the storage of the standard library that is copied on writing.
    @usableFromInline package var storage: [Value]

    @inlinable
    package init(wrappedValue: Value) { storage = [wrappedValue] }

    // Inlined, because a client that does not see the storage copies the value to read from it.
    @inlinable
    package var wrappedValue: Value {
        @inline(__always)
        _read { yield storage[0] }
        @inline(__always)
        _modify { yield &storage[0] }
    }
}

extension Boxed: Sendable where Value: Sendable {}
