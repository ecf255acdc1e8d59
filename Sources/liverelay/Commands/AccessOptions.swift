import ArgumentParser
import ChannelList
import HTTP
import Support
import WebServer

/// Options about who may watch.
struct AccessOptions: ParsableArguments {
    @Option(
        name: .customLong("token"),
        help: ArgumentHelp(
            .token,
            discussion: """
                Requests carry it as Authorization: Bearer TOKEN, or as ?token=TOKEN, which the URLs in playlists and \
                lists then carry too. /healthz and /readyz need none. Other users of this machine see the options of its \
                processes: prefer --token-file.
                """, valueName: "token"), transform: Self.token)
    var tokens: [AccessToken] = []

    @Option(
        help: ArgumentHelp(
            "File with such tokens, one a line, which not everybody may read. SIGHUP reads it again.",
            valueName: "file"), completion: .file())
    var tokenFile: String?

    @Option(
        help: ArgumentHelp(
            "Certificate chain in PEM, for https and HTTP/2. SIGHUP reads it again.",
            discussion: "Needs a build with the trait TLS.", valueName: "file"), completion: .file())
    var tlsCert: String?

    @Option(help: ArgumentHelp("The private key of the certificate in PEM.", valueName: "file"), completion: .file())
    var tlsKey: String?

    func validate() throws {
        for (option, path) in [("--token-file", tokenFile), ("--tls-cert", tlsCert), ("--tls-key", tlsKey)]
        where path == "" {
            throw ValidationError("\(option) has to name a file.")
        }
        guard tlsCert != nil || tlsKey != nil else { return }
        guard ServerCredentials.hasTLS else {
            throw ValidationError(
                "This liverelay is built without TLS. Build it with: swift build -c release --traits TLS")
        }
        guard tlsCert != nil, tlsKey != nil else { throw ValidationError("--tls-cert and --tls-key need each other.") }
    }

    var isSecure: Bool { tlsCert != nil }

    func credentials() throws(RelayError) -> ServerCredentials {
        try ServerCredentials(
            tokens: tokens, tokenFile: tokenFile,
            certificate: tlsCert.flatMap { certificate in
                tlsKey.map { TLSFiles(certificate: certificate, key: $0) }
            })
    }

    private static func token(_ text: String) throws -> AccessToken {
        guard let token = AccessToken(text) else {
            throw ValidationError("A token is \(AccessToken.description).")
        }
        return token
    }

    /// Reads the token of `--api-token`, or the file that contains it: `@FILE`.
    static func apiToken(_ text: String) throws -> AccessToken {
        guard text.hasPrefix("@") else { return try token(text) }
        let tokens: [AccessToken]
        do throws(RelayError) { tokens = try AccessToken.read(fileAt: String(text.dropFirst())) } catch {
            throw ValidationError(error.line)
        }
        guard tokens.count == 1 else { throw ValidationError("The file of --api-token has more than one token.") }
        return tokens[0]
    }
}
