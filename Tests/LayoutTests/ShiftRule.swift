/// Refuses `a / b << c`, which Swift reads as `a / (b << c)` where C reads `(a / b) << c`.
enum ShiftRule {
    private static let products: Set = ["*", "/", "%", "&*"]
    private static let shifts: Set = ["<<", ">>", "&<<", "&>>"]

    static func findings(in file: SourceFile) -> [String] {
        let lines = file.text.split(separator: "\n", omittingEmptySubsequences: false)
        return lines.indices.compactMap { index in
            let words = lines[index].prefix { $0 != "\"" }.split(separator: " ").map(String.init)
            guard words.first?.hasPrefix("//") != true else { return nil }
            let isMixed = words.indices.dropFirst(3).contains { place in
                shifts.contains(words[place]) && products.contains(words[place - 2])
                    && words[place - 1].allSatisfy { $0.isLetter || $0.isNumber || $0 == "." || $0 == "_" }
            }
            return isMixed
                ? file.finding(index + 1, "a shift binds before / and *: say which is meant with brackets") : nil
        }
    }
}
