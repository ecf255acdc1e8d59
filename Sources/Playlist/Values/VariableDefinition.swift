/// A variable that EXT-X-DEFINE defines, with its resolved value (draft-pantos-hls-rfc8216bis §4.4.2.3).
package struct VariableDefinition: Hashable, Sendable {
    package var name: String
    package var value: String

    package init(name: String, value: String) {
        self.name = name
        self.value = value
    }
}
