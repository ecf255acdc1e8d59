package import Support

/// The key with which requests to a store are signed.
package struct StoreCredentials: Equatable, Sendable {
    let keyID: String
    let secretKey: Secret
    /// The session token of temporary keys.
    let sessionToken: Secret?

    package init(keyID: String, secretKey: Secret, sessionToken: Secret? = nil) {
        (self.keyID, self.secretKey, self.sessionToken) = (keyID, secretKey, sessionToken)
    }

    /// The names of the environment's variables, and in lowercase of the lines of a credentials file.
    private static let names = (key: "AWS_ACCESS_KEY_ID", secret: "AWS_SECRET_ACCESS_KEY", token: "AWS_SESSION_TOKEN")
    /// The variable with the path of a credentials file, whose key is used if the environment contains none.
    package static let fileVariable = "AWS_SHARED_CREDENTIALS_FILE"

    /// nil if the environment contains no key.
    package init?(environment: [String: String]) {
        guard let key = environment[Self.names.key], let secret = environment[Self.names.secret], !key.isEmpty,
            !secret.isEmpty
        else { return nil }
        let token = environment[Self.names.token].flatMap { $0.isEmpty ? nil : Secret($0) }
        self.init(keyID: key, secretKey: Secret(secret), sessionToken: token)
    }

    /// Reads the section `default` of a credentials file; nil if the section contains no key.
    package init?(file text: String) {
        var values: [String: String] = [:]
        var isDefault = true
        for line in text.split(whereSeparator: \.isNewline).map(\.trimmingBlanks) {
            if line.hasPrefix("[") {
                isDefault = line == "[default]"
            } else if isDefault, let equals = line.firstIndex(of: "="), !line.hasPrefix("#") {
                let name = line[..<equals].trimmingBlanks.uppercased()
                values[name] = String(line[line.index(after: equals)...].trimmingBlanks)
            }
        }
        self.init(environment: values)
    }
}
