import ArgumentParser
import Foundation

/// Options for `/api/`.
struct APIOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Secret that opens /api/, sent as Authorization: Bearer TOKEN.",
            discussion: "LIVERELAY_API_TOKEN in the environment is the same, and no other user of the machine sees it.",
            valueName: "token"))
    var apiToken: String?

    /// nil: the API is closed.
    var token: APIToken? { text.flatMap { APIToken($0) } }

    private var text: String? { apiToken ?? ProcessInfo.processInfo.environment["LIVERELAY_API_TOKEN"] }

    func validate() throws {
        if text != nil, token == nil {
            throw ValidationError("--api-token has to be visible ASCII characters without spaces.")
        }
    }
}
