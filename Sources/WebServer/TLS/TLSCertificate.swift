import HTTP
import Support

#if TLS
    import Foundation
    import Glibc
    import NIOCore
    import NIOSSL

    /// A certificate with its key, as they were when they were last read.
    struct TLSCertificate: Sendable {
        /// For connections that are served: with HTTP/2.
        let serving: NIOSSLContext
        /// For connections that get a refusal.
        let refusing: NIOSSLContext
        private let notAfter: time_t

        /// The largest file, in bytes.
        private static let fileLimit = 1 << 20

        init(_ files: TLSFiles) throws(RelayError) {
            let chain = try Self.chain(files.certificate)
            let key = try Self.key(files.key)
            notAfter = chain[0].notValidAfter
            try Self.check(chain[0], files.certificate)
            do {
                serving = try Self.context(chain, key, protocols: ["h2", "http/1.1"])
                refusing = try Self.context(chain, key, protocols: ["http/1.1"])
            } catch {
                throw RelayError(
                    .badCredentials, "The key \(files.key) does not belong to the certificate \(files.certificate)",
                    advice: "Give the two files that were made together")
            }
        }

        var summary: String { "valid until \(Self.date(notAfter))" }

        private static func chain(_ path: String) throws(RelayError) -> [NIOSSLCertificate] {
            let bytes = try bytes(of: "certificate", path)
            guard let chain = try? NIOSSLCertificate.fromPEMBytes(bytes), !chain.isEmpty else {
                throw error("certificate", path, "is no certificate in PEM", "Give the chain, the server's first")
            }
            return chain
        }

        private static func key(_ path: String) throws(RelayError) -> NIOSSLPrivateKey {
            let bytes = try bytes(of: "key", path)
            guard let key = try? NIOSSLPrivateKey(bytes: bytes, format: .pem) else {
                throw error("key", path, "is no private key in PEM without a passphrase", "Give the certificate's key")
            }
            return key
        }

        private static func check(_ certificate: NIOSSLCertificate, _ path: String) throws(RelayError) {
            let now = time(nil)
            if certificate.notValidAfter < now {
                throw error(
                    "certificate", path, "has expired at \(date(certificate.notValidAfter))", "Renew it")
            }
            if certificate.notValidBefore > now {
                throw error(
                    "certificate", path, "is not valid before \(date(certificate.notValidBefore))", "Check the clock")
            }
        }

        private static func context(
            _ chain: [NIOSSLCertificate], _ key: NIOSSLPrivateKey, protocols: [String]
        ) throws -> NIOSSLContext {
            var configuration = TLSConfiguration.makeServerConfiguration(
                certificateChain: chain.map { .certificate($0) }, privateKey: .privateKey(key))
            configuration.minimumTLSVersion = .tlsv12
            configuration.applicationProtocols = protocols
            // The process must end within two seconds, whether its clients answer or not.
            configuration.shutdownTimeout = .milliseconds(300)
            return try NIOSSLContext(configuration: configuration)
        }

        private static func bytes(of what: String, _ path: String) throws(RelayError) -> [UInt8] {
            do {
                let file = try FileHandle(forReadingFrom: URL(filePath: path))
                return Array(try file.read(upToCount: fileLimit) ?? Data())
            } catch {
                let code = ((error as? CocoaError)?.underlying as? POSIXError)?.code.rawValue ?? errno
                throw Self.error(
                    what, path, "cannot be read: \(unsafe String(cString: strerror(code)))",
                    "Check its name and permissions")
            }
        }

        private static func error(_ what: String, _ path: String, _ fault: String, _ advice: String) -> RelayError {
            RelayError(.badCredentials, "The \(what) \(path) \(fault)", advice: advice)
        }

        private static func date(_ seconds: time_t) -> String {
            Date(timeIntervalSince1970: TimeInterval(seconds)).formatted(.iso8601)
        }
    }
#endif
