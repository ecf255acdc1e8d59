/// A value of a configuration, from YAML or JSON.
package struct ConfigurationNode: Equatable, Sendable {
    /// Where a value stands in its text; both 1-based, columns in Unicode scalars.
    package struct Position: Equatable, Sendable {
        package let line: Int
        package let column: Int
    }

    /// The type of a scalar in its notation. A plain one of YAML may be text, a number or a Boolean.
    package enum ScalarKind: Equatable, Sendable { case plain, text, number, boolean }

    package struct Entry: Equatable, Sendable {
        package let key: String
        let position: Position?
        package let value: ConfigurationNode

        package init(key: String, position: Position? = nil, value: ConfigurationNode) {
            self.key = key
            self.position = position
            self.value = value
        }
    }

    package enum Content: Equatable, Sendable {
        case nothing
        case scalar(String, ScalarKind)
        case list([ConfigurationNode])
        /// Keys are unique.
        case map([Entry])
    }

    package let content: Content
    /// nil for a value of JSON.
    let position: Position?

    package init(_ content: Content, position: Position? = nil) {
        self.content = content
        self.position = position
    }
}
