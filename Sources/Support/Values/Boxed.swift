/// A large value behind one pointer: what contains it is copied as a pointer is, and so is the code that copies it.
///
/// The value itself is copied when it is changed while it has another owner, and never to be read.
@propertyWrapper
package struct Boxed<Value> {
    @usableFromInline var storage: Storage

    /// A class, because to read an element of an array copies the element.
    @usableFromInline
    final class Storage {
        @usableFromInline var value: Value

        @inlinable
        init(_ value: Value) { self.value = value }
    }

    @inlinable
    package init(wrappedValue: Value) { storage = Storage(wrappedValue) }

    @inlinable
    package var wrappedValue: Value {
        @inline(__always)
        _read { yield storage.value }
        @inline(__always)
        _modify {
            if !isKnownUniquelyReferenced(&storage) { storage = Storage(storage.value) }
            yield &storage.value
        }
    }
}

extension Boxed: Sendable where Value: Sendable {}

// Nobody changes the value of a storage that has two owners.
extension Boxed.Storage: @unchecked Sendable where Value: Sendable {}
