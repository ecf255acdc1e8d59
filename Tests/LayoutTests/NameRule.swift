/// No type bears a module's name: what lies in that module could then no longer be named in full. No two types of the
/// package share a name.
enum NameRule {
    private static let kinds = ["struct", "class", "enum", "actor", "protocol", "typealias"]

    static func findings(in file: SourceFile) -> [String] {
        types(in: file).filter { ImportRule.modules.contains($0.name) }.map {
            file.finding($0.line, "\($0.kind) \($0.name) bears its module's name")
        }
    }

    /// Types of the files with the name of a type of another file. Those that only one file sees do not count.
    static func sharedNames(in files: [SourceFile]) -> [String] {
        let types = files.flatMap { file in
            Self.types(in: file).filter { !$0.isPrivate }.map { (name: $0.name, place: "\(file.path):\($0.line)") }
        }
        return Dictionary(grouping: types, by: \.name).values.filter { $0.count > 1 }
            .map { "\($0[0].name) is at \($0.map(\.place).sorted().joined(separator: " and "))" }.sorted()
    }

    /// The types at the top level of a file of Sources. A nested type is named within its own scope only.
    private static func types(in file: SourceFile) -> [(kind: String, name: String, line: Int, isPrivate: Bool)] {
        guard file.module != nil else { return [] }
        var depth = 0
        return file.tokens.indices.dropLast().compactMap { index in
            let (kind, name) = (file.tokens[index], file.tokens[index + 1].text)
            if kind.text == "{" { depth += 1 }
            if kind.text == "}" { depth -= 1 }
            // `import struct LiveRing.RingEntry` names the module.
            let before = index > 0 ? file.tokens[index - 1].text : ""
            guard depth == 0, kinds.contains(kind.text), before != "import" else { return nil }
            let modifiers = file.tokens[max(0, index - 2)..<index].map(\.text)
            return (kind.text, name, kind.line, modifiers.contains { $0 == "private" || $0 == "fileprivate" })
        }
    }
}
