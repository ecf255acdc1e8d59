package import Support

extension RelayError {
    /// - Parameter list: the account's location without its secrets.
    package init(_ refusal: XtreamRefusal, list: String) {
        let status = refusal.status ?? "the user name or the password is not known"
        let expiry = refusal.expiry.map { " since \($0)" } ?? ""
        let message = refusal.message.map { ": \($0.quoted)" } ?? ""
        self.init(
            .upstreamUnavailable, "The account of \(list) is refused: \(status)\(expiry)\(message)",
            advice: "Ask the provider, or check the user name and the password")
    }
}
