import Glibc
import NIOCore

/// Why the server cannot listen.
package enum HTTPServerError: Error, Equatable {
    /// Another process listens there (EADDRINUSE).
    case addressInUse(host: String, port: Int)
    /// No interface of this machine has the address (EADDRNOTAVAIL).
    case addressNotAvailable(host: String, port: Int)
    /// The port needs a privilege that the process lacks (EACCES).
    case permissionDenied(host: String, port: Int)
    /// The name does not resolve.
    case unknownHost(String)
    /// Any other failure of socket, bind or listen; `errno` of the failed call, 0 if it has none.
    case cannotListen(host: String, port: Int, errno: Int32)
}

/// The reason to close a new connection at once.
struct TooManyConnections: Error {}

extension HTTPServerError {
    /// The meaning of NIO's error while binding to `address`.
    package init(_ error: any Error, at address: ListenAddress) {
        let (host, port) = (address.host, address.port)
        switch (error, (error as? IOError)?.errnoCode) {
        case (is SocketAddressError.UnknownHost, _): self = .unknownHost(host)
        case (_, EADDRINUSE?): self = .addressInUse(host: host, port: port)
        case (_, EADDRNOTAVAIL?): self = .addressNotAvailable(host: host, port: port)
        case (_, EACCES?): self = .permissionDenied(host: host, port: port)
        case (_, let errno): self = .cannotListen(host: host, port: port, errno: errno ?? 0)
        }
    }
}
