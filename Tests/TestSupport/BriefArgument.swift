import Testing

/// An argument of a test with a short description: a failure prints its arguments, and some have a megabyte.
package struct BriefArgument<Value: Sendable>: Sendable, CustomTestStringConvertible {
    package let name: String
    package let value: Value

    package init(_ name: String, _ value: Value) { (self.name, self.value) = (name, value) }

    package var testDescription: String { name }
}
