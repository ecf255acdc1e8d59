package import HTTP
package import Logging
package import Support

/// The tokens and the certificate of a server, which SIGHUP reloads.
package struct ServerCredentials: Sendable {
    /// Whether this program was built with TLS.
    package static var hasTLS: Bool {
        #if TLS
            true
        #else
            false
        #endif
    }

    package let viewers: ServerTokens
    /// nil: the connections are plain.
    package let security: (any ConnectionSecurity)?
    private let tokens: [AccessToken]
    private let tokenFile: String?

    package init(tokens: [AccessToken], tokenFile: String?, certificate: TLSFiles?) throws(RelayError) {
        self.tokens = tokens
        self.tokenFile = tokenFile
        viewers = ServerTokens(tokens + (try tokenFile.map(AccessToken.read(fileAt:)) ?? []))
        #if TLS
            security = try certificate.map { files throws(RelayError) in try TLSSecurity(files) }
        #else
            security = nil
        #endif
    }

    /// Whether a reload would read any file.
    package var areInFiles: Bool { tokenFile != nil || security != nil }

    /// Reads the files again. If a file cannot be used, its previous content stays in use.
    package func reload(logger: Logger) {
        if let tokenFile {
            perform("tokens", logger) { () throws(RelayError) in
                let read = tokens + (try AccessToken.read(fileAt: tokenFile))
                viewers.replace(read)
                return "count=\(read.count)"
            }
        }
        if let security {
            perform("certificate", logger) { () throws(RelayError) in try security.renew() }
        }
    }

    private func perform(_ what: String, _ logger: Logger, _ read: () throws(RelayError) -> String) {
        do throws(RelayError) {
            let summary = try read()
            logger.info("Read again: \(what) \(summary)")
        } catch {
            logger.warning("The \(what) stay as before: \(error.line)")
        }
    }
}

/// The files of a certificate and its key, in PEM.
package struct TLSFiles: Equatable, Sendable {
    let certificate: String
    let key: String

    package init(certificate: String, key: String) {
        self.certificate = certificate
        self.key = key
    }
}
