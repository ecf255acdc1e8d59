/// The files of a certificate and its key, in PEM.
package struct TLSFiles: Equatable, Sendable {
    let certificate: String
    let key: String
}
