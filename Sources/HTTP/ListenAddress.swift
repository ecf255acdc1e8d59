/// The host and port to listen on: `--listen` and `--port`.
package struct ListenAddress: Equatable, Sendable {
    /// An IP address, without brackets if it is IPv6, or a name that resolves to one.
    package let host: String
    /// 0...65535; 0 lets the system choose.
    package let port: Int

    package init(host: String, port: Int) {
        self.host = host
        self.port = port
    }

    /// `http://127.0.0.1:8080`, with an IPv6 address in brackets.
    /// - Parameter port: the port that the system chose.
    package func baseURL(port: Int, isSecure: Bool = false) -> String {
        "\(isSecure ? "https" : "http")://\(host.contains(":") ? "[\(host)]" : host):\(port)"
    }
}

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
