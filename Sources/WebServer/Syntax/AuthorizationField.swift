import Playlist
package import Support

/// The `Authorization` field (RFC 9110 §11.6.2).
package enum AuthorizationField {
    /// The token of a Bearer credential (RFC 6750 §2.1); nil for another scheme, and without a field.
    package static func bearerToken(_ field: String?) -> Secret? {
        guard let field, let space = field.firstIndex(of: " "), field[..<space].lowercased() == "bearer" else {
            return nil
        }
        return Secret(String(field[field.index(after: space)...].trimmingBlanks))
    }
}
