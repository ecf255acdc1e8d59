/// Finds folders of one module that refer to each other in a circle. Between modules the compiler refuses circles.
struct FolderRule {
    private static let kinds: Set = ["struct", "class", "enum", "actor", "protocol", "typealias"]

    /// The folder that declares each type at the top level of a file, for names that are declared once.
    private let homes: [String: String]
    /// An example for each arrow: the file and the type that it names.
    private var arrows: [String: [String: String]] = [:]

    init(files: [SourceFile]) {
        let sources = files.filter { $0.module != nil && $0.path.hasSuffix(".swift") }
        var declared: [String: Set<String>] = [:]
        for file in sources {
            for name in Self.types(in: file, nested: false) {
                declared[name, default: []].insert(Self.folder(of: file))
            }
        }
        homes = declared.compactMapValues { $0.count == 1 ? $0.first : nil }
        for file in sources { addArrows(from: file) }
    }

    private mutating func addArrows(from file: SourceFile) {
        let folder = Self.folder(of: file)
        let own = Set(Self.types(in: file, nested: true))
        for token in file.tokens where !own.contains(token.text) {
            guard let home = homes[token.text], home != folder, Self.module(home) == Self.module(folder) else {
                continue
            }
            arrows[folder, default: [:]][home] = "\(file.path):\(token.line) names \(token.text)"
        }
    }

    /// Each arrow that is part of a circle, with an example.
    var findings: [String] {
        arrows.keys.sorted().flatMap { folder in
            arrows[folder, default: [:]].sorted { $0.key < $1.key }
                .filter { reaches(folder, from: $0.key) }
                .map { "\(folder) → \($0.key): \($0.value)" }
        }
    }

    private func reaches(_ goal: String, from start: String) -> Bool {
        var seen: Set = [start]
        var pending = [start]
        while let folder = pending.popLast() {
            if folder == goal { return true }
            for next in arrows[folder, default: [:]].keys where seen.insert(next).inserted { pending.append(next) }
        }
        return false
    }

    private static func types(in file: SourceFile, nested: Bool) -> [String] {
        var depth = 0
        return file.tokens.indices.dropLast().compactMap { index in
            let text = file.tokens[index].text
            if text == "{" { depth += 1 }
            if text == "}" { depth -= 1 }
            guard kinds.contains(text), nested ? depth > 0 : depth == 0 else { return nil }
            guard index == 0 || file.tokens[index - 1].text != "import" else { return nil }
            return file.tokens[index + 1].text
        }
    }

    private static func folder(of file: SourceFile) -> String {
        file.path.split(separator: "/").dropLast().joined(separator: "/")
    }

    private static func module(_ folder: String) -> Substring { folder.split(separator: "/")[1] }
}
