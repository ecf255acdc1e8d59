/// A segment, an init section or a subtitle file in the spool. The bytes of a name never change.
package struct SpoolFile: Hashable, Sendable {
    package let name: String
    package let byteCount: Int

    package init(name: String, byteCount: Int) {
        self.name = name
        self.byteCount = byteCount
    }
}
