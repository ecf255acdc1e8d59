/// No type bears a module's name: what lies in that module could then no longer be named in full.
enum NameRule {
    private static let kinds = ["struct", "class", "enum", "actor", "protocol", "typealias"]

    static func findings(in file: SourceFile) -> [String] {
        guard file.module != nil else { return [] }
        var depth = 0
        return file.tokens.indices.dropLast().compactMap { index in
            let (kind, name) = (file.tokens[index], file.tokens[index + 1].text)
            if kind.text == "{" { depth += 1 }
            if kind.text == "}" { depth -= 1 }
            // A nested type hides the module inside of its own scope only.
            guard depth == 0, kinds.contains(kind.text), ImportRule.modules.contains(name) else { return nil }
            // `import struct LiveRing.RingEntry` names the module.
            guard index == 0 || file.tokens[index - 1].text != "import" else { return nil }
            return file.finding(kind.line, "\(kind.text) \(name) bears its module's name")
        }
    }
}
