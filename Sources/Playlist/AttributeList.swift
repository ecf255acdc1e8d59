/// An attribute list (RFC 8216 §4.2) in the order in which it was written.
package struct AttributeList: Hashable, Sendable {
    package struct Attribute: Hashable, Sendable {
        package var name: String
        /// Without the quotes.
        package var value: String
        package var isQuoted: Bool

        package init(name: String, value: String, isQuoted: Bool) {
            self.name = name
            self.value = value
            self.isQuoted = isQuoted
        }
    }

    package var attributes: [Attribute]

    package init(_ attributes: [Attribute] = []) { self.attributes = attributes }

    /// The first attribute of that name.
    package subscript(name: String) -> String? { attributes.first { $0.name == name }?.value }
}
