package import Support

extension RelayError {
    package init(_ error: HTTPServerError) {
        let message =
            switch error {
            case .addressInUse(let host, let port): "\(host):\(port) is in use by another program"
            case .addressNotAvailable(let host, _): "No interface of this machine has the address \(host)"
            case .permissionDenied(let host, let port):
                "Listening on \(host):\(port) needs a privilege that this process lacks"
            case .unknownHost(let host): "\(host.quoted) is no address to listen on"
            case .cannotListen(let host, let port, let code): "Cannot listen on \(host):\(port) (errno \(code))"
            }
        self.init(
            .cannotListen, message, advice: "Choose another --port (0 lets the system choose) or --listen")
    }
}
