/// A mistake in a configuration. A configuration with any mistake is refused as a whole.
package struct ConfigurationIssue: Error, Equatable, Sendable {
    package enum Kind: Equatable, Sendable {
        case syntax(String)
        case repeatedKey(String)
        /// - Parameter nearest: the key that was probably meant.
        case unknownKey(String, nearest: String?)
        /// A key of a channel, of `defaults` or of a source in another map.
        case misplacedKey(ConfigurationKey)
        case missingKey(String)
        case noValue
        /// - Parameters:
        ///   - value: as written, without the expansion of variables; nil if it may be a secret, or is not a scalar.
        ///   - expected: a noun with its article, and examples.
        case badValue(String?, expected: String)
        case missingVariable(String)
        case unclosedVariable
        /// A header that cannot be sent, or that only the client itself may set.
        case malformedHeader(String)
        case repeatedName(slug: String, firstLine: Int?)
        case reservedName(String)
        /// The key can be given in a file only, not in a request, and not in a configuration from a URL.
        case onlyInFile(String)
        case tooMany(String, limit: Int)
        case nothingListed
        case unknownAccount(String)
    }

    let kind: Kind
    /// nil for a JSON value.
    package let position: ConfigurationNode.Position?
    /// The keys, and the indexes of lists, that lead to the value.
    package let path: [String]

    package init(_ kind: Kind, at position: ConfigurationNode.Position? = nil, path: [String] = []) {
        self.kind = kind
        self.position = position
        self.path = path
    }

    /// `12:7: channels.news.idle: …`; without the position or path if it is unknown.
    package var text: String {
        let place = position.map { "\($0.line):\($0.column): " } ?? ""
        return place + (path.isEmpty ? "" : path.joined(separator: ".") + ": ") + reason
    }

    /// What a bad value should have been; nil for other mistakes.
    package var expectation: String? { if case .badValue(_, let expected) = kind { expected } else { nil } }

    /// The mistake without its position and path.
    package var reason: String {
        switch kind {
        case .syntax(let problem): "the YAML cannot be read: \(problem)"
        case .repeatedKey(let key): "the YAML cannot be read: the key “\(key)” is there more than once"
        case .unknownKey(let key, let nearest):
            "there is no key “\(key)”" + (nearest.map { "; did you mean “\($0)”?" } ?? "")
        case .misplacedKey(let key): "“\(key.rawValue)” belongs to \(key.place)"
        case .missingKey(let key): "the key “\(key)” is missing"
        case .noValue: "the key has no value"
        case .badValue(let value?, let expected): "“\(value)” is not \(expected)"
        case .badValue(nil, let expected): "the value is not \(expected)"
        case .missingVariable(let name): "the environment has no variable \(name)"
        case .unclosedVariable: "“${” without a name and “}”; a literal “${” is written “$${”"
        case .malformedHeader(let name): "the header “\(name)” cannot be sent"
        case .repeatedName(let slug, let line):
            "another channel is /\(slug) already" + (line.map { ", in line \($0)" } ?? "")
        case .reservedName(let slug): "/\(slug) is a path of the server"
        case .onlyInFile(let key): "“\(key)” can be given in a configuration file on this machine only"
        case .tooMany(let things, let limit): "there are more than \(limit) \(things)"
        case .nothingListed: "neither “channels” nor “playlist” lists a channel"
        case .unknownAccount(let name): "“\(name)” is not an account of “accounts” or “xtream”"
        }
    }
}

/// The first mistakes of a configuration, in their order.
package struct ConfigurationError: Error, Equatable, Sendable {
    /// At least one.
    package let issues: [ConfigurationIssue]
    /// The total number of mistakes, including those that are not in `issues`.
    package let count: Int

    package init(issues: [ConfigurationIssue], count: Int? = nil) {
        self.issues = issues
        self.count = count ?? issues.count
    }

    /// Whether the only mistake is a reference to an unknown account.
    package var isUnknownAccount: Bool {
        guard count == 1, case .unknownAccount = issues.first?.kind else { return false }
        return true
    }
}
