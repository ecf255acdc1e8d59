package import Support

/// A header of every request of a channel. Its value may be a token that no log shows.
package struct RequestHeader: Hashable, Sendable {
    package let name: String
    package let value: Secret

    package init(name: String, value: Secret) {
        self.name = name
        self.value = value
    }
}
