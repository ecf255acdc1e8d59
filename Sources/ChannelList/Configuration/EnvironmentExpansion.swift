/// Replaces `${NAME}` by the value of an environment variable. `$${` stands for `${`; any other `$` for itself.
enum EnvironmentExpansion {
    static func expand(
        _ text: String, environment: [String: String]
    ) throws(ConfigurationIssue) -> String {
        guard text.contains("${") else { return text }
        var (result, rest) = ("", text[...])
        while let start = rest.firstRange(of: "${") {
            if rest[..<start.lowerBound].last == "$" {
                result += rest[..<start.lowerBound].dropLast() + "${"
                rest = rest[start.upperBound...]
                continue
            }
            let end = rest[start.upperBound...].firstIndex(of: "}")
            guard let end, case let name = String(rest[start.upperBound..<end]), isName(name) else {
                throw ConfigurationIssue(.unclosedVariable)
            }
            guard let value = environment[name] else { throw ConfigurationIssue(.missingVariable(name)) }
            result += rest[..<start.lowerBound] + value
            rest = rest[rest.index(after: end)...]
        }
        return result + rest
    }

    private static func isName(_ text: String) -> Bool {
        guard let first = text.first, first == "_" || first.isLetter else { return false }
        return text.allSatisfy { $0.isASCII && ($0 == "_" || $0.isLetter || $0.isNumber) }
    }
}
