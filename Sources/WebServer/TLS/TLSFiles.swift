/// The files of a certificate and its key, in PEM.
package struct TLSFiles: Equatable, Sendable {
    let certificate: String
    let key: String

    package init(certificate: String, key: String) {
        self.certificate = certificate
        self.key = key
    }
}
