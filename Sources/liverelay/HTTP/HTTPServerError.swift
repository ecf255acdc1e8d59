/// Why the server does not listen.
enum HTTPServerError: Error, Equatable {
    /// Text that is no `host:port`.
    case badListenAddress(String)
    /// Another process listens there (EADDRINUSE).
    case addressInUse(host: String, port: Int)
    /// No interface of this machine has the address (EADDRNOTAVAIL).
    case addressNotAvailable(host: String, port: Int)
    /// The port needs a privilege that the process lacks (EACCES).
    case permissionDenied(host: String, port: Int)
    /// The name does not resolve.
    case unknownHost(String)
    /// Any other failure of socket, bind or listen; `errno` of the call that failed, 0 if it gave none.
    case cannotListen(host: String, port: Int, errno: Int32)
}

/// Where to listen: `--listen`.
struct ListenAddress: Equatable, Sendable {
    /// An IP address, without brackets if IPv6, or a name that resolves to one.
    let host: String
    /// 0...65535; 0 lets the system choose.
    let port: Int

    init(host: String, port: Int) {
        self.host = host
        self.port = port
    }

    /// `127.0.0.1:8080`, `[::1]:8080`, `localhost:0`; with the host left out (`:8080`), every interface.
    init(_ text: String) throws(HTTPServerError) {
        guard let colon = text.lastIndex(of: ":"), let port = UInt16(text[text.index(after: colon)...]) else {
            throw .badListenAddress(text)
        }
        let host = text[..<colon]
        let isBracketed = host.hasPrefix("[") && host.hasSuffix("]")
        guard isBracketed || !host.contains(":") else { throw .badListenAddress(text) }
        let name = isBracketed ? host.dropFirst().dropLast() : host
        self.init(host: name.isEmpty ? "0.0.0.0" : String(name), port: Int(port))
    }
}
