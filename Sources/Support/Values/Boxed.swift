/// A large value behind one pointer: copying a value that contains it copies only the pointer, in few instructions.
///
/// Changing the value copies it if it has another owner.
// Inlinable functions of types that are not usable from inlined code stay in their module.
@propertyWrapper
@usableFromInline
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
